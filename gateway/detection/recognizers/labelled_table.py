"""Cells of tables whose column header names personal data. In SQL, these are the values of
`INSERT INTO t (name, phone) VALUES (…), (…)`, and the lines after `COPY t (name, phone) FROM stdin;`. Headers are in
`labelled_table.toml`, with the type of the cells below; each type has its check of a cell.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from gateway.detection.data_files import Expressions, read_toml
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.prefilter import PatternSet
from gateway.detection.recognizer import EntityType, Match, compile_pattern
from gateway.detection.recognizers._dates import BIRTH_DATE, DATE, birth_date
from gateway.detection.recognizers._pattern_table import table_types
from gateway.detection.recognizers._samples import with_examples
from gateway.detection.recognizers._tables import copied_rows, inserted_rows, rows_below
from gateway.detection.recognizers.labelled_id import LABELS, has_enough_digits, label_expression, plausible
from gateway.detection.recognizers.labelled_name import POSSIBLE_LABELS, SURE_LABELS, full_name, is_uncased, likely_name
from gateway.detection.recognizers.payment_card import CREDIT_CARD, CVV
from gateway.detection.recognizers.person_name import PERSON
from gateway.detection.recognizers.phone import PHONE_NUMBER
from gateway.detection.recognizers.postal_address import STREET_ADDRESS
from gateway.detection.recognizers.secrets._names import Kind, kind_of
from gateway.detection.recognizers.secrets._value_checks import NO_VALUE, PASSWORD, SECRET
from gateway.detection.recognizers.secrets._value_classifier import is_chosen, is_made, is_very_made
from gateway.detection.recognizers.secrets._vocabulary import EXPRESSIONS, WORDS
from gateway.detection.recognizers.structured_name import KEYS
from gateway.detection.recognizers.username import USERNAME


class Column(NamedTuple):
    """The type of a column's cells that pass `check`, and their score."""

    type: EntityType
    score: float
    check: Callable[[str], bool]


_TYPES = {
    name: one
    for table in ("age", "bank_account", "date_of_birth", "postal_code", "us_identifiers")
    for name, one in table_types(__file__, table).items()
}
_BIRTH = Expressions(
    read_toml(__file__, "date_of_birth")["parts"] | {"letters": "", "birth_date": "", "birth_month": ""}
)
_DATE = compile_pattern(f"(?i){DATE}")
_BIRTH_DATE = compile_pattern(f"(?i){BIRTH_DATE}|{_BIRTH['in_characters']}")
_POSTCODE = re.compile(r"[A-Z\d][A-Z\d -]{2,9}", re.IGNORECASE)
_PHONE = re.compile(r"[+(]?\d[\d ().\-/]{4,20}\d(?:[ ,]{0,2}(?:x|ext\.?)[ .]?\d{1,6})?")
_BRACKETED = re.compile(r"\[.*\]|\(.*\)|<.*>")


def _of_form(expression: str) -> Callable[[str], bool]:
    form = re.compile(expression)
    return lambda value: form.fullmatch(value) is not None


# Letters, and the vowels that many scripts write as marks.
_has_form_of_name = _of_form(
    r"[^\W\d_](?:[^\W\d_]|['’. ·・\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e-]){0,60}"
)


def _is_name(value: str) -> bool:
    """A single character is a name in scripts without capitals only: `王`."""
    if not _has_form_of_name(value):
        return False
    if is_uncased(value):
        return len(value) == 1 or full_name(value) is not False
    return len(value) > 1


def _is_likely_name(value: str) -> bool:
    return _is_name(value) and (likely_name(value) is not False if is_uncased(value) else value[0].isupper())


def _is_identifier(value: str) -> bool:
    data = value.encode()
    return plausible(data, 0, len(data), explicit=True)


def _is_number(value: str) -> bool:
    return _is_identifier(value) and has_enough_digits(value.encode())


def _is_password(value: str) -> bool:
    if NO_VALUE.fullmatch(value) or value in WORDS["no_password"] or _BRACKETED.fullmatch(value):
        return False
    return is_chosen(value, quoted=True)


