"""Values in SQL INSERT statements, by column name: `INSERT INTO t (name, phone) VALUES (…), (…)`."""

from collections.abc import Iterator, Sequence

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._columns import TYPES, columns_of

_PREFILTER = r"(?i)\binto\s+[^\s(]+\s*\([^()']+\)\s*values\s*\("
_COLUMNS = compile_pattern(r"(?i)\binto\s+[^\s(]+\s*\(([^()']+)\)\s*values\s*")
_ROW = compile_pattern(r"\(((?:[^()']|'[^']*'|\([^()']*\))*)\)\s*,?\s*")
_VALUE = compile_pattern(r"\s*(?:N?'((?:[^']|'')*)'|([^,]+))\s*,?")


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for head in _COLUMNS.finditer(data):
        names = [name.strip(' \t\r\n`"[]') for name in head[1].decode("utf-8", "replace").split(",")]
        columns = columns_of(names)
        at = head.end()
        while columns and (row := _ROW.match(data, at)) is not None:
            at = row.end()
            for number, (start, end) in enumerate(_values(data, *row.span(1))):
                column = columns.get(number)
                if column is not None and end > start and column.check(normalized.text(start, end)):
                    yield Match(start, end, column.score, column.type.name)


def _values(data: bytes, at: int, last: int) -> Iterator[tuple[int, int]]:
    """Yields the spans of a row's values, without quotes."""
    while at < last and (value := _VALUE.match(data, at, last)) is not None:
        yield value.span(1) if value.span(1) != (-1, -1) else value.span(2)
        at = value.end()


_HEAD = "INSERT INTO users (id, name, phone, ssn) VALUES "

RECOGNIZERS = (
    FunctionRecognizer(
        "labelled.insert",
        TYPES,
        (_PREFILTER,),
        _find,
        examples=(
            Example(
                f"{_HEAD}(1, 'Jane Doe', '2175550142', '536904399'), (2, 'O''Hara', NULL, '219099998');",
                "219099998",
                "US_SSN",
            ),
            Example(f"{_HEAD}\n  (1, 'Zaphod Beeblebrox', '5550142', NULL);", "Zaphod Beeblebrox", "PERSON"),
            Example("insert into `t` (`login`, `passwd`) values ('jdoe','sunshine')", "sunshine", "PASSWORD"),
        ),
        counter_examples=(
            "INSERT INTO settings (key, value) VALUES ('max_upload', '1048576')",
            "INSERT INTO users (name, phone) VALUES (?, ?)",
            "INSERT INTO users (name, password) VALUES (:name, :password)",
            "INSERT INTO users (name, password) VALUES ('name', 'password')",
            "INSERT INTO items (name, weight) VALUES ('Stone', '4000')",
        ),
    ),
)
