"""Validators that python-stdnum lacks, for numbers outside Europe. See `checks.py`."""

from stdnum import luhn
from stdnum.id import nik

from gateway.detection.entropy import word_set
from gateway.detection.recognizers._numbers.checks import any_day, day_of, varied, weighted

# --- The Americas -----------------------------------------------------------------------------------------------------


def us_ssn(value: str) -> bool:
    """Issued areas, groups and serials, without the specimens on cards and in advertisements."""
    if value in {"078051120", "219099999", "123456789", "987654321"} or not varied(value):
        return False
    return value[:3] not in {"000", "666"} and value[0] != "9" and value[3:5] != "00" and value[5:] != "0000"


_ITIN_GROUPS = frozenset([*range(50, 66), *range(70, 89), *range(90, 93), *range(94, 100)])


def us_itin(value: str) -> bool:
    """ITIN: starts with 9; the fourth and fifth digits are in the ranges of the IRS."""
    return value[0] == "9" and int(value[3:5]) in _ITIN_GROUPS


def us_routing(value: str) -> bool:
    """ABA routing number: district of the Federal Reserve, weights 3, 7, 1."""
    district = int(value[:2])
    known = 0 <= district <= 12 or 21 <= district <= 32 or 61 <= district <= 72 or district == 80
    return known and varied(value) and weighted(value, (3, 7, 1) * 3) % 10 == 0


def us_npi(value: str) -> bool:
    """National Provider Identifier: Luhn over 80840 and the number; starts with 1 or 2."""
    return value[0] in "12" and len(set(value)) > 2 and bool(luhn.is_valid("80840" + value))


_MBI_LETTERS = frozenset("ACDEFGHJKMNPQRTUVWXY")


def us_mbi(value: str) -> bool:
    """Medicare Beneficiary Identifier (CMS): no S, L, O, I, B, Z."""
    return value[0] != "0" and _MBI_LETTERS.issuperset(char for char in value if char.isalpha())


def us_dea(value: str) -> bool:
    """DEA registration: a letter for the registrant, a letter of the name (or 9), seven digits with a checksum."""
    digits = [int(char) for char in value[-7:]]
    total = digits[0] + digits[2] + digits[4] + 2 * (digits[1] + digits[3] + digits[5])
    return value[0] in "ABCDEFGHJKLMPRSTUX" and total % 10 == digits[6]


def ca_ontario_health(value: str) -> bool:
    """OHIP: ten digits with Luhn, and a two-letter version."""
    return value[0] != "0" and varied(value[:10]) and bool(luhn.is_valid(value[:10]))


def luhn_varied(value: str) -> bool:
    """Requires a Luhn digit and more than one distinct character."""
    return varied(value) and bool(luhn.is_valid(value))


def mx_account(value: str) -> bool:
    """CLABE: weights 3, 7, 1, the units of the products, modulus 10."""
    total = sum(int(digit) * weight % 10 for digit, weight in zip(value[:17], (3, 7, 1) * 6, strict=False))
    return varied(value) and -total % 10 == int(value[17])


