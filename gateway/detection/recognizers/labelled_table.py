"""Columns of tables whose header says what stands below: CSV and other separated values, Markdown tables. A header is
a line of short cells without digits, and the lines below it have as many.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gateway.detection.recognizer import EntityType, Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._dates import DATE, birth_date
from gateway.detection.recognizers._id_labels import LABELS, announcing
from gateway.detection.recognizers._id_values import plausible
from gateway.detection.recognizers.age import AGE
from gateway.detection.recognizers.date_of_birth import DATE_OF_BIRTH
from gateway.detection.recognizers.person_name import PERSON
from gateway.detection.recognizers.postal_address import STREET_ADDRESS
from gateway.detection.recognizers.postal_code import POSTAL_CODE
from gateway.detection.recognizers.username import USERNAME
from gateway.detection.view import View

Check = Callable[[str], bool]


class _Column(NamedTuple):
    type: EntityType
    score: float
    check: Check


class _Cell(NamedTuple):
    start: int
    end: int
    text: str


_LONGEST_HEADER = 60
_DATE = compile_pattern(f"(?i){DATE}")
_NAME = re.compile(r"[^\W\d_](?:[^\W\d_]|['’. -]){1,60}")
_IN_CODE = re.compile(r"[(){}\[\]=<>:]")
_POSTCODE = re.compile(r"[A-Z\d][A-Z\d -]{2,9}", re.IGNORECASE)
_USER = re.compile(r"@?\w[\w.@+-]{1,60}")


def _is_birth_date(value: str) -> bool:
    return _DATE.fullmatch(value.encode()) is not None and birth_date(value) is not False


def _is_identifier(value: str) -> bool:
    data = value.encode()
    return plausible(data, 0, len(data), explicit=True)


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


_PERSON_WORDS = (
    r"(?:first|last|middle|given|family|full|sur|fore|maiden|patient|customer|client|employee|student|contact"
    r"|cardholder|account"
    r"|holder|vor|nach|familien)[ _-]?name|nom|pr[ée]nom|nombre|apellidos?|cognome|nome|sobrenome|apelido|naam"
    r"|voornaam|achternaam"
)
_WORDS: tuple[tuple[str, _Column], ...] = (
    (_PERSON_WORDS, _Column(PERSON, 0.7, _is_name)),
    (
        r"d\.?o\.?b\.?|(?:date[ _-]?of[ _-]?birth|birth[ _-]?date|birthday|born)|geburts(?:datum|tag)"
        r"|date[ _]de[ _]naissance"
        r"|fecha[ _](?:de[ _])?nac\w*|data[ _]di[ _]nascita|data[ _](?:de[ _])?nasc\w*|geboortedatum",
        _Column(DATE_OF_BIRTH, 0.85, _is_birth_date),
    ),
    (r"age|alter|âge|edad|et[àa]|idade|leeftijd", _Column(AGE, 0.6, _is_age)),
    (
        r"(?:(?:street|home|postal|mailing|billing|shipping)[ _-]?)?address(?:[ _-]?(?:line)?[ _-]?[12])?|street"
        r"|stra(?:ß|ss)e"
        r"|anschrift|adresse|adres|direcci[óo]n|domicilio|indirizzo|endere[çc]o|morada",
        _Column(STREET_ADDRESS, 0.7, _is_address),
    ),
    (
        r"(?:zip|postal|post)[ _-]?(?:code)?|plz|postleitzahl|code[ _]postal|c[óo]digo[ _]postal|cap|cep|postnummer",
        _Column(POSTAL_CODE, 0.8, _is_postcode),
    ),
    (
        r"user[ _-]?(?:name|id)|login|handle|nick(?:name)?|benutzername|usuario"
        r"|pseudo",
        _Column(USERNAME, 0.6, _is_username),
    ),
)
_NAMED = tuple((compile_pattern(f"(?i)(?:{words})"), column) for words, column in _WORDS)
_IDENTIFIED = tuple(
    (compile_pattern(f"(?i)(?:{announcing([label])})"), _Column(label.type, label.score, _is_identifier))
    for label in LABELS
)
_PLAIN_NAME = _Column(PERSON, 0.6, lambda value: _is_name(value) and value[0].isupper())
# The words that the cell of a header ends with, between separators.
_HEADED = (
    r"(?i:(?:name|nom|naam|nombre|nome|nummer|number|apellidos?|cognome|code|geburtsdatum|datum|naissance"
    r"|nacimiento|nascita"
    r"|nascimento|birth|edad|address|street|adresse|anschrift|login|client|cliente|dossier|matricule|matricola"
    r"|expediente"
    r"|reference)|(?:\b|_)(?:id|no|nr|num|dob|age|alter|zip|plz|mrn|ref))"
)
_GATE = rf"{_HEADED}[ \"']{{0,3}}[,;|\t]"
_HEADER = compile_pattern(rf"{_GATE}[^\n\d]*\n")


def _find(view: View, hits: Sequence[int]) -> Iterator[Match]:
    data = view.data
    at = 0
    while found := _HEADER.search(data, at):
        line_end = found.end() - 1
        line_start = data.rfind(b"\n", at, found.start() + 1) + 1 or at
        at = found.end()
        sign = _separator(data[line_start:line_end])
        header = _cells(view, line_start, line_end, sign)
        if columns := _columns(header):
            rows = list(_rows(data, at, sign, len(header)))
            for start, end in rows:
                yield from _row(_cells(view, start, end, sign), columns)
            at = rows[-1][1] if rows else at


def _separator(line: bytes) -> bytes:
    return max((b"\t", b"|", b";", b","), key=line.count)


def _cells(view: View, start: int, end: int, sign: bytes) -> list[_Cell]:
    """The cells of a line without the quotes and spaces around them; a separator between quotes separates nothing."""
    line = view.data[start:end].rstrip(b"\r")
    cells = []
    at = 0
    while at <= len(line):
        quoted = line[at : at + 1] == b'"'
        close = line.find(b'"', at + 1) if quoted else -1
        stop = line.find(sign, close if close > 0 else at)
        stop = len(line) if stop < 0 else stop
        bare = line[at:stop].strip(b" \t\"'*`")
        first = start + at + max(line[at:stop].find(bare), 0)
        cells.append(_Cell(first, first + len(bare), bare.decode("utf-8", "replace")))
        at = stop + 1
    return cells


def _columns(header: list[_Cell]) -> dict[int, _Column]:
    """By position; none if the line is no header."""
    if len(header) < 2 or any(_IN_CODE.search(cell.text) for cell in header):
        return {}
    if any(len(cell.text) > _LONGEST_HEADER or len(cell.text.split()) > 5 for cell in header):
        return {}
    columns: dict[int, _Column] = {}
    plain = []
    for number, cell in enumerate(header):
        text = cell.text.encode()
        if cell.text.casefold() == "name":
            plain.append(number)
        elif column := next((column for words, column in (*_NAMED, *_IDENTIFIED) if words.fullmatch(text)), None):
            columns[number] = column
    if columns:
        columns |= dict.fromkeys(plain, _PLAIN_NAME)
    return columns


def _rows(data: bytes, at: int, sign: bytes, width: int) -> Iterator[tuple[int, int]]:
    """The lines from `at` on that have as many cells as the header."""
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if data.count(sign, at, end) < width - 1:
            return
        yield at, end
        at = end + 1


def _row(cells: list[_Cell], columns: dict[int, _Column]) -> Iterator[Match]:
    for number, column in columns.items():
        if number < len(cells) and cells[number].text and column.check(cells[number].text):
            yield Match(cells[number].start, cells[number].end, column.score, column.type.name)


RECOGNIZERS = (
    FunctionRecognizer(
        "labelled.table",
        (*(column.type for _, column in _NAMED), *(label.type for label in LABELS)),
        (_GATE,),
        _find,
        examples=(
            Example("id,first_name,dob\n1,Zaphod,1985-12-04\n", "Zaphod"),
            Example("id,first_name,dob\n1,Zaphod,1985-12-04\n", "1985-12-04", DATE_OF_BIRTH.name),
            Example("name;customer_id;city\nJane Doe;K-48213;Rome", "K-48213", "CUSTOMER_ID"),
            Example("| Patient ID | Age |\n|---|---|\n| 004812 | 57 |\n", "004812", "MEDICAL_RECORD_NUMBER"),
            Example("Kundennummer\tStraße\n4711223\tAm Markt 3\n", "Am Markt 3", STREET_ADDRESS.name),
        ),
        counter_examples=(
            "item,number,price\napple,12,3.50\n",
            "We need a name, an age, and a number.\nThat is all, really, 12.",
            "name,version\nnumpy,2.1.0\n",
        ),
    ),
)
