"""Credentials in files that have a form of their own: netrc, pgpass, Postfix, BitLocker, Bundler, Docker and npm
logins, password hashes of `/etc/shadow` and htpasswd (crypt(5)), of MySQL and Windows.
"""

import base64
import binascii

from gateway.detection.recognizer import Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._samples import BASE62, HEX, sample
from gateway.detection.recognizers._secret_values import is_chosen, is_dummy, is_stand_in
from gateway.detection.recognizers.assigned_secret import PASSWORD, SECRET

_HASH_SIGNS = "[A-Za-z0-9./]"


def _password(value: str) -> bool | None:
    return None if not is_stand_in(value) and len(value) >= 4 else False


def _pair(value: str) -> bool | None:
    user, _, password = value.partition(":")
    return None if password and not (is_stand_in(password) or is_stand_in(user)) else False


def _encoded_pair(value: str) -> bool | None:
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return False
    return _pair(decoded) is None and decoded.isprintable()


def _line(value: str) -> bool | None:
    return None if is_chosen(value, quoted=True) or value.isdigit() else False


def _recovery(value: str) -> bool:
    """Each group is eleven times a number of 16 bits: BitLocker's way to know a slip of the pen."""
    return all(int(group) % 11 == 0 and int(group) < 11 << 16 for group in value.split("-"))


def _hash(value: str) -> bool | None:
    return False if is_dummy(value[-24:]) else None


_word = "Tr0ub4dor" + "&3"
_pairs = base64.b64encode(b"jane:" + _word.encode()).decode()
_recovery_key = "-".join(f"{11 * number:06}" for number in range(12_345, 60_000, 6_001))
_crypt = "$6$" + sample(16) + "$" + sample(86)

