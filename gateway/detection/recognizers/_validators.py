"""Validators that tables name: of numbers, dates, places, plates, keys and addresses.

Of keys: a correct checksum is certain (True). A wrong one is no evidence, because older keys have none and people
shorten and change what they paste. Some contents are never those of an issued key (False).
"""

import base64
import binascii
import json
import re
from collections.abc import Callable
from hashlib import sha256
from zlib import crc32

from gateway.detection.data_files import read_toml
from gateway.detection.entropy import word_set
from gateway.detection.recognizer import compile_pattern
from gateway.detection.recognizers._checks import digits_of, icao_digit, is_date, luhn, separators
from gateway.detection.recognizers._numbers.number import is_number
from gateway.detection.recognizers.secrets._value_classifier import (
    is_dummy,
    is_gibberish,
    is_made,
    is_published,
    is_stand_in,
    is_strong,
)

_MAX_AGE = 120


def human_age(value: str) -> bool | None:
    digits = "".join(char for char in value if char.isdigit())
    return None if not digits or 0 < int(digits) <= _MAX_AGE else False


_DECIMALS = re.compile(r"\d+(?:\.\d+)?")


def on_earth(value: str) -> bool | None:
    """Checks for at most 90 and 180 degrees, and for enough decimals to tell a street from a city."""
    latitude, longitude = (float(part) for part in _DECIMALS.findall(value)[:2])
    decimals = min(len(part.partition(".")[2]) for part in _DECIMALS.findall(value)[:2])
    return None if latitude <= 90 and longitude <= 180 and (latitude or longitude) and decimals >= 3 else False


# `logo@2x.png` and `a@3.7.1.min.js` are files, `jo@acme.com.pdf` one that is named after an address, `git@host:path` a
# repository.
_FILE_ENDINGS = word_set("png jpg jpeg gif svg webp ico css scss js mjs ts tsx json html htm map pdf mp4")
_DOMAIN_IN_FILE = re.compile(r"(?:[^\W_][\w-]*\.)+(?!min\b)[^\W\d_]{2,24}(?:-\d+)?")

_REPOSITORY_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org", "ssh.dev.azure.com"})


def mailbox(value: str) -> bool | None:
    local, _, host = value.lower().rpartition("@")
    if local == "git" and host in _REPOSITORY_HOSTS:
        return False
    name, _, ending = host.rpartition(".")
    if ending in _FILE_ENDINGS and not _DOMAIN_IN_FILE.fullmatch(name):
        return False
    return None


def postcode(value: str) -> bool | None:
    """Excludes repeated digits, round numbers and years."""
    digits = "".join(char for char in value if char.isdigit())
    if len(set(digits)) == 1 and len(digits) > 3:
        return False
    return False if value.isdigit() and (value.endswith("000") or _year(value)) else None


def _year(value: str) -> bool:
    return len(value) == 4 and 1800 <= int(value) <= 2099


def _of_form(name: str) -> Callable[[str], bool | None]:
    return lambda value: None if len(separators(value)) == 1 and is_number(name, digits_of(value)) else False


ssn, itin = _of_form("US_SSN"), _of_form("US_ITIN")


def licence(value: str) -> bool | None:
    return None if sum(char.isdigit() for char in value) >= 4 else False


def no_dates(value: str) -> bool | None:
    """Returns False for two dates: a sort code and an account number may begin with 20, too."""
    return False if value[-8:-6] in {"19", "20"} and "00" < min(value[:2], value[3:5]) < "13" else None


def polish_account(value: str) -> bool:
    """Validates the check digits of ISO 13616, in which the country counts as 2521."""
    digits = value.replace(" ", "")
    return int(f"{digits[2:]}2521{digits[:2]}") % 97 == 1


def imei(value: str) -> bool | None:
    digits = digits_of(value)
    return None if luhn(digits) and len(set(digits)) > 2 else False


def sim(value: str) -> bool | None:
    """Some issuers omit the check digit, so a failed check leaves the score of the form."""
    return None if len(set(digits_of(value))) > 2 else False


def serial(value: str) -> bool | None:
    """Requires at least six characters, two of them digits."""
    signs = [char for char in value if char.isalnum()]
    return None if len(signs) >= 6 and sum(char.isdigit() for char in signs) >= 2 and len(set(signs)) > 3 else False


_ZONE_DATES = re.compile(r"(\d{6})(\d)[A-Z<]{0,3}[MFX<](\d{6})(\d)")

_ZONE_NUMBER = re.compile(r"[A-Z][A-Z<][A-Z<]{3}([A-Z0-9<]{9})(\d)")


def dated(value: str) -> bool | None:
    """Verifies the check digits of both dates. With fillers, the form suffices."""
    dates = _ZONE_DATES.search(value)
    if "<<" in value:
        return None
    return bool(dates and icao_digit(dates[1]) == dates[2] and icao_digit(dates[3]) == dates[4])


def numbered(value: str) -> bool:
    """Verifies the check digit of the document number."""
    number = _ZONE_NUMBER.match(value)
    return bool(number and icao_digit(number[1]) == number[2])


_LONG_JWT_PART = 17


