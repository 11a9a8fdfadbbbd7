"""Credentials in files that have a form of their own: netrc, pgpass, Postfix, Bundler, logins of Docker and npm,
Kubernetes' manifests of kind Secret, hashes of passwords in `/etc/shadow` and htpasswd (crypt(5)), of MySQL and
Windows, the code of a wireless network.
"""

import base64
import binascii
from collections.abc import Iterator

from gateway.detection.normalized_text import View
from gateway.detection.recognizer import EntityType, Example, Match, compile_pattern
from gateway.detection.recognizers._samples import BASE62, HEX, sample
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._locator import LINE, Rule, rule, table

_SIGN = "[A-Za-z0-9./]"
_NETWORK_KEY = r"(?i)\b(?:wlan|wi-?fi|netzwerk|network|wpa2?)(?:[ \-]?(?:netzwerk))?[ \-]?(?:schlüssel|key|passwor[dt])"
_KIND = r"(?im)^[ \t]*[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?secret[\"']?[ \t]*,?\r?$"
_IS_SECRET = compile_pattern(_KIND)
_BLOCK = compile_pattern(
    r"(?m)^([ \t]*)[\"']?(?:data|stringData)[\"']?[ \t]*:[ \t]*\{?[ \t]*\r?\n((?:[ \t]+\S[^\n]*(?:\n|$)|[ \t]*\r?\n)+)"
)
_ENTRY = compile_pattern(
    r"(?m)^([ \t]+)([\w.\-/\"']{1,128}[ \t]*:[ \t]*(?:[|>][+\-]?[ \t]*\r?\n[ \t]+)?[\"']?([^\s\"',#{]{8,})[\"']?)"
)
_DOCUMENT_END = compile_pattern(r"(?m)^---")


def _pair(value: str, _: bool) -> EntityType | None:
    user, _colon, password = value.partition(":")
    return values.PASSWORD if password and not (values.is_stand_in(password) or values.is_stand_in(user)) else None


def _encoded_pair(value: str, quoted: bool) -> EntityType | None:
    pair = _decoded(value + "=" * (-len(value) % 4))
    return _pair(pair, quoted) if pair is not None and pair.isprintable() else None


def _decoded(value: str) -> str | None:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _hash(value: str, _: bool) -> EntityType | None:
    return None if values.is_dummy(value[-24:]) else values.PASSWORD


def _manifests(view: View) -> Iterator[Match]:
    """Each value under `data` and `stringData`, whatever its name."""
    data = view.data
    first = 0
    for last in (*(match.start() for match in _DOCUMENT_END.finditer(data)), len(data)):
        if _IS_SECRET.search(data, first, last):
            for block in _BLOCK.finditer(data[first:last]):
                yield from _entries(view, first + block.start(2), block[1], block[2])
        first = last


def _entries(view: View, offset: int, indent: bytes, block: bytes) -> Iterator[Match]:
    """Whole entries, name and value, down to where the indentation ends."""
    for match in _ENTRY.finditer(block):
        if len(match[1]) <= len(indent):
            return
        value = match[3].decode("utf-8", "replace")
        decoded = _decoded(value)
        if not values.is_stand_in(value) and (
            decoded is None or (len(decoded) >= 6 and not values.is_stand_in(decoded))
        ):
            yield Match(offset + match.start(2), offset + match.end(2), 0.85, values.SECRET.name)


_word = "Tr0ub4dor" + "&3"
_pairs = base64.b64encode(b"jane:" + _word.encode()).decode()
_crypt = "$6$" + sample(16) + "$" + sample(86)
_b64 = base64.b64encode(sample(18, BASE62).encode()).decode()
_manifest = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  extra: "
_gem = "ab12cd34:" + sample(8, HEX)
_bcrypt = "$2y$10$" + sample(53, BASE62)
_windows = sample(32, HEX) + ":" + sample(32, HEX)

