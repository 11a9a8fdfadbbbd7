"""Values in SQL by column name: `INSERT INTO t (name, phone) VALUES (…), (…)`, and in dumps of PostgreSQL, where cells
separated by tabs follow `COPY t (name, phone) FROM stdin;`.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._columns import TYPES, columns_of
from gateway.detection.recognizers._tables import column_names, inserted_rows

_PREFILTER = r"(?i)\binto\s+[^\s(]+\s*\([^()']+\)\s*values\s*\("
_COPY_PREFILTER = r"(?i)\bcopy\s+[^\s(]+\s*\([^()']+\)\s*from\s+stdin"
_COPY = compile_pattern(r"(?i)\bcopy\s+[^\s(]+\s*\(([^()']+)\)\s*from\s+stdin[^\n]*\n")


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    return chain.from_iterable((_inserted, _copied)[hit](normalized) for hit in hits)


def _copied(normalized: NormalizedText) -> Iterator[Match]:
    data = normalized.data
    for head in _COPY.finditer(data):
        columns, width = columns_of(column_names(head[1])), head[1].count(b",") + 1
        at = head.end()
        while columns and at < len(data):
            start, end = at, data.find(b"\n", at)
            at = len(data) if end < 0 else end + 1
            cells = data[start:at].rstrip(b"\r\n").split(b"\t")
            if len(cells) != width:
                break
            for number, cell in enumerate(cells):
                column, end = columns.get(number), start + len(cell)
                if column is not None and cell and column.check(normalized.text(start, end)):
                    yield Match(start, end, column.score, column.type.name)
                start = end + 1


def _inserted(normalized: NormalizedText) -> Iterator[Match]:
    for columns, cells in inserted_rows(normalized.data, columns_of):
        for number, cell in enumerate(cells):
            column = columns.get(number)
            if column is not None and cell.text and column.check(cell.text):
                yield Match(cell.start, cell.end, column.score, column.type.name)


_HEAD = "INSERT INTO users (id, name, phone, ssn) VALUES "

_DUMP = "COPY public.users (id, first_name, dob, phone) FROM stdin;\n"

RECOGNIZERS = (
    FunctionRecognizer(
        "labelled.insert",
        TYPES,
        (_PREFILTER, _COPY_PREFILTER),
        _find,
        examples=(
            Example(
                f"{_HEAD}(1, 'Jane Doe', '2175550142', '536904399'), (2, 'O''Hara', NULL, '219099998');",
                "219099998",
                "US_SSN",
            ),
            Example(f"{_HEAD}\n  (1, 'Zaphod Beeblebrox', '5550142', NULL);", "Zaphod Beeblebrox", "PERSON"),
            Example("insert into `t` (`login`, `passwd`) values ('jdoe','sunshine')", "sunshine", "PASSWORD"),
            Example(f"{_DUMP}7\tJane Doe\t1985-12-04\t217550142\n\\.\n", "1985-12-04", "DATE_OF_BIRTH"),
            Example(f"{_DUMP}7\t\\N\t\\N\t217550142\n8\tZaphod\t\\N\t\\N\n\\.\n", "Zaphod", "PERSON"),
        ),
        counter_examples=(
            "INSERT INTO settings (key, value) VALUES ('max_upload', '1048576')",
            "INSERT INTO users (name, phone) VALUES (?, ?)",
            "INSERT INTO users (name, password) VALUES (:name, :password)",
            "INSERT INTO users (name, password) VALUES ('name', 'password')",
            "COPY public.settings (key, value) FROM stdin;\nmax_upload\t1048576\n\\.\n",
            f"{_DUMP}\\N\t\\N\t\\N\t\\N\n\\.\n",
            "INSERT INTO items (name, weight) VALUES ('Stone', '4000')",
        ),
    ),
)