_COLUMNS = (
    Column(PERSON, 0.7, _is_name),
    Column(
        _TYPES["DATE_OF_BIRTH"],
        0.85,
        lambda value: _BIRTH_DATE.fullmatch(value.encode()) is not None and birth_date(value) is not False,
    ),
    Column(_TYPES["AGE"], 0.6, lambda value: value.isdigit() and 0 < int(value) <= 120),
    Column(
        STREET_ADDRESS,
        0.7,
        lambda value: len(value) >= 5 and any(map(str.isdigit, value)) and any(map(str.isalpha, value)),
    ),
    Column(
        _TYPES["POSTAL_CODE"],
        0.8,
        lambda value: _POSTCODE.fullmatch(value) is not None and any(map(str.isdigit, value)),
    ),
    Column(USERNAME, 0.6, _of_form(r"@?\w[\w.@+-]{1,60}")),
    Column(
        PHONE_NUMBER,
        0.95,
        lambda value: _PHONE.fullmatch(value) is not None and _DATE.fullmatch(value.encode()) is None,
    ),
    Column(CREDIT_CARD, 0.8, _of_form(r"\d(?:[ -]?\d){12,18}")),
    Column(_TYPES["BANK_BRANCH_CODE"], 0.8, _of_form(r"\d{2}([ -]?)\d{2}\1\d{2}|\d{8}")),
    Column(CVV, 0.7, lambda value: value.isdigit() and 3 <= len(value) <= 4),
    Column(_TYPES["US_SSN"], 0.9, _of_form(r"\d{3}([ .-]?)\d{2}\1\d{4}")),
    Column(PASSWORD, 0.8, _is_password),
    Column(SECRET, 0.8, is_made),
)
_TABLE = read_toml(__file__)
_OTHERS = {**EXPRESSIONS, **KEYS, "surely": SURE_LABELS, "birth": _BIRTH["cue"]}
_EXPRESSIONS = Expressions({**_OTHERS, **_TABLE["parts"], **_TABLE["headers"]})
# Other names of secrets that `kind_of` recognizes: `smtp_password`, `Secret access key`.
_KINDS = {
    Kind.PASSWORD: Column(PASSWORD, 0.8, _is_password),
    Kind.SECRET: Column(SECRET, 0.8, is_made),
    Kind.MAYBE_KEY: Column(SECRET, 0.8, is_very_made),
}
_FORMS = (
    *((_EXPRESSIONS[column.type.name], column) for column in _COLUMNS),
    *((label_expression([label]), Column(label.type, label.score, _is_identifier)) for label in LABELS.values()),
    *((label.named, Column(label.type, label.score, _is_number)) for label in LABELS.values() if label.named),
)
_SCAN = PatternSet([rf"(?i)\A(?:{words})\z" for words, _ in _FORMS])
# A column `pass` holds passwords only in a table with a column for the account; otherwise it counts successes.
_ACCOUNT = re.compile(r"user(?:[ _-]?(?:name|id))?|login|account|e-?mail|benutzer(?:name)?|host", re.IGNORECASE)
_PASS = Column(PASSWORD, 0.8, lambda value: not value.isdigit() and _is_password(value))
_PLAIN = re.compile(rf"name|{_TABLE['plain']}|{POSSIBLE_LABELS}", re.IGNORECASE)
_PLAIN_NAME = Column(PERSON, 0.6, _is_likely_name)
"""For columns called `name` in any language, which hold names of persons only in a table with other personal data."""

TYPES = tuple({column.type.name: column.type for column in (*(one for _, one in _FORMS), *_KINDS.values())}.values())
# With a separator after the word, or before it at the end of the line.
_AFTER = rf"{_EXPRESSIONS['endings']}[ \"']{{0,3}}(?:[,;|\t│]|  )"
_LAST = rf"(?:[,;|\t][ \"']{{0,3}}(?:\w+[ _-])?|  ){_EXPRESSIONS['endings']}[ \"']{{0,3}}\r?\n"
_PREFILTER = f"(?i)(?:{_AFTER}|{_LAST})"
_HEADER = compile_pattern(rf"(?i)(?:{_AFTER}[^\n\d]*\n|{_LAST})")


_INSERT = r"(?i)\binto\s+[^\s(]+\s*\([^()']+\)\s*values\s*\("
_COPY = r"(?i)\bcopy\s+[^\s(]+\s*\([^()']+\)\s*from\s+stdin"


def _columns_of(header: list[str]) -> dict[int, Column]:
    """Returns what the columns hold, by position. Empty if no header names personal data."""
    columns: dict[int, Column] = {}
    plain, passes = [], []
    for number, text in enumerate(header):
        if _PLAIN.fullmatch(text):
            plain.append(number)
        elif text.casefold() == "pass":
            passes.append(number)
        elif column := column_of(text.rstrip(".")):
            columns[number] = column
    if passes and any(_ACCOUNT.fullmatch(text) for text in header):
        columns |= dict.fromkeys(passes, _PASS)
    if columns:
        columns |= dict.fromkeys(plain, _PLAIN_NAME)
    return columns


def column_of(header: str) -> Column | None:
    """Returns what a column or record holds, by the words that name it."""
    if hits := _SCAN.hits(header.encode()):
        return _FORMS[min(hits)][1]
    kind = kind_of(header)
    return None if kind is None else _KINDS[kind]


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        find = (partial(rows_below, header=_HEADER), inserted_rows, copied_rows)[hit]
        for columns, cells in find(normalized.data, columns_of=_columns_of):
            for number, cell in enumerate(cells):
                column = columns.get(number)
                if column is not None and cell.text and column.check(cell.text):
                    yield Match(cell.start, cell.end, column.score, column.type.name)


RECOGNIZERS = (with_examples(__file__, "labelled.table", TYPES, (_PREFILTER, _INSERT, _COPY), _find, by_label=True),)
