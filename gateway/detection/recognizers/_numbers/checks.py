"""Validators that python-stdnum lacks. Each takes the value in capitals, without spaces and signs.

Sources: the issuing authorities' specifications, as named. The form of a value has been checked before: positions that
a form declares as digits are digits.
"""

from stdnum import luhn, verhoeff
from stdnum.at import businessid
from stdnum.fi import hetu
from stdnum.iso7064 import mod_11_10
from stdnum.se import personnummer

from gateway.detection.entropy import word_set
from gateway.detection.recognizers._checks import icao_digit, is_date


def weighted(value: str, weights: tuple[int, ...]) -> int:
    """Returns the weighted sum of the first digits."""
    return sum(int(digit) * weight for digit, weight in zip(value, weights, strict=False))


def _cross_sum(number: int) -> int:
    return number // 10 + number % 10


def day_of(value: str, century: int) -> bool:
    """Returns whether a value starts with a date, YYMMDD, in a century."""
    return is_date(century + int(value[:2]), int(value[2:4]), int(value[4:6]))


def any_day(value: str) -> bool:
    """Returns whether a value starts with a date, YYMMDD, of this century or the last."""
    return day_of(value, 1900) or day_of(value, 2000)


def day_first(value: str) -> bool:
    """Returns whether a value starts with a date, DDMMYY."""
    return any_day(value[4:6] + value[2:4] + value[:2])


def varied(value: str) -> bool:
    """Requires more than one distinct character, unlike dummy values."""
    return len(set(value)) > 1


def varied_digits(value: str) -> bool:
    """Requires mostly digits, with more than one distinct digit."""
    digits = [char for char in value if char.isdigit()]
    return len(digits) > 3 and len(set(digits)) > 1


# --- Germany ----------------------------------------------------------------------------------------------------------


def de_tax_id(value: str) -> bool:
    """Section 139b AO: ISO 7064 MOD 11,10, no leading zero."""
    return value[0] != "0" and len(set(value)) > 3 and bool(mod_11_10.is_valid(value))


def de_tax_number(value: str) -> bool:
    """Thirteen digits: the state's code, in the old or the ELSTER notation. Shorter ones contain no zero."""
    if len(value) == 13:
        return "01" <= value[:2] <= "16" or (value[4] == "0" and value[0] in "1234589")
    return varied(value)


def de_pension(value: str) -> bool:
    """Insurance number of the Deutsche Rentenversicherung: area, birth date, letter, serial, check digit."""
    day, month = int(value[2:4]), int(value[4:6])
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return False
    digits = value[:8] + f"{ord(value[8]) - 64:02d}" + value[9:11]
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    total = sum(_cross_sum(int(digit) * weight) for digit, weight in zip(digits, weights, strict=True))
    return total % 10 == int(value[11])


def de_health(value: str) -> bool:
    """Krankenversichertennummer (section 290 SGB V): a letter, eight digits, a check digit."""
    digits = f"{ord(value[0]) - 64:02d}" + value[1:9]
    total = sum(_cross_sum(int(digit) * (1 + at % 2)) for at, digit in enumerate(digits))
    return total % 10 == int(value[9])


_DOCUMENT_SIGNS = frozenset("0123456789CFGHJKLMNPRTVWXYZ")


def mrz(value: str) -> bool:
    """ICAO 9303: the last digit is the check digit of all others."""
    return icao_digit(value[:-1]) == value[-1]


def de_document(value: str) -> bool:
    """Identity cards and passports since 2007: no vowels, and the check digit of the machine-readable zone."""
    return value[0] in "CFGHJKLMNPRTVWXYZ" and _DOCUMENT_SIGNS.issuperset(value) and mrz(value)


def de_doctor(value: str) -> bool:
    """Lebenslange Arztnummer: six digits, their check digit (weights 4 and 9), two digits of the specialty."""
    return (10 - weighted(value[:6], (4, 9, 4, 9, 4, 9)) % 10) % 10 == int(value[6])


def de_practice(value: str) -> bool:
    """Betriebsstättennummer: the first two digits are a region."""
    return value[:2] != "00" and varied(value)


def at_company(value: str) -> bool:
    """Firmenbuchnummer: FN, up to six digits, a check letter, which python-stdnum expects in lower case."""
    return bool(businessid.is_valid(value[2:].lower()))


# --- Western and southern Europe --------------------------------------------------------------------------------------

_NO_NINO = word_set("BG GB KN NK NT TN ZZ")


def uk_nino(value: str) -> bool:
    """National Insurance number: letters that HMRC issues."""
    first, second = value[0], value[1]
    return first not in "DFIQUV" and second not in "DFIOQUV" and value[:2] not in _NO_NINO and value[-1] in "ABCD"


