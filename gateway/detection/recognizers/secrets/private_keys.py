"""Private keys: PEM and OpenSSH (RFC 7468), PGP (RFC 9580), PuTTY, age, JWK (RFC 7517). Also in part, between the
lines of a log or a listing, and without the first or the last line.
"""

from collections.abc import Iterator, Sequence

from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Example, FunctionRecognizer, Match
from gateway.detection.recognizers._samples import BASE64, HEX, UPPER, URL_SAFE, sample

PRIVATE_KEY = EntityType("PRIVATE_KEY", "secret", "A cryptographic private key.")

_EXPRESSIONS = Expressions(read_toml(__file__)["expressions"])
_WHOLE, _BODY, _IN_PART, _PUTTY, _KEY_TYPE = _EXPRESSIONS.re2("whole", "body", "in_part", "putty", "key_type")
(_MEMBER,) = _EXPRESSIONS.re2("member")


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
        (rf"-----(?:BEGIN|END)[ A-Z0-9]* ?PRIVATE KEY|{_EXPRESSIONS['der']}|{_EXPRESSIONS['openssh']}",),
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
