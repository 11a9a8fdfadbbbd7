"""Numbers of persons, taxpayers, patients, drivers, passports and companies in more than seventy countries.

One pass finds everything with the form of a number in the tables of `_numbers/`. The validator (mostly python-stdnum's)
and the context words decide: a number whose check one in ten random numbers would pass requires a context word.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import re2

from gateway.detection.entropy import inside_blob
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import (
    CONTEXT_AFTER,
    CONTEXT_BEFORE,
    Example,
    FunctionRecognizer,
    Match,
    compile_pattern,
)
from gateway.detection.recognizers._numbers.number import CATEGORIES, NUMBERS, Check
from gateway.detection.recognizers.labelled_id import LABELS
from gateway.detection.recognizers.payment_card import grouped_card

_ANNOUNCED, _ANNOUNCED_UNCHECKED = 0.95, 0.75
"""Scores of a number near its own context words."""
_MISTYPED = 0.55
"""Score of a number in the form of a person's number that directly follows its words, but fails its check."""
_CATEGORY_ANNOUNCED, _CATEGORY_ANNOUNCED_UNCHECKED = 0.7, 0.55
"""Scores of a number near context words of its category."""
LABEL_SCORES = frozenset({_ANNOUNCED_UNCHECKED, _CATEGORY_ANNOUNCED_UNCHECKED, _MISTYPED})
"""Scores of numbers that only their label confirms."""
_LIKELY = 0.5
_SOME_NUMBER = LABELS["ID_NUMBER"].type
_OF_PERSONS = frozenset({"government_id", "health"})
_REACH = 80
"""Bytes of the words that a mistyped number must follow."""
_MIN_UNANNOUNCED = 0.2
"""Below this score, a number without context words is not validated, except in a text too short for context, such as a
form field."""
_SHORT_TEXT = 32

# Maps letters to A and digits to 9, keeps signs that occur inside numbers, and maps all else to a boundary.
_SIGNS = b" -./:+()_"
_TO_SHAPE = bytes(
    57 if 48 <= byte <= 57 else 65 if chr(byte).isalpha() and byte < 128 else byte if byte in _SIGNS else 10
    for byte in range(256)
)
_DROP = str.maketrans("", "", " -./:_+()")
_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_DIGITS = frozenset(b"0123456789")
_JOINS = frozenset(b"-._/+\\")
_SHAPED = frozenset(b"9A")
_MAX_TOKEN = 20
_TOKEN = re.compile(rb"[9A]+")

type Checked = dict[tuple[int, str], bool]
"""Validator results by row and value, for one text, because values may repeat."""


class _Fit(NamedTuple):
    """A row that a shape may belong to if the literals (position, upper case, lower case) match."""

    row: int
    literals: tuple[tuple[int, int, int], ...]
    score: float


