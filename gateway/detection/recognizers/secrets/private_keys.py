"""Private keys: PEM and OpenSSH (RFC 7468), PGP (RFC 9580), PuTTY, age, JWK (RFC 7517). Also in part, between the
lines of a log or a listing, and without the first or the last line.
"""

from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._samples import BASE64, HEX, UPPER, URL_SAFE, sample

PRIVATE_KEY = EntityType("PRIVATE_KEY", "secret", "A cryptographic private key.")

_HEAD = r"-----BEGIN(?: [A-Z0-9 ]{0,40})? PRIVATE KEY(?: BLOCK)?-----"
_TAIL = r"-----END[ A-Z0-9]{0,40} ?PRIVATE KEY(?: BLOCK)?-----"
# How private keys in DER begin in base64: a sequence that holds a version and then a number, an algorithm or the key
# itself; or the algorithms of an encrypted one (RFC 8017, 5958, 5915). Certificates and public keys hold no version.
_DER = (
    r"\bM(?:II[A-Za-z0-9+/]{2}[AQgw]IBA[AD]|I[GH][A-Za-z0-9+/]AgE(?:AM|AAo|BBD|BBE)|[A-H][A-Za-z0-9+/]CAQ(?:EE|Aw|AC)"
    r"|I[A-Za-z0-9+/]{4,12}(?:kqhkiG9w0BB[QR]|GCSqGSIb3DQ[EF]|YJKoZIhvcNAQ[UV]))"
)
_OPENSSH = r"\bb3BlbnNzaC1rZXktdjE"
_RUN = r"[A-Za-z0-9+/]{40,}={0,2}"
# In JSON and environment files line ends are written \n; a line may begin with its number, a file or the time.
_BREAK = r"(?:\s|\\r|\\n)*"
_LINE = r"[A-Za-z0-9+/=]{16,}"
# After the last whole line, one that is shorter.
_LAST = r"\n[^\n]{0,80}?(?:[A-Za-z0-9+/]{2,39}={1,2}|[A-Za-z0-9+/]{20,39})"
_LISTED = rf"(?:\n(?:[^\n]*\n){{0,4}}?[^\n]*?{_RUN})+(?:{_LAST})?"
_WHOLE = compile_pattern(
    # Never beyond the next boundary: without its end, a key goes no further than its lines do.
    rf"{_HEAD}((?:[^\-]|-{{1,4}}[^\-])*?){_TAIL}"
)
_BODY = compile_pattern(r"[A-Za-z0-9+/=]{20}")
_IN_PART = compile_pattern(
    rf"(?:{_HEAD}(?:[^\n]{{0,8}}{_LISTED}|(?:{_BREAK}{_LINE})+)"
    rf"|(?:{_DER}|{_OPENSSH})[A-Za-z0-9+/]{{16,}}={{0,2}}(?:[^\n]{{0,8}}{_LISTED}|(?:{_BREAK}{_LINE})+)?"
    rf"|(?:{_RUN}[^\w\n]{{0,4}}\n[^\n]{{0,80}}?)+(?:[A-Za-z0-9+/]{{2,39}}={{0,2}}[^\w\n]{{0,4}}\n[^\n]{{0,80}}?)?{_TAIL})"
)
_PUTTY = compile_pattern(
    r"\bPrivate-Lines: \d+[ \t]*\r?\n((?:[ \t\d:|→]{0,12}[A-Za-z0-9+/=]{4,}[ \t]*\r?(?:\n|$))+)"
    r"|\bPrivate-MAC: ([0-9a-f]{40,64})\b|\b(AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58})\b"
)
_KEY_TYPE = compile_pattern(r"[^{}]*\bkty\b[^{}]*")
_MEMBER = compile_pattern(r"(?:\b|[\"'])(?:d|p|q|dp|dq|qi|k)\\?[\"']?\s{0,8}:\s{0,8}\\?[\"']?([A-Za-z0-9_\-]{20,})")


def _keys(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    at = 0
    for whole in _WHOLE.finditer(data):
        # Base64 between the lines; in instructions there are words or dots.
        if _BODY.search(whole[1]):
            yield from _in_part(data, at, whole.start())
            yield Match(*whole.span(), 1.0, PRIVATE_KEY.name)
            at = whole.end()
    yield from _in_part(data, at, len(data))


def _in_part(data: bytes, at: int, last: int) -> Iterator[Match]:
    for found in _IN_PART.finditer(data, at, last):
        yield Match(*found.span(), 0.95, PRIVATE_KEY.name)


def _fields(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for found in _PUTTY.finditer(data):
        start, end = next(span for number in (1, 2, 3) if (span := found.span(number)) != (-1, -1))
        yield Match(start, start + len(data[start:end].rstrip()), 1.0, PRIVATE_KEY.name)
    for key in _KEY_TYPE.finditer(data):
        for member in _MEMBER.finditer(data, *key.span()):
            yield Match(*member.span(1), 1.0, PRIVATE_KEY.name)


_begin, _end = "-----BEGIN " + "RSA PRIVATE KEY-----", "-----END " + "RSA PRIVATE KEY-----"
_pgp = "PGP PRIVATE KEY " + "BLOCK-----"
_body, _number, _mac = sample(64, BASE64), sample(43, URL_SAFE), sample(64, HEX)
_der = f"MIIEpAIBAAKCAQEA{sample(48)}\n{_body}"
_age = "AGE-SECRET-KEY-1" + "Q" * 58


def _examples(*marked: str) -> tuple[Example, ...]:
    return tuple(Example("".join(parts), parts[1]) for parts in (text.split("|", 2) for text in marked))


RECOGNIZERS = (
    FunctionRecognizer(
        "private_key",
        (PRIVATE_KEY,),
        (rf"-----(?:BEGIN|END)[ A-Z0-9]* ?PRIVATE KEY|{_DER}|{_OPENSSH}",),
        _keys,
        _examples(
            f"key:\n|{_begin}\n{_body}\n{_end}|\nthanks",
            f'"key": "|{_begin}\\n{_body}\\n{_end}|\\n"',
            f"|{_begin}\n{_body}\n{_body}|",
            f"|-----BEGIN {_pgp}\nVersion: 2 - x\n\n{_body}\n-----END {_pgp}|",
            f"half:\n|{_body}\n{_body}\n{_end}|",
            f"the body:\n|{_der}|\nand so on",
        ),
        (
            f"-----BEGIN CERTIFICATE-----\n{_body}\n-----END CERTIFICATE-----",
            "-----BEGIN " + "PUBLIC KEY-----\n" + sample(64, UPPER) + "\n-----END PUBLIC KEY-----",
            "-----BEGIN " + "PRIVATE KEY-----\n<your key>\n-----END " + "PRIVATE KEY-----",
            "A file starts with -----BEGIN " + "PRIVATE KEY----- and then base64.",
            f"MIIDdzCCAl+gAwIBAgIE{_body}\n{_body}",
        ),
    ),
    FunctionRecognizer(
        "private_key.field",
        (PRIVATE_KEY,),
        (r"\bPrivate-(?:Lines|MAC): |\bAGE-SECRET-KEY-1|\bkty\\?[\"']?\s*:",),
        _fields,
        _examples(
            f"Private-Lines: 1\n|{_body}|\nPrivate-MAC: {_mac}",
            f"Private-MAC: |{_mac}|\n",
            f'{{"kty":"EC","crv":"P-256","x":"{_number}","d":"|{_number[::-1]}|"}}',
            f"|{_age}|",
        ),
        (f'{{"kty":"RSA","n":"{_number}","e":"AQAB"}}', f'{{"d": "{_number}"}}'),
    ),
)