_RULES = (
    rule(r"(?m)^[\w.\-*]+:(?:\d{1,5}|\*):[\w\-*]+:[\w\-*]+:", LINE, values.believed),
    rule(r"(?m)^\[[\w\-]+(?:\.[\w\-]+)+\](?::\d+)? [\w.@+\-]+:", LINE, values.believed),
    rule(
        r"\bBUNDLE_[A-Z0-9_]+__(?:COM|ORG|IO|NET|DEV|CO)(?i:_?(?:token|key|password))?[\"'\],]{0,3}"
        r"(?:\s?string)?\s{0,3}(?::{0,3}=>?|:|[.?]=|,|>|\s)\s{0,8}\\?[\"'`]?",
        r"([\w.%\-]+:[^\s\"'`;<]+)",
        _pair,
        gate=r"\bBUNDLE_[A-Z0-9_]+__[A-Z]",
    ),
    rule(
        r"(?:\b_?auth|\\?\"_?auth\\?\") *[:=] *\\?[\"']?",
        r"([A-Za-z0-9+/]{8,}={0,2})",
        _encoded_pair,
        gate=r"auth\\?\"? *[:=] *\\?[\"']?[A-Za-z0-9+/]{8}",
        score=1.0,
    ),
    rule(
        "",
        rf"(\${{1,2}}(?:2[abxy]\${{1,2}}\d\d\${{1,2}}{_SIGN}{{53}}|(?:[156]|y|7|gy|apr1|md5)\${{1,2}}"
        rf"(?:rounds=\d+\$|j{_SIGN}+\$)?{_SIGN}{{1,32}}\${{1,2}}{_SIGN}{{22,86}}"
        rf"|(?:argon2(?:id|i|d)|scrypt)\$[\w=,$]{{5,60}}\$[A-Za-z0-9+/]{{8,}}\$[A-Za-z0-9+/]{{20,}}"
        rf"|[PH]\${_SIGN}{{31}})|\*[0-9A-F]{{40}}\b|\{{S?(?:SHA|MD5)(?:256|384|512)?\}}[A-Za-z0-9+/]{{22,120}}={{0,2}})"
        # Windows': as pwdump and its like print them, and alone
        r"|\b([0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::|\b(?i:NTLM|NT hash|LM hash) *[:=] *([0-9a-fA-F]{32})\b",
        _hash,
        gate=r"\$(?:2[abxy]|[156y7PH]|gy|apr1|md5|argon2i?d?|scrypt)\$|\{S?(?:SHA|MD5)\d*\}|\*[0-9A-F]{40}"
        r"|[0-9a-fA-F]{32}:::|\b(?i:NTLM|NT hash|LM hash) *[:=]",
    ),
    Rule(_KIND, _manifests),
    rule(r"(?i:\bWIFI:)(?:[^\n]*?;)?P:", r"((?:\\.|[^\\;\s]){5,63});", values.any_value, gate=r"(?i)\bWIFI:[A-Z]:"),
    # The twenty figures on the bottom of a router
    rule(
        _NETWORK_KEY + r"[^\n\d]{0,24}",
        r"(\d{4}(?: \d{4}){3,4})(?:[^\d ]|\s|$)",
        values.any_value,
        gate=_NETWORK_KEY + r"[^\n\d]*\d",
    ),
)

RECOGNIZERS = (
    table(
        "file",
        _RULES,
        examples=(
            Example(f"db.acme.org:5432:shop:jane:{_word}", _word),
            Example(f"[smtp.acme.org]:587    jane:{_word}", _word),
            Example(f"BUNDLE_GEMS__ACME__COM: {_gem}", _gem),
            Example(f'{{"auths": {{"r.acme.org": {{"auth": "{_pairs}"}}}}}}', _pairs, score=1.0),
            Example(f"//npm.acme.org/:_auth={_pairs}", _pairs, score=1.0),
            Example(f"root:{_crypt}:19000:0:99999:7:::", _crypt),
            Example(f"jane:{_bcrypt}", _bcrypt),
            Example("root | *" + sample(40, HEX).upper() + " |", "*" + sample(40, HEX).upper()),
            Example(f"jane:1001:{_windows}:::", _windows),
            Example("userPassword: {SSHA}" + sample(32), "{SSHA}" + sample(32)),
            Example(f"{_manifest}{_b64}\n", f"extra: {_b64}", "SECRET"),
            Example(f"data:\n  x: '{_b64}'\nkind: Secret\n", f"x: '{_b64}'", "SECRET"),
            Example("WIFI:T:WPA;S:Home;P:sunny" + "home42;;", "sunny" + "home42"),
            Example("WLAN-Netzwerkschlüssel: 4471 8829" + " 1034 5567 2093", "4471 8829" + " 1034 5567 2093"),
        ),
        counter_examples=(
            "12:30:00:00:00",
            "[main] branch:v2",
            "[info]  time:12:30:00",
            "BUNDLE_GEMS__ACME__COM: $USER:$PASS",
            "BUNDLE_WITHOUT: development:test",
            '{"auth": "required"}',
            "auth=none",
            "it costs $5$ or $6$",
            "$1$2",
            f'{_manifest}""\n',
            f"{_manifest}{{{{ .Values.extra }}}}\n",
            "kind: ConfigMap\ndata:\n  extra: abcdefgh\n",
            "kind: ExternalSecret\nspec:\n  data:\n    - secretKey: api-key\n",
            "WIFI:T:nopass;S:Guests;;",
            "wifi:on",
        ),
    ),
)
