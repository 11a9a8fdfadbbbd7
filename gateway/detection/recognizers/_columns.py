"""What the headers of columns say about the cells below them: the words, the type, and what such a cell looks like."""

import re
from collections.abc import Callable
from typing import NamedTuple

from gateway.detection.prefilter import PatternSet
from gateway.detection.recognizer import EntityType, compile_pattern
from gateway.detection.recognizers._dates import DATE, birth_date
from gateway.detection.recognizers._id_labels import LABELS, label_expression
from gateway.detection.recognizers._id_values import has_enough_digits, plausible
from gateway.detection.recognizers.age import AGE
from gateway.detection.recognizers.bank_account import BANK_BRANCH_CODE
from gateway.detection.recognizers.date_of_birth import DATE_OF_BIRTH
from gateway.detection.recognizers.payment_card import CREDIT_CARD, CVV
from gateway.detection.recognizers.person_name import PERSON
from gateway.detection.recognizers.phone import PHONE_NUMBER
from gateway.detection.recognizers.postal_address import STREET_ADDRESS
from gateway.detection.recognizers.postal_code import POSTAL_CODE
from gateway.detection.recognizers.secrets._names import Kind, kind_of
from gateway.detection.recognizers.secrets._value_checks import NO_VALUE, PASSWORD, SECRET
from gateway.detection.recognizers.secrets._value_classifier import is_chosen, is_made, is_very_made
from gateway.detection.recognizers.secrets._vocabulary import EXPRESSIONS, WORDS
from gateway.detection.recognizers.us_identifiers import US_SSN
from gateway.detection.recognizers.username import USERNAME


class Column(NamedTuple):
    """Cells that `check` believes are of `type`, as sure as `score`."""

    type: EntityType
    score: float
    check: Callable[[str], bool]


_DATE = compile_pattern(f"(?i){DATE}")
_NAME = re.compile(r"[^\W\d_](?:[^\W\d_]|['’. -]){1,60}")
_POSTCODE = re.compile(r"[A-Z\d][A-Z\d -]{2,9}", re.IGNORECASE)
_USER = re.compile(r"@?\w[\w.@+-]{1,60}")
_PHONE = re.compile(r"[+(]?\d[\d ().\-/]{4,20}\d(?:[ ,]{0,2}(?:x|ext\.?)[ .]?\d{1,6})?")
_CARD = re.compile(r"\d(?:[ -]?\d){12,18}")
_BRANCH = re.compile(r"\d{2}([ -]?)\d{2}\1\d{2}|\d{8}")
_BRACKETED = re.compile(r"\[.*\]|\(.*\)|<.*>")
_SSN = re.compile(r"\d{3}([ .-]?)\d{2}\1\d{4}")


def _is_birth_date(value: str) -> bool:
    return _DATE.fullmatch(value.encode()) is not None and birth_date(value) is not False


def _is_identifier(value: str) -> bool:
    data = value.encode()
    return plausible(data, 0, len(data), explicit=True)


def _is_number(value: str) -> bool:
    return _is_identifier(value) and has_enough_digits(value.encode())


def _is_age(value: str) -> bool:
    return value.isdigit() and 0 < int(value) <= 120


def _is_name(value: str) -> bool:
    return _NAME.fullmatch(value) is not None


def _is_address(value: str) -> bool:
    return len(value) >= 5 and any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def _is_postcode(value: str) -> bool:
    return _POSTCODE.fullmatch(value) is not None and any(char.isdigit() for char in value)


def _is_username(value: str) -> bool:
    return _USER.fullmatch(value) is not None


def _is_phone(value: str) -> bool:
    return _PHONE.fullmatch(value) is not None and _DATE.fullmatch(value.encode()) is None


def _is_card(value: str) -> bool:
    return _CARD.fullmatch(value) is not None


def _is_ssn(value: str) -> bool:
    return _SSN.fullmatch(value) is not None


def _is_branch(value: str) -> bool:
    return _BRANCH.fullmatch(value) is not None


def _is_code(value: str) -> bool:
    return value.isdigit() and 3 <= len(value) <= 4


def _is_password(value: str) -> bool:
    if NO_VALUE.fullmatch(value) or value in WORDS["no_password"] or _BRACKETED.fullmatch(value):
        return False
    return is_chosen(value, quoted=True)


