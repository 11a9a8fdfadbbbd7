"""Cells of tables whose column header names personal data. In SQL, these are the values of
`INSERT INTO t (name, phone) VALUES (…), (…)`, and the lines after `COPY t (name, phone) FROM stdin;`.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import Match, compile_pattern
from gateway.detection.recognizers._columns import ENDINGS, TYPES, columns_of, in_cells
from gateway.detection.recognizers._samples import with_examples
from gateway.detection.recognizers._tables import copied_rows, inserted_rows, rows_below

# With a separator after the word, or before it at the end of the line.
_AFTER = rf"{ENDINGS}[ \"']{{0,3}}(?:[,;|\t│]|  )"
_LAST = rf"(?:[,;|\t][ \"']{{0,3}}(?:\w+[ _-])?|  ){ENDINGS}[ \"']{{0,3}}\r?\n"
_PREFILTER = f"(?i)(?:{_AFTER}|{_LAST})"
_HEADER = compile_pattern(rf"(?i)(?:{_AFTER}[^\n\d]*\n|{_LAST})")


_INSERT = r"(?i)\binto\s+[^\s(]+\s*\([^()']+\)\s*values\s*\("
_COPY = r"(?i)\bcopy\s+[^\s(]+\s*\([^()']+\)\s*from\s+stdin"


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    for hit in hits:
        find = (partial(rows_below, header=_HEADER), inserted_rows, copied_rows)[hit]
        yield from in_cells(find(normalized.data, columns_of=columns_of))


RECOGNIZERS = (with_examples(__file__, "labelled.table", TYPES, (_PREFILTER, _INSERT, _COPY), _find),)
