"""Values in SQL by column name: `INSERT INTO t (name, phone) VALUES (…), (…)`, and in dumps of PostgreSQL, where cells
separated by tabs follow `COPY t (name, phone) FROM stdin;`.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Example, FunctionRecognizer, Match
from gateway.detection.recognizers._columns import TYPES, columns_of, in_cells
from gateway.detection.recognizers._tables import copied_rows, inserted_rows

_PREFILTER = r"(?i)\binto\s+[^\s(]+\s*\([^()']+\)\s*values\s*\("
_COPY_PREFILTER = r"(?i)\bcopy\s+[^\s(]+\s*\([^()']+\)\s*from\s+stdin"


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    return chain.from_iterable(in_cells((inserted_rows, copied_rows)[hit](normalized.data, columns_of)) for hit in hits)


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
