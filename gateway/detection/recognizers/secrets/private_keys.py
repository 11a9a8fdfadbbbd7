"""Private keys, whole: PEM and OpenSSH (RFC 7468), PGP (RFC 9580), PuTTY, age. Cut-off ones too, as far as
they go.
"""

import re

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.recognizers._samples import BASE64, UPPER, sample

PRIVATE_KEY = EntityType("PRIVATE_KEY", "secret", "A cryptographic private key.")

_HEAD = r"-----BEGIN[ A-Z0-9]{0,40} PRIVATE KEY(?: BLOCK)?-----|-----BEGIN PRIVATE KEY-----"
_TAIL = r"-----END[ A-Z0-9]{0,40} ?PRIVATE KEY(?: BLOCK)?-----"
# Never beyond the next boundary: without its end, a key goes no further than its lines do.
_INSIDE = r"(?:[^\-]|-{1,4}[^\-])"
# In JSON and environment files line ends are written \n.
_LINE = r"(?:\s|\\r|\\n)*[A-Za-z0-9+/=]{16,}"
_BODY = re.compile(r"[A-Za-z0-9+/=]{20}")


def _has_body(value: str) -> bool | None:
    """Base64 between the lines; in instructions there are words or dots."""
    return None if _BODY.search(value[20:]) else False


_begin, _end = "-----BEGIN " + "RSA PRIVATE KEY-----", "-----END " + "RSA PRIVATE KEY-----"
_body = sample(64, BASE64)

RECOGNIZERS = (
    PatternRecognizer(
        "private_key",
        PRIVATE_KEY,
        (
            Pattern(rf"(?:{_HEAD})(?:{_INSIDE}*?{_TAIL}|(?:{_LINE})+)", 1.0, gate=r"-----BEGIN[ A-Z0-9]* ?PRIVATE KEY"),
            Pattern(
                r"PuTTY-User-Key-File-\d: (?s:.)*?Private-Lines: \d+\s"
                r"(?:[A-Za-z0-9+/=]+\s+)+(?:Private-MAC: [0-9a-f]+)?",
                1.0,
                gate=r"PuTTY-User-Key-File-\d",
            ),
            Pattern(r"\bAGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}\b", 1.0, gate="AGE-SECRET-KEY-1"),
        ),
        validator=_has_body,
        blobs=True,
        examples=(
            Example(f"key:\n{_begin}\n{_body}\n{_end}\nthanks", f"{_begin}\n{_body}\n{_end}"),
            Example(f'"key": "{_begin}\\n{_body}\\n{_end}\\n"', f"{_begin}\\n{_body}\\n{_end}"),
            Example(f"{_begin}\n{_body}\n{_body}", f"{_begin}\n{_body}\n{_body}"),
            Example(
                "-----BEGIN " + f"PRIVATE KEY-----\n{_body}\n-----END " + "PRIVATE KEY-----",
                "-----BEGIN " + f"PRIVATE KEY-----\n{_body}\n-----END " + "PRIVATE KEY-----",
            ),
            Example(
                "-----BEGIN PGP PRIVATE KEY "
                + f"BLOCK-----\nVersion: 2 - x\n\n{_body}\n-----END PGP PRIVATE KEY "
                + "BLOCK-----",
                "-----BEGIN PGP PRIVATE KEY "
                + f"BLOCK-----\nVersion: 2 - x\n\n{_body}\n-----END PGP PRIVATE KEY "
                + "BLOCK-----",
            ),
            Example("AGE-SECRET-KEY-1" + "Q" * 58, "AGE-SECRET-KEY-1" + "Q" * 58),
        ),
        counter_examples=(
            f"-----BEGIN CERTIFICATE-----\n{_body}\n-----END CERTIFICATE-----",
            "-----BEGIN " + "PUBLIC KEY-----\n" + sample(64, UPPER) + "\n-----END PUBLIC KEY-----",
            "-----BEGIN " + "PRIVATE KEY-----\n<your key>\n-----END " + "PRIVATE KEY-----",
            "A file starts with -----BEGIN " + "PRIVATE KEY----- and then base64.",
        ),
    ),
)