def uk_driver(value: str) -> bool:
    """DVLA: five letters of the surname, then decade, month (plus 50 for women), day, year."""
    name, born = value[:5].rstrip("9"), value[5:11]
    month, day = int(born[1:3]) % 50, int(born[3:5])
    return bool(name) and name.isalpha() and int(born[1:3]) < 63 and 1 <= month <= 12 and 1 <= day <= 31


def uk_chi(value: str) -> bool:
    """Scotland's Community Health Index: a birth date, and the check digit of modulus 11."""
    return day_first(value) and (11 - weighted(value[:9], tuple(range(10, 1, -1))) % 11) % 11 == int(value[9])


def es_social(value: str) -> bool:
    """Seguridad Social: province, serial, and both modulo 97."""
    serial = int(value[2:-2])
    whole = serial + int(value[:2]) * 10_000_000 if serial < 10_000_000 else int(value[:-2])
    return 1 <= int(value[:2]) <= 66 and whole % 97 == int(value[-2:])


_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


def es_nif(value: str) -> bool:
    """Documento Nacional de Identidad: up to eight digits and a letter for their remainder modulo 23."""
    return _DNI_LETTERS[int(value[:-1]) % 23] == value[-1]


def pt_social(value: str) -> bool:
    """Número de Identificação da Segurança Social: prime weights, modulus 10."""
    weights = (29, 23, 19, 17, 13, 11, 7, 5, 3, 2)
    return value[0] in "12" and 9 - weighted(value[:10], weights) % 10 == int(value[10])


def it_driver(value: str) -> bool:
    """Two letters, seven digits, one letter; or U1 and seven characters without vowels."""
    if value[:2] == "U1":
        return not set("AEIOQU").intersection(value[2:9]) and value[9].isalpha()
    return value[:2].isalpha() and value[2:9].isdigit() and value[0] in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


_MONTHS = frozenset("ABCDEHLMPRST")
_OMOCODIA = frozenset("0123456789LMNPQRSTUV")


def it_person(value: str) -> bool:
    """Checks the form of a codice fiscale, for values with a wrong check letter."""
    places = (6, 7, 9, 10, 12, 13, 14)
    return value[8] in _MONTHS and all(value[at] in _OMOCODIA for at in places)


def lu_person(value: str) -> bool:
    """Matricule: birth date, serial, then a Luhn and a Verhoeff digit, each of the first eleven digits."""
    born = is_date(int(value[:4]), int(value[4:6]), int(value[6:8])) and "18" <= value[:2] <= "20"
    return born and bool(luhn.is_valid(value[:12])) and bool(verhoeff.is_valid(value[:11] + value[12]))


# --- Northern and eastern Europe --------------------------------------------------------------------------------------


def se_person(value: str) -> bool:
    """Personnummer. With twelve digits, the birth date must be that of a person who may be alive."""
    return (len(value) < 12 or value[:2] in {"18", "19", "20"}) and bool(personnummer.is_valid(value))


def fi_person(value: str) -> bool:
    """Henkilötunnus, including temporary ones for people outside the population register."""
    return bool(hetu.is_valid(value, allow_temporary=True))


def pl_card(value: str) -> bool:
    """Dowód osobisty: three letters, a check digit as in ICAO 9303, five digits."""
    return icao_digit(value[:3] + value[4:]) == value[3]


def hu_person(value: str) -> bool:
    """Személyi azonosító: sex and century, birth date, serial, modulus 11 (rising weights, falling since 1997)."""
    if value[0] not in "12345678" or not any_day(value[1:7]):
        return False
    check = int(value[10])
    rising, falling = tuple(range(1, 11)), tuple(range(10, 0, -1))
    return weighted(value[:10], rising) % 11 == check or weighted(value[:10], falling) % 11 == check


def hu_tax(value: str) -> bool:
    """Adóazonosító jel: 8, days since 1867, serial, modulus 11."""
    return value[0] == "8" and weighted(value[:9], tuple(range(1, 10))) % 11 == int(value[9])


def hu_health(value: str) -> bool:
    """TAJ: eight digits with weights 3 and 7, modulus 10."""
    return varied(value) and weighted(value[:8], (3, 7) * 4) % 10 == int(value[8])


def ru_pension(value: str) -> bool:
    """СНИЛС: nine digits with descending weights, modulus 101."""
    return int(value[:9]) > 1001998 and weighted(value[:9], tuple(range(9, 0, -1))) % 101 % 100 == int(value[9:])


def kz_person(value: str) -> bool:
    """ИИН: birth date, century and sex, serial, modulus 11 with a second row of weights."""
    if not any_day(value) or value[6] not in "0123456":
        return False
    check = weighted(value[:11], tuple(range(1, 12))) % 11
    if check == 10:
        check = weighted(value[:11], (3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2)) % 11
    return check == int(value[11])