_NUMBER = r"(?:[ _-]?(?:no|nr|num|number|nummer|#)\.?)?[ _-]?[12]?"
_PERSON_WORDS = (
    r"(?:first|last|middle|given|family|full|sur|fore|maiden|patient|customer|client|employee|student|contact"
    r"|cardholder|account"
    r"|holder|vor|nach|familien)[ _-]?name|nom|pr[ée]nom|nombre|apellidos?|cognome|nome|sobrenome|apelido|naam"
    r"|voornaam|achternaam"
)
_PHONE_WORDS = (
    r"(?:(?:home|work|office|cell|mobile|contact|daytime|customer|emergency|primary)[ _-]?)?"
    r"(?:(?:tele)?phone|tel|mobile|cell|fax)\.?" + _NUMBER + r"|telefon(?:nummer)?|rufnummer|handy(?:nummer)?"
    r"|t[ée]l[ée]phone|portable|tel[ée]fono|m[óo]vil|celular|cellulare|telefone|telem[óo]vel|telefoon(?:nummer)?"
)
_WORDS: tuple[tuple[str, Column], ...] = (
    (_PERSON_WORDS, Column(PERSON, 0.7, _is_name)),
    (
        r"d\.?o\.?b\.?|(?:date[ _-]?of[ _-]?birth|birth[ _-]?date|birthday|born)|geburts(?:datum|tag)"
        r"|geb\.?-?(?:datum)?"
        r"|date[ _]de[ _]naissance"
        r"|fecha[ _](?:de[ _])?nac\w*|data[ _]di[ _]nascita|data[ _](?:de[ _])?nasc\w*|geboortedatum",
        Column(DATE_OF_BIRTH, 0.85, _is_birth_date),
    ),
    (r"age|alter|âge|edad|et[àa]|idade|leeftijd", Column(AGE, 0.6, _is_age)),
    (
        r"(?:(?:street|home|postal|mailing|billing|shipping)[ _-]?)?address(?:[ _-]?(?:line)?[ _-]?[12])?|street"
        r"|stra(?:ß|ss)e"
        r"|anschrift|adresse|adres|direcci[óo]n|domicilio|indirizzo|endere[çc]o|morada",
        Column(STREET_ADDRESS, 0.7, _is_address),
    ),
    (
        r"(?:zip|postal|post)[ _-]?(?:code)?|plz|postleitzahl|code[ _]postal|c[óo]digo[ _]postal|cap|cep|postnummer",
        Column(POSTAL_CODE, 0.8, _is_postcode),
    ),
    (
        r"user[ _-]?(?:name|id)|login|handle|nick(?:name)?|benutzername|usuario"
        r"|pseudo",
        Column(USERNAME, 0.6, _is_username),
    ),
    (_PHONE_WORDS, Column(PHONE_NUMBER, 0.95, _is_phone)),
    (rf"(?:(?:credit|debit|payment|bank)[ _-]?)?card{_NUMBER}|pan|cc{_NUMBER}", Column(CREDIT_CARD, 0.8, _is_card)),
    (r"(?:bank[ _-]?)?sort[ _-]?code|blz|bankleitzahl", Column(BANK_BRANCH_CODE, 0.8, _is_branch)),
    (r"cvv2?|cvc2?", Column(CVV, 0.7, _is_code)),
    (rf"ssn|social[ _-]security{_NUMBER}", Column(US_SSN, 0.9, _is_ssn)),
    (rf"(?:user[ _-]?)?(?:{EXPRESSIONS['passwords']})", Column(PASSWORD, 0.8, _is_password)),
    (EXPRESSIONS["secrets"], Column(SECRET, 0.8, is_made)),
)
# Whatever else names a secret, as `kind_of` reads it: `smtp_password`, `Secret access key`.
_KINDS = {
    Kind.PASSWORD: Column(PASSWORD, 0.8, _is_password),
    Kind.SECRET: Column(SECRET, 0.8, is_made),
    Kind.MAYBE_KEY: Column(SECRET, 0.8, is_very_made),
}
_FORMS = (
    *((words, column) for words, column in _WORDS),
    *((label_expression([label]), Column(label.type, label.score, _is_identifier)) for label in LABELS.values()),
    *((label.named, Column(label.type, label.score, _is_number)) for label in LABELS.values() if label.named),
)
_SCAN = PatternSet([rf"(?i)\A(?:{words})\z" for words, _ in _FORMS])
# What passes is counted, unless somebody's account stands beside it.
_ACCOUNT = re.compile(r"user(?:[ _-]?(?:name|id))?|login|account|e-?mail|benutzer(?:name)?|host", re.IGNORECASE)
_PASS = Column(PASSWORD, 0.8, lambda value: not value.isdigit() and _is_password(value))
PLAIN_NAME = Column(PERSON, 0.6, lambda value: _is_name(value) and value[0].isupper())
"""Of columns called `name`, which hold anything, unless others tell of a person."""

TYPES = tuple({column.type.name: column.type for column in (*(one for _, one in _FORMS), *_KINDS.values())}.values())
ENDINGS = (
    r"(?:(?:name|nom|naam|nombre|nome|nummer|number|apellidos?|cognome|code|geburtsdatum|datum|naissance|nacimiento"
    r"|nascita|nascimento|birth|edad|address|street|adresse|anschrift|login|client|cliente|dossier|matricule|matricola"
    r"|expediente|reference|phone|mobile|telefon|handy|fono|telefone|telefoon|celular|password|passwort|senha"
    r"|wachtwoord|kennwort|passphrase|mot de passe|contraseña|mdp|passport|policy|account|card|secret|token)"
    r"|(?:\b|_)(?:id|no|nr|num|dob|age|alter|zip|plz|mrn|ref|tel|fax|ssn|pwd|pw|pass|key))"
)
"""How headers of such columns end (RE2, any case): what wakes the recognizers of tables."""


def columns_of(header: list[str]) -> dict[int, Column]:
    """What the columns hold, by position; none where nothing private is named."""
    columns: dict[int, Column] = {}
    plain, passes = [], []
    for number, text in enumerate(header):
        if text.casefold() == "name":
            plain.append(number)
        elif text.casefold() == "pass":
            passes.append(number)
        elif column := _column(text.rstrip(".")):
            columns[number] = column
    if passes and any(_ACCOUNT.fullmatch(text) for text in header):
        columns |= dict.fromkeys(passes, _PASS)
    if columns:
        columns |= dict.fromkeys(plain, PLAIN_NAME)
    return columns


def _column(header: str) -> Column | None:
    if hits := _SCAN.hits(header.encode()):
        return _FORMS[min(hits)][1]
    kind = kind_of(header)
    return None if kind is None else _KINDS[kind]
