"""Checks that rows name, with their arguments: `weighted 3,7,1,-1 10`. Numbers that need more have their own.

Each gets the value in capitals, without spaces and signs. Its form has been checked before: positions that a form
declares as digits are digits. Sources: the issuing authorities' specifications, as named here and in the tables.
"""

import re
from functools import cache

from stdnum import verhoeff
from stdnum.at import businessid
from stdnum.fi import hetu

from gateway.detection.recognizers import _checks
from gateway.detection.recognizers._checks import digits_of, icao_digit, is_date


def matches(value: str, expression: str) -> bool:
    """Restricts the form. The expression is Python's."""
    return re.fullmatch(expression, value) is not None


def varied(value: str, least: str = "2") -> bool:
    """Excludes dummy values. Others have at least two, or `least`, distinct characters."""
    return len(set(value)) >= int(least)


def varied_digits(value: str) -> bool:
    """Excludes dummy values. Others have more than three digits, not all the same."""
    digits = digits_of(value)
    return len(digits) > 3 and len(set(digits)) > 1


def born(value: str, at: str, order: str = "012") -> bool:
    """Requires a date of this century or the last. At a place, two digits each: year, month and day, or in `order`."""
    first = int(at)
    parts = [int(value[first + place :][:2]) for place in (0, 2, 4)]
    year, month, day = (parts[int(place)] for place in order)
    return is_date(1900 + year, month, day) or is_date(2000 + year, month, day)


def weighted(value: str, weights: str, modulus: str, remainder: str = "0", instead: str = "") -> bool:
    """Requires a check digit. The sum of all weighted digits, the check digit included, must have a given remainder.

    A value shorter than the weights lacks leading digits. `instead` (`10=0`): what is written for a check number that
    has too many digits.
    """
    factors = _factors(weights)
    total = sum(int(digit) * factor for digit, factor in zip(value, factors[-len(value) :], strict=False) if factor)
    number, _, written = instead.partition("=")
    sums = [total]
    if instead and value.endswith(written):
        sums.append(total + (int(number) - int(written)) * factors[-1])
    return any(one % int(modulus) == int(remainder) for one in sums)


@cache
def _factors(weights: str) -> tuple[int, ...]:
    return tuple(map(int, weights.split(",")))


def cross_sums(value: str, weights: str) -> bool:
    """Requires a check digit. It is the units of the weighted digits' cross sums; a letter counts as two digits."""
    digits = "".join(char if char.isdigit() else f"{ord(char) - 64:02d}" for char in value[:-1])
    products = [int(digit) * factor for digit, factor in zip(digits, _factors(weights), strict=True)]
    return sum(product // 10 + product % 10 for product in products) % 10 == int(value[-1])


def luhn(value: str, before: str = "") -> bool:
    """Requires the Luhn digit. The digits of `before` precede the value's."""
    return _checks.luhn(before + digits_of(value))


def mrz(value: str) -> bool:
    """ICAO 9303: the last digit is the check digit of all others."""
    return icao_digit(value[:-1]) == value[-1]


def at_company(value: str) -> bool:
    """Firmenbuchnummer: FN, up to six digits, a check letter, which python-stdnum expects in lower case."""
    return bool(businessid.is_valid(value[2:].lower()))


def es_social(value: str) -> bool:
    """Seguridad Social: province, serial, and both modulo 97."""
    serial = int(value[2:-2])
    whole = serial + int(value[:2]) * 10_000_000 if serial < 10_000_000 else int(value[:-2])
    return 1 <= int(value[:2]) <= 66 and whole % 97 == int(value[-2:])


def es_nif(value: str) -> bool:
    """Documento Nacional de Identidad: up to eight digits and a letter for their remainder modulo 23."""
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(value[:-1]) % 23] == value[-1]


def lu_person(value: str) -> bool:
    """Matricule: birth date, serial, then a Luhn and a Verhoeff digit, each of the first eleven digits."""
    born = is_date(int(value[:4]), int(value[4:6]), int(value[6:8])) and "18" <= value[:2] <= "20"
    return born and luhn(value[:12]) and bool(verhoeff.is_valid(value[:11] + value[12]))


