"""Checksums and contents of issued keys, where their vendors have published them. A right one is certain; a wrong one
says nothing, since older keys have none and people cut and change what they paste.
"""

import base64
import binascii
from zlib import crc32

from gateway.detection.recognizers._vendor import no_dummy
from gateway.detection.recognizers.secrets._value_classifier import is_gibberish

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECK_DIGITS = 6


def github_crc(value: str) -> bool | None:
    """The last six characters are the CRC-32 of what is between the prefix and them, in base 62.

    GitHub: "Behind GitHub's new authentication token formats" (2021); npm's tokens are made the same way.
    """
    body = value.rpartition("_")[2]
    if len(body) > _CHECK_DIGITS and _base62(crc32(body[:-_CHECK_DIGITS].encode())) == body[-_CHECK_DIGITS:]:
        return True
    return no_dummy(value)


def trailing_crc(value: str) -> bool | None:
    """The last eight characters are the CRC-32 of what stands before their separator, in hex (Grafana, Atlassian)."""
    head, check = value[:-9], value[-8:]
    try:
        if int(check, 16) in {crc32(head.encode()), crc32(value[:-8].encode())}:
            return True
    except ValueError:
        pass
    return no_dummy(value)


def aws_key(value: str) -> bool | None:
    """No documentation key (`...EXAMPLE`) and none of `X`; the account number in a real one decodes to 12 digits."""
    if value.endswith("EXAMPLE") or set(value[4:]) <= {"X"} or "XXXXXX" in value:
        return False
    return None


def macaroon(value: str) -> bool | None:
    """A PyPI token is a macaroon, whose first packet names the place it is for."""
    body = value.removeprefix("pypi-")
    try:
        decoded = base64.urlsafe_b64decode(body[: len(body) // 4 * 4])
    except (binascii.Error, ValueError):
        return no_dummy(value)
    return True if b"pypi" in decoded[:24] else no_dummy(value)


def mixed(value: str) -> bool | None:
    """For short bodies that words could fill: capitals, small letters and digits, or what no words look like.
    One sign in five the same is base64 of small numbers.
    """
    body = value[2:]
    if max(7, len(body) // 5) < max(map(body.count, set(body)), default=0):
        return False
    classes = any(map(str.isdigit, body)) and any(map(str.islower, body)) and any(map(str.isupper, body))
    return no_dummy(value) if classes or is_gibberish(body) else False


def slack(value: str) -> bool | None:
    """Slack's numbers may be anything; what follows them is random."""
    tail = value.rpartition("-")[2]
    body = value.partition("-")[2]
    if len(set(tail)) < 5 or not any(char.isdigit() for char in body) or "xxxx" in value.lower():
        return False
    return False if value.lower().endswith("here") else None


def _base62(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 62)
        digits = _BASE62[rest] + digits
    return digits.rjust(_CHECK_DIGITS, "0")