def header_decodes(value: str) -> bool | None:
    header, _, rest = value.partition(".")
    try:
        decoded = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))
    except (binascii.Error, ValueError):
        # A token with a copying error still reveals its content.
        payload, _, signature = rest.partition(".")
        whole = payload.startswith("ey") and min(len(header), len(payload)) > _LONG_JWT_PART and len(signature) >= 5
        return None if whole else False
    return isinstance(decoded, dict) and bool({"alg", "typ", "enc"} & decoded.keys())


def pair(value: str) -> bool | None:
    user, colon, password = value.partition(":")
    return False if is_stand_in(password if colon else user) or password == user or "/" in user else None


def strong_pair(value: str) -> bool | None:
    return None if is_strong(value.partition(":")[2]) else False


def made(value: str) -> bool | None:
    return None if is_made(value) else False


_DATE_PARTS = re.compile(r"(\d+)([/.\-])(\d+)\2(\d+)")


def calendar(value: str) -> bool | None:
    """Requires an existing date, year first or last, with one kind of separator."""
    parts = _DATE_PARTS.fullmatch(value)
    if parts is None:
        return False
    first, second, third = int(parts[1]), int(parts[3]), int(parts[4])
    year, orders = (first, [(second, third)]) if first > 31 else (third, [(first, second), (second, first)])
    full = year if year > 99 else 2000 + year
    possible = 1500 <= full <= 2200 and any(is_date(full, month, day) for month, day in orders)
    return None if possible else False


def hours(value: str) -> bool | None:
    day, hour, minute = value[:10], int(value[11:13]), int(value[14:16])
    return None if calendar(day) is None and hour < 24 and minute < 60 else False


def day_and_month(value: str) -> bool | None:
    first, second = (int(part) for part in value.split("/"))
    if second > 31:
        return None if 1 <= first <= 12 and 1900 <= second <= 2100 else False
    return None if any(is_date(2000, month, day) for month, day in ((first, second), (second, first))) else False


_NO_AREAS = frozenset(read_toml(__file__, "vehicle")["words"]["no_areas"].split())

_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", (*range(1, 9), *range(1, 6), 7, 9, *range(2, 10)), strict=True))

_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)

_MIXED = re.compile(r"(?=.*\d)(?=.*[A-Z])[A-Z0-9 .\-]+")


def vin(value: str) -> bool | None:
    """Only North America and China require the check digit. Without it, context words are needed."""
    if not re.search(r"\d", value) or not re.search(r"[A-Z]", value) or not value[-3:].isdigit():
        return False
    total = sum(
        (int(char) if char.isdigit() else _VIN_VALUES[char]) * weight
        for char, weight in zip(value, _VIN_WEIGHTS, strict=True)
    )
    return None if "0123456789X"[total % 11] == value[8] else False


def uk_year(value: str) -> bool | None:
    """Checks the age identifier (02-29 from March, 51-79 from September) and three letters without I and Q."""
    plate = value.replace(" ", "").upper()
    known = plate[0] in "ABCDEFGHKLMNOPRSVWY" and plate[1] in "ABCDEFGHJKLMNOPRSTUVWXY"
    age = int(plate[2:4])
    return None if known and (2 <= age <= 29 or 51 <= age <= 79) and not set("IQ") & set(plate[4:]) else False


def german_plate(value: str) -> bool | None:
    return False if re.split(r"[ \-]", value, maxsplit=1)[0].lower() in _NO_AREAS else None


def plate(value: str) -> bool | None:
    if re.split(r"[ \-]", value, maxsplit=1)[0].lower() in _NO_AREAS:
        return False
    return None if _MIXED.fullmatch(value.upper()) and 4 <= sum(char.isalnum() for char in value) <= 9 else False


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_BECH32_CHECK, _BECH32M_CHECK = 1, 0x2BC830A3


def _base58(value: str) -> int:
    number = 0
    for char in value:
        number = number * 58 + _BASE58.index(char)
    return number


def base58check(value: str) -> bool:
    number = _base58(value)
    if number >> 200:
        return False
    raw = number.to_bytes(25)
    return sha256(sha256(raw[:21]).digest()).digest()[:4] == raw[21:]


def varied_wallet(value: str) -> bool | None:
    return None if len(set(value.lower())) > 6 else False


def bech32(value: str) -> bool:
    if value not in {value.lower(), value.upper()}:
        return False
    human, _, data = value.lower().rpartition("1")
    values = [ord(char) >> 5 for char in human] + [0] + [ord(char) & 31 for char in human]
    values += [_BECH32.index(char) for char in data]
    check = 1
    for item in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ item
        for bit, generator in enumerate(_GENERATOR):
            if top >> bit & 1:
                check ^= generator
    return check in {_BECH32_CHECK, _BECH32M_CHECK}


_FILLED_IN = compile_pattern(r"(?i:x{6}|example|your[_\-a-z]*(?:key|token|secret)|placeholder|here\n?$|redacted)")
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECK_DIGITS = 6


def no_dummy(value: str) -> bool | None:
    """Returns False for dummy keys in documentation: keyboard rows, `EXAMPLE`, and published keys. Else None."""
    return False if is_dummy(value[-40:]) or is_published(value) or _FILLED_IN.search(value.encode()) else None


def no_keyboard_row(value: str) -> bool | None:
    return False if is_dummy(value) else None


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