class _Shape(NamedTuple):
    """The rows that a shape may belong to, those among them to validate without context, and the indices of their
    context words.
    """

    fits: tuple[_Fit, ...]
    strong: tuple[_Fit, ...]
    words: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows, compiled for searching. `words` has an expression for each row, then one for each category."""

    shapes: dict[bytes, _Shape]
    finder: Expression
    strong_finder: Expression
    """Finds only numbers that need no context words. Used for texts without any."""
    words: "re2.Set"
    checks: tuple[Check | None, ...]
    proves: tuple[bool, ...]
    categories: tuple[int, ...]


def _tree(shapes: Iterable[str]) -> str:
    """Returns a compact expression for any of the shapes, as a prefix tree."""
    rests: dict[str, list[str]] = {}
    for shape in shapes:
        if shape:
            rests.setdefault(shape[0], []).append(shape[1:])
    branches = []
    for first, after in sorted(rests.items()):
        tail = _tree(after)
        branches.append(re2.escape(first) + (f"(?:{tail})?" if tail and "" in after else tail))
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})" if branches else ""


def _finder(shapes: Set[str]) -> Expression:
    """Returns an expression that matches the start of a possible number up to the end of the longest one."""
    options = re2.Options()
    options.longest_match = True
    options.never_capture = True
    open_ended = {shape for shape in shapes if not shape[-1].isalnum()}
    signed = {shape for shape in shapes if not shape[0].isalnum()}
    plain = shapes - open_ended - signed
    alternatives = [rf"\b{_tree(plain)}\b", *([rf"\b{_tree(open_ended)}"] if open_ended else [])]
    alternatives += [rf"{_tree(signed)}\b"] if signed else []
    return Expression(re2.compile("|".join(alternatives), options))


# Something that every shape contains, as short as possible: an exact prefilter would be large and slow.
_PREFILTER = (
    r"[0-9]{5}"
    r"|[0-9]{2,4}[ \-./:][0-9]{2,4}[ \-./:][0-9]|[0-9]{3,4}[ \-][0-9]{4}|[0-9][.\-][0-9]{3}[.\-][0-9]"
    r"|[0-9]{2}[ .\-][A-Za-z]{1,3}[ .\-][0-9]{2}|[A-Za-z]{3}[ \-][0-9]{3} ?[A-Za-z]{2}\b"
    r"|[0-9][A-Za-z]{1,7}[0-9]|[A-Za-z]{2}[0-9]{3}|[0-9]{3}[A-Za-z]{2}"
)


@cache
def _table() -> _Table:
    """Builds the table once, on first use."""
    fits: dict[bytes, list[_Fit]] = {}
    for row, number in enumerate(NUMBERS):
        for shape, literals, score in number.shapes():
            places = tuple((at, ord(char), ord(char.lower())) for at, char in literals)
            fits.setdefault(shape.encode(), []).append(_Fit(row, places, score))
    words = re2.Set.SearchSet(re2.Options())
    categories = list(CATEGORIES)
    category_of = tuple(len(NUMBERS) + categories.index(number.category) for number in NUMBERS)
    for phrases in (*(number.words for number in NUMBERS), *(one.words for one in CATEGORIES.values())):
        words.Add(_announcing(phrases))
    words.Compile()
    return _Table(
        shapes={
            shape: _Shape(
                tuple(some),
                tuple(fit for fit in some if fit.score >= _MIN_UNANNOUNCED),
                frozenset(word for fit in some for word in (fit.row, category_of[fit.row])),
            )
            for shape, some in fits.items()
        },
        finder=_finder({shape.decode() for shape in fits}),
        strong_finder=_finder(
            {shape.decode() for shape, some in fits.items() if any(fit.score >= _MIN_UNANNOUNCED for fit in some)}
        ),
        words=words,
        checks=tuple(number.is_valid() for number in NUMBERS),
        proves=tuple(number.proves for number in NUMBERS),
        categories=category_of,
    )


@cache
def _prefix_shapes(longest: bytes) -> tuple[tuple[int, _Shape], ...]:
    """Returns the shapes that are a prefix of `longest`, including itself, longest first, with their lengths."""
    shapes = _table().shapes
    sizes = range(len(longest), 0, -1)
    return tuple((size, shapes[part]) for size in sizes if (part := longest[:size]) in shapes)


def _announcing(phrases: Sequence[str]) -> str:
    """Returns an expression for any of `phrases`. Those of up to four letters match whole words only."""
    parts = []
    for phrase in phrases:
        before = r"(?:\b|_)" if phrase[0].isascii() and phrase[0].isalnum() else ""
        after = r"(?:\b|_)" if len(phrase) <= 4 and phrase[-1].isascii() and phrase[-1].isalnum() else ""
        flags = "" if phrase.isupper() and phrase.isascii() else "(?i)"
        parts.append(f"(?:{flags}{before}{re2.escape(phrase).replace(r'\ ', r'[\s_-]?')}{after})")
    return "|".join(parts)


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    table, data = _table(), normalized.data
    text = data.translate(_TO_SHAPE) + b"\n"
    words_found = frozenset(table.words.Match(data) or ())
    checked: Checked = {}
    finder = table.finder if words_found or len(data) <= _SHORT_TEXT else table.strong_finder
    at = 0
    while match := finder.search(text, at):
        start = match.start()
        at = grouped_card(data, start)
        if at:
            continue
        for length, shape in _prefix_shapes(match[0]) if _starts_cleanly(data, start) else ():
            end = start + length
            if text[end] in _SHAPED:
                continue
            for found in _matches(normalized, start, end, shape, words_found, checked):
                yield found
                if found.score >= _LIKELY:
                    at = end
            if at:
                break
        if not at:
            token = _TOKEN.match(text, start)
            at = start + 1 if token is None else token.end()


def _matches(
    normalized: NormalizedText, start: int, end: int, shape: _Shape, words_found: frozenset[int], checked: Checked
) -> Iterator[Match]:
    """Yields what `data[start:end]` may be. `words_found`: the indices of context words anywhere in the text."""
    table, data = _table(), normalized.data
    near: Collection[int] = ()
    fits = shape.strong if len(data) > _SHORT_TEXT else shape.fits
    announced = not words_found.isdisjoint(shape.words)
    if not (fits or announced) or not _ends_cleanly(data, end) or inside_blob(data, start, end):
        return
    if announced:
        around = data[max(0, start - CONTEXT_BEFORE) : start] + b"\n" + data[end : end + CONTEXT_AFTER]
        near = shape.words.intersection(table.words.Match(around) or ())
    value = ""
    for row, literals, score in shape.fits if near else fits:
        own, kind = row in near, table.categories[row] in near
        if not (own or kind or score >= _MIN_UNANNOUNCED or len(data) <= _SHORT_TEXT):
            continue
        if not all(data[start + place] in (capital, small) for place, capital, small in literals):
            continue
        check = table.checks[row]
        if check is not None:
            value = value or normalized.text(start, end).upper()
            if (row, value) not in checked:
                checked[row, value] = check(value if NUMBERS[row].signed else value.translate(_DROP))
            if not checked[row, value]:
                of_person = CATEGORIES[NUMBERS[row].category].group in _OF_PERSONS
                if own and of_person and _directly_before(row).search(data[max(0, start - _REACH) : start]):
                    yield Match(start, end, _MISTYPED, _SOME_NUMBER.name)
                continue
        if own:
            score = max(score, _ANNOUNCED if table.proves[row] else _ANNOUNCED_UNCHECKED)  # noqa: PLW2901
        elif kind:
            score = max(score, _CATEGORY_ANNOUNCED if table.proves[row] else _CATEGORY_ANNOUNCED_UNCHECKED)  # noqa: PLW2901
        yield Match(start, end, score, NUMBERS[row].name)


@cache
def proven_types() -> frozenset[str]:
    """Returns the types whose numbers all passed a check that few other numbers pass."""
    return frozenset(each.name for each in NUMBERS) - {each.name for each in NUMBERS if not each.proves}


@cache
def _directly_before(row: int) -> Expression:
    return compile_pattern(rf"(?:{_announcing(NUMBERS[row].words)})[^\d\n.,;()]{{0,16}}$")


def _starts_cleanly(data: bytes, start: int) -> bool:
    """Returns whether no longer number, word, path, UUID or amount starts before `start`."""
    if not start:
        return True
    before = data[start - 1]
    return not (before in _WORD or before in b"$@" or (before in _JOINS and _token_has_digit(data, start - 2, -1)))


def _ends_cleanly(data: bytes, end: int) -> bool:
    """Returns whether no longer number, word, path, UUID or amount continues after `end`."""
    if end == len(data):
        return True
    after, second = data[end], data[end + 1] if end + 1 < len(data) else 32
    if after in b"%@" or ((after in _JOINS or after == 58) and second in _DIGITS):
        return False
    return after not in b"-_" or not _token_has_digit(data, end + 1, 1)


def _token_has_digit(data: bytes, at: int, step: int) -> bool:
    """Returns whether the word that starts (or, backwards, ends) at `at` contains a digit."""
    for _ in range(_MAX_TOKEN):
        if not 0 <= at < len(data) or data[at] not in _WORD:
            return False
        if data[at] in _DIGITS:
            return True
        at += step
    return False


RECOGNIZERS = (
    FunctionRecognizer(
        "government_numbers",
        (*{number.name: number.type for number in NUMBERS}.values(), _SOME_NUMBER),
        (_PREFILTER,),
        _find,
        examples=(
            *(Example(f"{number.words[0]} {number.example}", number.example, number.name) for number in NUMBERS),
            Example("mă numesc Ioana, CNP 2890512223344", "2890512223344", "ID_NUMBER"),
            Example("رقم الهوية 1023456789", "1023456789", "ID_NUMBER"),
        ),
        counter_examples=(
            "The build 123456789 was green again after that.",
            "123e4567-e89b-12d3-a456-426614174000",
            "5d41402abc4b2a76b9719d911017c592",
            "at 2024-01-15T12:30:00Z",
        ),
    ),
)
