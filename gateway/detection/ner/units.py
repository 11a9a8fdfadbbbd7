"""Splits a text into units, and numbers the features of each: what the student reads.

A unit is a run of letters, of digits or of one sign, or, in scripts that do not separate words, one character. Features
are hashed into the rows of one table of vectors, whose sum stands for the unit. Everything is computed for all
characters at once, which takes a fraction of the time of a tokenizer, and nothing of a text is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gateway.detection.ner.unit_features import (
    BEYOND,
    BREAK,
    CASES,
    FEATURES,
    FIRST_LETTER,
    FIRST_ROW,
    GAPS,
    HALF,
    IDEOGRAPHS_BEYOND,
    LENGTH_CLASSES,
    LENGTHS,
    LISTS,
    MARK,
    OTHER_HALF,
    PRIME,
    SHIFTS,
    SIGN,
    SPACE,
    STEM,
    STYLED,
    UNSPACED,
    UPPER,
    WHITE,
    kind,
    lowercase,
    plain,
)

# Ideographs, their extension A, syllables of Hangul; surrogates and private use. None has another case.
_UNIFORM = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xAC00, 0xD7A4), (0xD800, 0xF900))
_INVERSE = pow(PRIME, -1, 1 << 64)
_FACTOR, _HALF, _OTHER_HALF = np.uint64(PRIME), np.uint64(HALF), np.uint64(OTHER_HALF)
_LENGTH_CLASSES, _CASES, _WHITE = np.array(LENGTH_CLASSES), np.array(CASES), np.array(WHITE)
_OTHER_SCRIPTS = np.array(
    [0x370, 0x1E00, 0x1F00, 0x2000, 0x2C00, 0x2E00, 0x3005, 0xD800, 0xF900, 0xFFFD, 0x20000, 0x40000], np.uint32
)
"""Code points at which letters of other scripts begin and end by turns."""
_STEPS = np.arange(3)[:, None]
_LINES = 2000
_BETWEEN = "\n\0\n"
"""Precedes each text, so that none has an effect on the next."""

type Codes = NDArray[np.uint32]
type Hashes = NDArray[np.uint64]
type Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a text: `starts` and `ends` are code points, `rows` the features `[units, FEATURES]`."""

    starts: Numbers
    ends: Numbers
    rows: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Start and end of each unit."""
        return list(zip(self.starts.tolist(), self.ends.tolist(), strict=True))


class UnitReader:
    """Reads units; `ordinary` and `given` are files of lower-case words, one per line, whose words are told apart."""

    def __init__(self, ordinary: Path, given: Path) -> None:
        self._ordinary = _hashes_of(ordinary.read_text("utf-8"))
        self._given = _hashes_of(given.read_text("utf-8"))

    def read_all(self, texts: Sequence[str]) -> list[Units]:
        """Returns the units of each text, in the time that one text takes."""
        together = self._read(_BETWEEN.join(["", *texts]))
        lengths = np.array([*map(len, texts)], np.int64)
        firsts = np.cumsum(lengths + len(_BETWEEN)) - lengths
        bounds = np.searchsorted(together.starts, (firsts, firsts + lengths)).T.tolist()
        return [
            Units(together.starts[low:high] - first, together.ends[low:high] - first, together.rows[low:high])
            for first, (low, high) in zip(firsts.tolist(), bounds, strict=True)
        ]

    def _read(self, text: str) -> Units:
        codes = _plain(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32))
        kinds = _kinds(codes)
        starts, ends = _bounds(codes, kinds)
        lower = _lowered(codes)
        hashes = _hashes(lower, kinds, starts, ends)
        lists = _contains(self._ordinary, hashes["word"]) + 2 * _contains(self._given, hashes["word"])
        rows = np.empty((len(starts), FEATURES), np.int32)
        for column, name in enumerate(hashes):
            rows[:, column] = (hashes[name] * _FACTOR) >> np.uint64(SHIFTS[name])
        rows[:, -1] = _forms(kinds, starts, ends, lists)
        rows += np.array([*FIRST_ROW.values()], np.int32)
        return Units(starts, ends, rows)


def _hashes_of(words: str) -> Hashes:
    """Returns the hashes of the words that are one unit each, sorted."""
    # In parts, as the memory that large arrays take is not given back.
    lines = words.splitlines()
    parts = [_hashes_of_lines(lines[at : at + _LINES]) for at in range(0, len(lines), _LINES)]
    return np.sort(np.concatenate([np.empty(0, np.uint64), *parts]))


def _hashes_of_lines(lines: Sequence[str]) -> Hashes:
    codes = np.frombuffer("\n".join(lines).encode("utf-32-le"), np.uint32)
    starts, ends = _bounds(codes, _kinds(codes))
    bounded = np.concatenate([[ord("\n")], codes, [ord("\n")]])
    alone = (bounded[starts] == ord("\n")) & (bounded[ends + 1] == ord("\n"))
    (hashes,) = _wholes(_lowered(codes), starts[alone], (ends - starts)[alone])
    return hashes


def _contains(words: Hashes, wanted: Hashes) -> Numbers:
    """Returns 1 where a hash is among the words, else 0."""
    places = np.minimum(np.searchsorted(words, wanted), len(words) - 1)
    result: Numbers = (words[places] == wanted).astype(np.int64)
    return result


def _plain(codes: Codes) -> Codes:
    """Returns the code points with the mathematical letters and digits, which some write names in, as plain ones."""
    styled = (codes >= STYLED.start) & (codes < STYLED.stop)
    if not styled.any():
        return codes
    codes = codes.copy()
    codes[styled] = _plain_letters()[codes[styled] - STYLED.start]
    return codes


def _kinds(codes: Codes) -> NDArray[np.uint8]:
    if codes.max(initial=0) < BEYOND:
        return _tables()[0][codes]
    kinds = _tables()[0][np.minimum(codes, BEYOND)]
    kinds[(codes >= IDEOGRAPHS_BEYOND.start) & (codes < IDEOGRAPHS_BEYOND.stop)] = UNSPACED
    return kinds


def _bounds(codes: Codes, kinds: NDArray[np.uint8]) -> tuple[Numbers, Numbers]:
    """Returns where units start and end."""
    # Letters with their marks are one group, in any case.
    groups = np.where(kinds >= FIRST_LETTER, FIRST_LETTER, kinds)
    marks = kinds == MARK
    if marks.any():
        # A mark belongs to the character before it.
        at = np.arange(len(codes))
        at[marks] = 0
        groups = groups[np.maximum.accumulate(at)]
    same = groups[1:] == groups[:-1]
    same &= (groups[1:] != SIGN) | (codes[1:] == codes[:-1]) | marks[1:]
    same &= (groups[1:] != UNSPACED) | marks[1:]
    edges = np.flatnonzero(~same) + 1
    starts = np.concatenate([[0], edges])
    ends = np.concatenate([edges, [len(codes)]])
    solid = groups[starts] > BREAK
    return starts[solid], ends[solid]


def _lowered(codes: Codes) -> Hashes:
    """Returns the code points in lower case, plus one."""
    if codes.max(initial=0) < BEYOND:
        return _tables()[1][codes]
    return np.where(codes < BEYOND, _tables()[1][np.minimum(codes, BEYOND - 1)], codes.astype(np.uint64) + 1)


def _hashes(lower: Hashes, kinds: NDArray[np.uint8], starts: Numbers, ends: Numbers) -> dict[str, Hashes]:
    """Returns the hashes of each unit's features, without its form."""
    length = ends - starts
    # The first three letters, and the last three backwards; 0 where there are no more.
    padded = np.concatenate([lower, np.zeros(2, np.uint64)])
    there = length > _STEPS
    first, second, third = padded[starts + _STEPS] * there
    last, before, earlier = padded[ends - 1 - _STEPS] * there
    word, stem = _wholes(lower, starts, length, np.minimum(length, STEM))
    around, ending = np.zeros(1, np.uint64), before
    alone = kinds[starts] == UNSPACED
    if alone.any():
        # Such a character says little by itself: its neighbours replace prefix, suffix and stem.
        unspaced = np.concatenate([kinds == UNSPACED, [False, False]])
        second = np.where(alone, padded[ends] * unspaced[ends], second)
        before = np.where(alone, padded[starts - 1] * unspaced[starts - 1], before)
        around, ending = np.where(alone, second + before, 0), np.where(alone, 0, ending)
    return {
        "word": word,
        "stem": _mixed(stem, around),
        "prefix": _mixed(first, second, third),
        "suffix": _mixed(last, before, earlier),
        "ending": _mixed(last, ending),
    }


