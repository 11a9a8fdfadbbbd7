"""Checks of keys: checksums that vendors have published, and contents that issued keys never have.

A correct checksum is certain (True). A wrong one is no evidence, because older keys have none and people shorten and
change what they paste. False: not a key. None: undecided.
"""

from zlib import crc32

from gateway.detection.recognizer import compile_pattern
from gateway.detection.recognizers._published_keys import is_published
from gateway.detection.recognizers.secrets._value_classifier import is_dummy, is_gibberish, is_made

_FILLED_IN = compile_pattern(r"(?i:x{6}|example|your[_\-a-z]*(?:key|token|secret)|placeholder|here\n?$|redacted)")
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECK_DIGITS = 6


def no_dummy(value: str) -> bool | None:
    """Returns False for dummy keys in documentation: keyboard rows, `EXAMPLE`, and published keys. Else None."""
    return False if is_dummy(value[-40:]) or is_published(value) or _FILLED_IN.search(value.encode()) else None


def no_keyboard_row(value: str) -> bool | None:
    return False if is_dummy(value) else None


def made(value: str) -> bool | None:
    return None if is_made(value) else False


def varied(value: str) -> bool | None:
    return None if len(set(value)) > 5 else False


def github_crc(value: str) -> bool | None:
    """The last six characters are the CRC-32 of what is between the prefix and them, in base 62.

    GitHub: "Behind GitHub's new authentication token formats" (2021). npm's tokens have the same form.
    """
    body = value.rpartition("_")[2]
    if len(body) > _CHECK_DIGITS and _base62(crc32(body[:-_CHECK_DIGITS].encode())) == body[-_CHECK_DIGITS:]:
        return True
    return no_dummy(value)


def aws_key(value: str) -> bool | None:
    """Excludes the keys of documentation (`...EXAMPLE`) and rows of `X`."""
    if value.endswith("EXAMPLE") or set(value[4:]) <= {"X"} or "XXXXXX" in value:
        return False
    return None


def mixed(value: str) -> bool | None:
    """For short bodies that could be words: requires capitals, lower case and digits, or gibberish.

    If one character in five is the same, the value is base64 of small numbers.
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


def short_artifactory(value: str) -> bool | None:
    """Accepts shortened and stand-in forms too, unless they could be a name in a program."""
    body = value[3:]
    low = body.islower() and not set(body) & set("aeiou")
    return None if low or (sum(map(str.isdigit, body)) >= 2 and is_made(value)) else False


def _base62(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 62)
        digits = _BASE62[rest] + digits
    return digits.rjust(_CHECK_DIGITS, "0")