RECOGNIZERS = (
    PatternRecognizer(
        "secret.netrc",
        PASSWORD,
        (
            Pattern(
                r"\b(?:machine[ \t]+\S+|default)(?:\s+(?:login|account)[ \t]+\S+){0,2}\s+password[ \t]+(\S{4,256})",
                0.9,
                group=1,
                prefilter=r"\b(?:machine[ \t]+\S+|default)\s+(?:login|account|password)[ \t]",
            ),
        ),
        validator=_password,
        examples=(Example(f"machine a.io login jane password {_word}", _word),),
        counter_examples=("machine a.io login jane password <password>", "the machine login failed, password wrong"),
    ),
    PatternRecognizer(
        "secret.pgpass",
        PASSWORD,
        (
            Pattern(
                r"(?m)^[\w.\-*]+:(?:\d{1,5}|\*):[\w\-*]+:[\w\-*]+:(\S{4,})$",
                0.8,
                group=1,
                prefilter=r"(?m)^[\w.\-*]+:(?:\d{1,5}|\*):[\w\-*]+:[\w\-*]+:\S{4}",
            ),
        ),
        validator=_line,
        examples=(Example(f"db.acme.org:5432:shop:jane:{_word}", _word),),
        counter_examples=("12:30:00:00:00", "a:b:c:d"),
    ),
    PatternRecognizer(
        "secret.sasl_passwd",
        PASSWORD,
        (
            Pattern(
                r"(?m)^\[[\w\-]+(?:\.[\w\-]+)+\](?::\d+)?[ \t]+[\w.@+\-]+:(\S{4,256})[ \t]*\r?$",
                0.8,
                group=1,
                prefilter=r"(?m)^\[[\w\-]+(?:\.[\w\-]+)+\](?::\d+)?[ \t]+[\w.@+\-]+:\S",
            ),
        ),
        validator=_line,
        examples=(Example(f"[smtp.acme.org]:587    jane:{_word}", _word),),
        counter_examples=("[main] branch:v2", "[info]  time:12:30:00"),
    ),
    PatternRecognizer(
        "secret.bitlocker",
        SECRET,
        (Pattern(r"\b\d{6}(?:-\d{6}){7}\b", 0.8),),
        validator=_recovery,
        examples=(Example(f"Recovery key: {_recovery_key}", _recovery_key, score=1.0),),
        counter_examples=("-".join(["123457"] * 8),),
    ),
    PatternRecognizer(
        "secret.bundler",
        PASSWORD,
        (
            Pattern(
                r"\bBUNDLE_[A-Z0-9_]{2,80}(?:__COM|__ORG|__IO|__NET|__DEV|__CO)"
                r"(?:_?(?i:token|key|password))?[\"']?(?:\s?string)?"
                r"(?:\]|,)?\s{0,3}(?::{0,3}=>?|:|[.?]=|,|>|\s)\s{0,8}\\?[\"'`]?"
                r"([\w.%\-]{1,128}(?::[^\s\"'`;<]{1,128}))",
                0.9,
                group=1,
                prefilter=r"\bBUNDLE_[A-Z0-9_]+__[A-Z]",
            ),
        ),
        validator=_pair,
        examples=(Example("BUNDLE_GEMS__ACME__COM: " + "ab12cd34:" + sample(8, HEX), "ab12cd34:" + sample(8, HEX)),),
        counter_examples=("BUNDLE_GEMS__ACME__COM: $USER:$PASS", "BUNDLE_WITHOUT: development:test"),
    ),
    PatternRecognizer(
        "secret.encoded_login",
        PASSWORD,
        (
            Pattern(
                r"(?:\b_?auth|\\?\"_?auth\\?\")[ \t]{0,3}[:=][ \t]{0,3}\\?[\"']?([A-Za-z0-9+/]{8,512}={0,2})",
                0.9,
                group=1,
                prefilter=r"auth\\?\"?[ \t]*[:=][ \t]*\\?[\"']?[A-Za-z0-9+/]{8}",
            ),
        ),
        validator=_encoded_pair,
        blobs=True,
        examples=(
            Example(f'{{"auths": {{"r.acme.org": {{"auth": "{_pairs}"}}}}}}', _pairs, score=1.0),
            Example(f"//npm.acme.org/:_auth={_pairs}", _pairs, score=1.0),
        ),
        counter_examples=('{"auth": "required"}', "auth=none"),
    ),
    PatternRecognizer(
        "secret.password_hash",
        PASSWORD,
        (
            Pattern(
                rf"\${{1,2}}(?:(?:2[abxy]\${{1,2}}\d\d\${{1,2}}{_HASH_SIGNS}{{53}})|(?:[156]|y|7|gy|apr1|md5)\${{1,2}}(?:rounds=\d+\$"
                rf"|j[A-Za-z0-9./]+\$)?"
                rf"{_HASH_SIGNS}{{1,32}}\${{1,2}}{_HASH_SIGNS}{{22,86}}|(?:argon2(?:id|i|d)"
                rf"|scrypt)\$[\w=,$]{{5,60}}\$[A-Za-z0-9+/]{{8,}}\$[A-Za-z0-9+/]{{20,}}"
                rf"|[PH]\${_HASH_SIGNS}{{31}})|\*[0-9A-F]{{40}}\b|\{{S?(?:SHA|MD5)(?:256|384|512)?\}}[A-Za-z0-9+/]{{22,120}}={{0,2}}",
                0.8,
                prefilter=r"\$(?:2[abxy]|[156y7PH]|gy|apr1|md5|argon2i?d?|scrypt)\$|\{S?(?:SHA|MD5)\d*\}|\*[0-9A-F]{40}",
            ),
            # Windows': as pwdump and its like print them, and alone.
            Pattern(r"(?i)\b([0-9a-f]{32}:[0-9a-f]{32}):::", 0.9, group=1),
            Pattern(r"\b(?i:NTLM|NT hash|LM hash)[ \t]*[:=][ \t]*([0-9a-fA-F]{32})\b", 0.85, group=1),
        ),
        validator=_hash,
        blobs=True,
        examples=(
            Example(f"root:{_crypt}:19000:0:99999:7:::", _crypt),
            Example("jane:$2y$10$" + sample(53, BASE62), "$2y$10$" + sample(53, BASE62)),
            Example("root | *" + sample(40, HEX).upper() + " |", "*" + sample(40, HEX).upper()),
            Example(
                "jane:1001:" + sample(32, HEX) + ":" + sample(32, HEX) + ":::", sample(32, HEX) + ":" + sample(32, HEX)
            ),
            Example("userPassword: {SSHA}" + sample(32), "{SSHA}" + sample(32)),
        ),
        counter_examples=("it costs $5$ or $6$", "$1$2"),
    ),
)