def _mixed(*parts: Hashes) -> Hashes:
    result = parts[0]
    for part in parts[1:]:
        result = (result ^ (result >> _HALF)) * _FACTOR + part
    return result ^ (result >> _OTHER_HALF)


def _wholes(lower: Hashes, starts: Numbers, *lengths: Numbers) -> list[Hashes]:
    """Returns hashes of as many characters from each start: a polynomial, from differences of its running sum."""
    powers, inverses = (_powers(base, len(lower)) for base in (PRIME, _INVERSE))
    sums = np.zeros(len(lower) + 1, np.uint64)
    np.cumsum(lower * powers, out=sums[1:])
    before, inverse = sums[starts], inverses[starts]
    return [(sums[starts + length] - before) * inverse for length in lengths]


def _powers(base: int, count: int) -> Hashes:
    """Returns the first powers of a number, modulo 2**64."""
    powers = np.full(count, base, np.uint64)
    powers[:1] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _forms(kinds: NDArray[np.uint8], starts: Numbers, ends: Numbers, lists: Numbers) -> Numbers:
    """Returns case, length, the lists that have the word, and the gap before, in one number."""
    length = ends - starts
    case = _case(kinds, starts, ends)
    lengths = _LENGTH_CLASSES[np.minimum(length, len(_LENGTH_CLASSES) - 1)]
    result: Numbers = ((case * LENGTHS + lengths) * LISTS + lists) * GAPS + _gaps(kinds, starts, ends)
    return result


