"""Values in an identifier: `card_4539…`, `[CARD_4539…]`, `4539…_backup`.

A search for words takes an underscore for a letter. Code is full of identifiers, so only those count that hold a digit
and are long enough for a value. One label at a time is parted from the rest; a row of them is parted where dresses lie
over each other.
"""

import re
from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.rewrite import Edit
from gateway.detection.recognizer import compile_pattern

_REST = r"[\w.+/=@-]"
_GATE = rf"[A-Za-z0-9]_[A-Za-z.+/=@-]{{0,32}}\d{_REST}{{5}}|\d{_REST}{{5,64}}_[A-Za-z]"
_RUN = compile_pattern(r"[\w.+/=@-]{8,512}")
_LEAD = re.compile(rb"[A-Za-z]+[0-9]?(_)(?=[^_])")
_TAIL = re.compile(rb"(?<=[^_])(_)[A-Za-z]+\Z")
_FIGURES = re.compile(rb"_+(?=\d[\d-]{5,})|(?<=\d{6})_+")
_DIGIT = re.compile(rb"\d")


def _labels(data: bytes, taken: Taken) -> Iterator[Edit]:
    for run in _RUN.finditer(data):
        text, start = run[0], run.start()
        if b"_" not in text or not _DIGIT.search(text):
            continue
        lead, tail = _LEAD.match(text), _TAIL.search(text)
        for label in (lead, tail):
            if label is not None:
                yield Edit(start + label.start(1), start + label.end(1), b" ")


def _figures(data: bytes, taken: Taken) -> Iterator[Edit]:
    return (Edit(*found.span(), b" ") for found in _FIGURES.finditer(data))


DRESS = Deobfuscation("identifiers", Kind.SPLIT, _GATE, _labels, b"_")
FIGURES = Deobfuscation("figures in identifiers", Kind.UNPACK, r"_\d[\d-]{5}|\d{6}_", _figures, b"_")
"""All labels at once, for numbers alone: to a vendor's key the underscores in it belong."""