def br_worker(value: str) -> bool:
    """PIS/PASEP/NIT: weights 3, 2, 9..2, modulus 11."""
    rest = 11 - weighted(value[:10], (3, 2, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return varied(value) and (0 if rest > 9 else rest) == int(value[10])


def br_driver(value: str) -> bool:
    """CNH: two check digits, modulus 11; the first affects the second."""
    if not varied(value):
        return False
    first = weighted(value, tuple(range(9, 0, -1))) % 11
    lower = 2 if first > 9 else 0
    second = weighted(value, tuple(range(1, 10))) % 11
    second = 0 if second > 9 else second - lower
    if second < 0:
        second += 11
    return (0 if first > 9 else first) == int(value[9]) and (0 if second > 9 else second) == int(value[10])


def br_voter(value: str) -> bool:
    """Título de eleitor: serial, state, two check digits, modulus 11."""
    state = int(value[8:10])
    first = weighted(value[:8], tuple(range(2, 10))) % 11 % 10
    second = (state // 10 * 7 + state % 10 * 8 + first * 9) % 11 % 10
    return 1 <= state <= 28 and first == int(value[10]) and second == int(value[11])


def uy_person(value: str) -> bool:
    """Cédula de identidad: weights 2, 9, 8, 7, 6, 3, 4, modulus 10."""
    return (10 - weighted(value.zfill(8)[:7], (2, 9, 8, 7, 6, 3, 4)) % 10) % 10 == int(value[-1])


def sv_person(value: str) -> bool:
    """DUI: weights 9 to 2, modulus 10."""
    return varied(value) and (10 - weighted(value[:8], tuple(range(9, 1, -1))) % 10) % 10 == int(value[8])


def gt_person(value: str) -> bool:
    """CUI: eight digits and their check digit, modulus 11, then department and municipality."""
    return weighted(value[:8], tuple(range(2, 10))) % 11 == int(value[8]) and 1 <= int(value[9:11]) <= 22


# --- Asia, Africa, Oceania --------------------------------------------------------------------------------------------


def kr_resident(value: str) -> bool:
    """Resident registration number, also without the check digit, which is random since 2020."""
    century = {"1": 1900, "2": 1900, "3": 2000, "4": 2000}.get(value[6], 0)
    return bool(century) and day_of(value, century) and int(value[7:9]) <= 95


def kr_foreigner(value: str) -> bool:
    """Foreigner registration number: the same, with other digits for sex and century."""
    century = {"5": 1900, "6": 1900, "7": 2000, "8": 2000}.get(value[6], 0)
    return bool(century) and day_of(value, century)


def kr_business(value: str) -> bool:
    """Business registration: weights 1, 3, 7, 1, 3, 7, 1, 3, 5, with the tens of the last product, modulus 10."""
    total = weighted(value[:9], (1, 3, 7, 1, 3, 7, 1, 3, 5)) + int(value[8]) * 5 // 10
    return varied(value) and (10 - total % 10) % 10 == int(value[9])


def kr_driver(value: str) -> bool:
    """Driving licence: region (11 to 28), year, serial, check digit, issue number."""
    return 11 <= int(value[:2]) <= 28


_NRIC = {"S": (0, "JZIHGFEDCBA"), "T": (4, "JZIHGFEDCBA"), "F": (0, "XWUTRQPNMLK"), "G": (4, "XWUTRQPNMLK")}
_NRIC["M"] = (3, "KLJNPQRTUWX"[::-1])


def sg_person(value: str) -> bool:
    """NRIC and FIN: weights 2, 7, 6, 5, 4, 3, 2, modulus 11, and the corresponding letter."""
    offset, letters = _NRIC.get(value[0], (0, ""))
    return bool(letters) and letters[(weighted(value[1:8], (2, 7, 6, 5, 4, 3, 2)) + offset) % 11] == value[8]


def tw_person(value: str) -> bool:
    """National ID: a letter for the county, then 1 or 2 (8 or 9 for foreigners), weights 1, 9, 8..1, modulus 10."""
    county = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(value[0]) + 10
    total = county // 10 + county % 10 * 9 + weighted(value[1:], (8, 7, 6, 5, 4, 3, 2, 1, 1))
    return value[1] in "1289" and total % 10 == 0


def hk_person(value: str) -> bool:
    """Identity card: one or two letters, six digits, a check character, modulus 11."""
    letters = [36] if len(value) == 8 else [ord(value[0]) - 55]
    letters.append(ord(value[-8]) - 55)
    digits = [int(char) for char in value[-7:-1]]
    total = sum(part * weight for part, weight in zip(letters + digits, range(9, 1, -1), strict=True))
    check = 10 if value[-1] == "A" else int(value[-1]) if value[-1].isdigit() else -1
    return (total + check) % 11 == 0


def ph_tin(value: str) -> bool:
    """TIN: eight digits, a check digit (descending weights, modulus 11), then a branch."""
    return varied(value[:9]) and weighted(value[:8], tuple(range(9, 1, -1))) % 11 == int(value[8])


def in_tax_name(value: str) -> bool:
    """PAN: the fourth letter is the kind of holder."""
    return value[3] in "ABCFGHLJPT" and value[5:9] != "0000"


def in_gst(value: str) -> bool:
    """GSTIN: the state, a PAN, a serial, Z, a check character."""
    return "01" <= value[:2] <= "37" and value[13] == "Z"


def ae_person(value: str) -> bool:
    """Emirates ID: 784, a birth year, a serial, the Luhn digit."""
    return 1900 <= int(value[3:7]) <= 2100 and bool(luhn.is_valid(value))


def ir_person(value: str) -> bool:
    """Iran's national code: descending weights, modulus 11."""
    rest = weighted(value[:9], tuple(range(10, 1, -1))) % 11
    return varied(value) and int(value[9]) == (rest if rest < 2 else 11 - rest)


def eg_person(value: str) -> bool:
    """Egypt: century (2 or 3), birth date, governorate, serial, check digit."""
    century = {"2": 1900, "3": 2000}.get(value[0], 0)
    return bool(century) and day_of(value[1:7], century) and 1 <= int(value[7:9]) <= 88


def kw_person(value: str) -> bool:
    """Kuwait's civil ID: century, birth date, serial, modulus 11."""
    check = 11 - weighted(value[:11], (2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)) % 11
    return value[0] in "123" and any_day(value[1:7]) and check == int(value[11])


def za_person(value: str) -> bool:
    """South Africa: birth date, serial, citizenship (0 to 2), Luhn digit."""
    return any_day(value) and value[10] in "012" and bool(luhn.is_valid(value))


def nz_health(value: str) -> bool:
    """NHI: three letters without I and O, three digits, a check digit, modulus 11."""
    if not value[3:7].isdigit():
        return False
    letters = ["ABCDEFGHJKLMNPQRSTUVWXYZ".find(char) + 1 for char in value[:3]]
    total = sum(letter * weight for letter, weight in zip(letters, (7, 6, 5), strict=True))
    rest = (total + weighted(value[3:6], (4, 3, 2))) % 11
    return 0 not in letters and rest != 0 and (11 - rest) % 10 == int(value[6])


def au_medicare(value: str) -> bool:
    """Medicare card: starts with 2 to 6, weights 1, 3, 7, 9, modulus 10, then the issue."""
    return value[0] in "23456" and weighted(value[:8], (1, 3, 7, 9) * 2) % 10 == int(value[8])


def ca_quebec_health(value: str) -> bool:
    """RAMQ: four letters of the name, then year, month (plus 50 for women), day, two digits."""
    return value[:4].isalpha() and 1 <= int(value[6:8]) % 50 <= 12 and 1 <= int(value[8:10]) <= 31


def mx_rfc(value: str) -> bool:
    """RFC: letters of the name, the date of birth or foundation, three characters."""
    return any_day(value[-9:-3])


def kr_passport(value: str) -> bool:
    """South Korea: M, S, R, O or D, then eight digits or, since 2021, three, a letter, four."""
    return value[0] in "MSROD"


def id_person(value: str) -> bool:
    """Nomor Induk Kependudukan: an area, then a birth date (plus 40 for women).

    Checks the date first, so that most payment card numbers need no lookup of the area.
    """
    day, month = int(value[6:8]) % 40, int(value[8:10])
    return 1 <= day <= 31 and 1 <= month <= 12 and bool(nik.is_valid(value))


def th_person(value: str) -> bool:
    """Thailand: category 1 to 8, province 10 to 96, modulus 11."""
    check = (11 - weighted(value[:12], tuple(range(13, 1, -1))) % 11) % 10
    return value[0] in "12345678" and 10 <= int(value[1:3]) <= 96 and check == int(value[12])


def in_passport(value: str) -> bool:
    """Passport: a letter other than Q, X, Z, then seven digits without zeros at either end."""
    return value[0] not in "QXZ" and value[1] != "0" and value[-1] != "0"


_IN_STATES = word_set(
    """
    AN AP AR AS BH BR CG CH DD DL DN GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OD OR PB PY RJ SK TG TN TR TS UK
    UP WB
    """
)


def in_vehicle(value: str) -> bool:
    """Licence plate: starts with a state or territory, or is of the BH series."""
    return value[:2] in _IN_STATES or value[2:4] == "BH"


def tr_plate(value: str) -> bool:
    """Licence plate: starts with one of the 81 provinces."""
    return 1 <= int(value[:2]) <= 81


def tr_phone(value: str) -> bool:
    """Phone number: an area (2, 3, 4) or mobile (5) code after the zero."""
    number = value.removeprefix("0")
    return len(number) == 10 and (number[0] == "5" or number[:3] in _TR_AREAS)


_TR_AREAS = word_set(
    """
    212 216 222 224 226 228 232 236 242 246 248 252 256 258 262 264 266 272 274 276 282 284 286 288 312 318 322 324 326
    328 332 338 342 344 346 348 352 354 356 358 362 364 366 368 370 372 374 376 378 380 382 384 386 388 392 412 414 416
    422 424 426 428 432 434 436 438 442 446 452 454 456 458 462 464 466 472 474 476 478 482 484 486 488
    """
)


def lk_person(value: str) -> bool:
    """Sri Lanka: birth year and day of the year, with 500 added for women."""
    year, day = (value[:2], value[2:5]) if len(value) == 10 else (value[2:4], value[4:7])
    return year.isdigit() and 1 <= int(day) % 500 <= 366 and (len(value) == 10 or value[:2] in {"19", "20"})