def _case(kinds: NDArray[np.uint8], starts: Numbers, ends: Numbers) -> Numbers:
    """Returns 0 sign, 1 digits, 2 unspaced, 3 uncased, 4 lower, 5 capital, 6 capitals, 7 mixed, 8 one capital."""
    count = _counts(kinds == UPPER)
    upper = count[ends] - count[starts]
    # How many letters are capitals: none, some, one, all, the only one.
    capitals = np.where(upper, 1 + (upper == 1) + 2 * (upper == ends - starts), 0)
    result: Numbers = _CASES[kinds[starts], capitals]
    return result


def _gaps(kinds: NDArray[np.uint8], starts: Numbers, ends: Numbers) -> Numbers:
    """Returns the class of the white space before each unit."""
    before = np.zeros_like(starts)
    before[1:] = ends[:-1]
    breaks = _counts(kinds == BREAK)
    width, lines = np.minimum(starts - before, 2), np.minimum(breaks[starts] - breaks[before], 2)
    result: Numbers = _WHITE[width, lines, (kinds[starts - 1] == SPACE).astype(np.int64)]
    return result


def _counts(flags: NDArray[np.bool_]) -> Numbers:
    """Returns how many flags are set before each place."""
    result = np.zeros(len(flags) + 1, np.int64)
    np.cumsum(flags, out=result[1:])
    return result


@cache
def _tables() -> tuple[NDArray[np.uint8], Hashes]:
    """Returns kind and lower-case form, plus one, by code point."""
    kinds = np.full(BEYOND + 1, SIGN, np.uint8)
    small = np.arange(1, BEYOND + 1, dtype=np.uint64)
    for first, last in _UNIFORM:
        kinds[first:last] = kind(chr(first))
    for code in chain(*(range(last, first) for (_, last), (first, _) in pairwise([(0, 0), *_UNIFORM, (BEYOND, 0)]))):
        kinds[code], small[code] = kind(chr(code)), lowercase(chr(code))
    return kinds, small


@cache
def _plain_letters() -> Codes:
    """Returns the plain forms of the mathematical letters and digits."""
    return np.array([ord(plain(chr(code))) for code in STYLED], np.uint32)


def in_other_scripts(text: str, own: Units) -> NDArray[np.bool_]:
    """Returns which units begin with a letter of a script other than Latin, about which the student decides alone."""
    if text.isascii():
        return np.zeros(len(own), bool)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)[own.starts]
    result: NDArray[np.bool_] = np.searchsorted(_OTHER_SCRIPTS, codes, "right") % 2 == 1
    return result