def fi_person(value: str) -> bool:
    """Henkilötunnus, including temporary ones for people outside the population register."""
    return bool(hetu.is_valid(value, allow_temporary=True))


def pl_card(value: str) -> bool:
    """Dowód osobisty: three letters, a check digit as in ICAO 9303, five digits."""
    return icao_digit(value[:3] + value[4:]) == value[3]


def hu_person(value: str) -> bool:
    """Személyi azonosító: modulus 11 with rising weights, falling since 1997."""
    return weighted(value, "1,2,3,4,5,6,7,8,9,10,-1", "11") or weighted(value, "10,9,8,7,6,5,4,3,2,1,-1", "11")


def kz_person(value: str) -> bool:
    """ИИН: modulus 11, with other weights where it is ten."""
    first, second = (
        sum(map(int.__mul__, map(int, value), (*range(start, 12), *range(1, start)))) % 11 for start in (1, 3)
    )
    return (second if first == 10 else first) == int(value[11])


def br_driver(value: str) -> bool:
    """CNH: two check digits, modulus 11; the first affects the second."""
    first, second = (
        sum(map(int.__mul__, map(int, value), weights)) % 11 for weights in (range(9, 0, -1), range(1, 10))
    )
    if second > 9 or first > 9:
        second = 0 if second > 9 else (second - 2) % 11
    return (0 if first > 9 else first) == int(value[9]) and (0 if second > 9 else second) == int(value[10])


def br_voter(value: str) -> bool:
    """Título de eleitor: serial, state, two check digits, modulus 11."""
    state = int(value[8:10])
    first = sum(map(int.__mul__, map(int, value[:8]), range(2, 10))) % 11 % 10
    second = (state // 10 * 7 + state % 10 * 8 + first * 9) % 11 % 10
    return 1 <= state <= 28 and first == int(value[10]) and second == int(value[11])


def kr_business(value: str) -> bool:
    """Business registration: weights 1, 3, 7, 1, 3, 7, 1, 3, 5, with the tens of the last product, modulus 10."""
    return weighted(value, "1,3,7,1,3,7,1,3,5,1", "10", str(-(int(value[8]) * 5 // 10) % 10))


def sg_person(value: str) -> bool:
    """NRIC and FIN: weights 2, 7, 6, 5, 4, 3, 2, modulus 11, and the corresponding letter."""
    offset, letters = {
        **{"S": (0, "JZIHGFEDCBA"), "T": (4, "JZIHGFEDCBA")},
        **{"F": (0, "XWUTRQPNMLK"), "G": (4, "XWUTRQPNMLK"), "M": (3, "XWUTRQPNJLK")},
    }.get(value[0], (0, ""))
    total = sum(map(int.__mul__, map(int, value[1:8]), (2, 7, 6, 5, 4, 3, 2)))
    return bool(letters) and letters[(total + offset) % 11] == value[8]


def tw_person(value: str) -> bool:
    """National ID: a letter for the county, which counts as two digits, weights 1, 9, 8..1, modulus 10."""
    county = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(value[0]) + 10
    return weighted(f"{county}{value[1:]}", "1,9,8,7,6,5,4,3,2,1,1", "10")


def hk_person(value: str) -> bool:
    """Identity card: one or two letters, six digits, a check character, modulus 11."""
    letters = [36] if len(value) == 8 else [ord(value[0]) - 55]
    letters.append(ord(value[-8]) - 55)
    digits = [int(char) for char in value[-7:-1]]
    total = sum(part * weight for part, weight in zip(letters + digits, range(9, 1, -1), strict=True))
    check = 10 if value[-1] == "A" else int(value[-1]) if value[-1].isdigit() else -1
    return (total + check) % 11 == 0


def nz_health(value: str) -> bool:
    """NHI: three letters without I and O, three digits, a check digit, modulus 11."""
    if not value[3:7].isdigit():
        return False
    letters = ["ABCDEFGHJKLMNPQRSTUVWXYZ".find(char) + 1 for char in value[:3]]
    rest = sum(map(int.__mul__, (*letters, *map(int, value[3:6])), range(7, 1, -1))) % 11
    return 0 not in letters and rest != 0 and (11 - rest) % 10 == int(value[6])
