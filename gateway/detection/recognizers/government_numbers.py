"""Numbers of persons, taxpayers, patients, drivers, passports and companies in more than seventy countries.

One scan finds every stretch that has the form of some number in the tables of `_numbers/`. What decides is the
check of the number (mostly python-stdnum's) and the words around it: a number whose check one in ten random
numbers would pass is nothing unless a word announces it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import NamedTuple

import re2

from gateway.detection.entropy import inside_blob
from gateway.detection.normalized_text import View
from gateway.detection.re2_expression import Expression
from gateway.detection.recognizer import (
    CONTEXT_AFTER,
    CONTEXT_BEFORE,
    Example,
    FunctionRecognizer,
    Match,
)
from gateway.detection.recognizers._numbers import (
    africa_oceania,
    americas,
    asia,
    east_europe,
    middle_east,
    north_america,
    north_europe,
    south_europe,
    west_europe,
)
from gateway.detection.recognizers._numbers.checks import varied, varied_digits
from gateway.detection.recognizers._numbers.number import Check, Number, phrases_of
from gateway.detection.recognizers.payment_card import grouped_card

NUMBERS: tuple[Number, ...] = tuple(
    chain(
        west_europe.NUMBERS,
        south_europe.NUMBERS,
        north_europe.NUMBERS,
        east_europe.NUMBERS,
        north_america.NUMBERS,
        americas.NUMBERS,
        asia.NUMBERS,
        middle_east.NUMBERS,
        africa_oceania.NUMBERS,
    )
)

_ANNOUNCED, _ANNOUNCED_UNCHECKED = 0.95, 0.75
"""Scores of a number whose own words stand near it."""
_KIND_ANNOUNCED, _KIND_ANNOUNCED_UNCHECKED = 0.7, 0.55
"""Scores where the words fit any country's number of that kind."""
_LIKELY = 0.5
_WEAK = 0.2
"""A number that is less sure than this is not worth its check, except in a text too short to announce anything,
such as a field of a form."""
_SHORT_TEXT = 32

# Letters and digits become one of each, signs that occur inside numbers stay, all else is a border.
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
_LONGEST_TOKEN = 20
_TOKEN = re.compile(rb"[9A]+")

type Checked = dict[tuple[int, str], bool]
"""What the check of a row said of a value, for one text: a text may repeat itself."""


class _Fit(NamedTuple):
    """A row that may be what a shape stands for, if the literals (place, capital, small letter) are there."""

    row: int
    literals: tuple[tuple[int, int, int], ...]
    score: float


class _Shape(NamedTuple):
    """What a shape may stand for; which of it is worth a check although nothing announces it; and the words
    (by index) that would announce some of it.
    """

    fits: tuple[_Fit, ...]
    strong: tuple[_Fit, ...]
    words: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows, made ready for searching. `words` has an expression for each row, then one for each kind."""

    shapes: dict[bytes, _Shape]
    finder: Expression
    strong_finder: Expression
    """Only numbers that need no words: for texts in which nothing announces any."""
    words: "re2.Set"
    checks: tuple[Check | None, ...]
    proves: tuple[bool, ...]
    kinds: tuple[int, ...]


def _tree(shapes: Iterable[str]) -> str:
    """An expression for any of the shapes, branching where they differ: small, and quick to run."""
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
    """An expression that finds where some number may begin, and where the longest that may be one ends."""
    options = re2.Options()
    options.longest_match = True
    options.never_capture = True
    open_ended = {shape for shape in shapes if not shape[-1].isalnum()}
    signed = {shape for shape in shapes if not shape[0].isalnum()}
    plain = shapes - open_ended - signed
    kinds = [rf"\b{_tree(plain)}\b", *([rf"\b{_tree(open_ended)}"] if open_ended else [])]
    kinds += [rf"{_tree(signed)}\b"] if signed else []
    return Expression(re2.compile("|".join(kinds), options))


# What every shape has somewhere, in as few words as possible: an exact gate would be large, and slow for all.
_GATE = (
    r"[0-9]{5}"
    r"|[0-9]{2,4}[ \-./:][0-9]{2,4}[ \-./:][0-9]|[0-9]{3,4}[ \-][0-9]{4}|[0-9][.\-][0-9]{3}[.\-][0-9]"
    r"|[0-9]{2}[ .\-][A-Za-z]{1,3}[ .\-][0-9]{2}|[A-Za-z]{3}[ \-][0-9]{3} ?[A-Za-z]{2}\b"
    r"|[0-9][A-Za-z]{1,7}[0-9]|[A-Za-z]{2}[0-9]{3}|[0-9]{3}[A-Za-z]{2}"
)


@cache
def _table() -> _Table:
    """Built once, at the first use."""
    fits: dict[bytes, list[_Fit]] = {}
    for row, number in enumerate(NUMBERS):
        for shape, literals, score in number.written():
            places = tuple((at, ord(char), ord(char.lower())) for at, char in literals)
            fits.setdefault(shape.encode(), []).append(_Fit(row, places, score))
    words = re2.Set.SearchSet(re2.Options())
    kinds = list(dict.fromkeys(number.kind for number in NUMBERS))
    kind_of = tuple(len(NUMBERS) + kinds.index(number.kind) for number in NUMBERS)
    for one in (*(number.words for number in NUMBERS), *(kind.words for kind in kinds)):
        words.Add(_announcing(one))
    words.Compile()
    return _Table(
        shapes={
            shape: _Shape(
                tuple(some),
                tuple(fit for fit in some if fit.score >= _WEAK),
                frozenset(word for fit in some for word in (fit.row, kind_of[fit.row])),
            )
            for shape, some in fits.items()
        },
        finder=_finder({shape.decode() for shape in fits}),
        strong_finder=_finder(
            {shape.decode() for shape, some in fits.items() if any(fit.score >= _WEAK for fit in some)}
        ),
        words=words,
        checks=tuple(number.is_valid() for number in NUMBERS),
        proves=tuple(number.check not in {None, varied, varied_digits} for number in NUMBERS),
        kinds=kind_of,
    )


@cache
def _within(longest: bytes) -> tuple[tuple[int, _Shape], ...]:
    """The shapes that one of them begins with, itself included, longest first: how long, and what they may be."""
    shapes = _table().shapes
    sizes = range(len(longest), 0, -1)
    return tuple((size, shapes[part]) for size in sizes if (part := longest[:size]) in shapes)


def _announcing(words: str) -> str:
    """An expression for any of the phrases. Up to four letters they stand alone, longer ones may be inflected."""
    parts = []
    for phrase in phrases_of(words):
        before = r"(?:\b|_)" if phrase[0].isascii() and phrase[0].isalnum() else ""
        after = r"(?:\b|_)" if len(phrase) <= 4 and phrase[-1].isascii() and phrase[-1].isalnum() else ""
        flags = "" if phrase.isupper() and phrase.isascii() else "(?i)"
        parts.append(f"(?:{flags}{before}{re2.escape(phrase).replace(r'\ ', r'[\s_-]?')}{after})")
    return "|".join(parts)


def _find(view: View, hits: Sequence[int]) -> Iterator[Match]:
    table, data = _table(), view.data
    text = data.translate(_TO_SHAPE) + b"\n"
    heard = frozenset(table.words.Match(data) or ())
    checked: Checked = {}
    finder = table.finder if heard or len(data) <= _SHORT_TEXT else table.strong_finder
    at = 0
    while match := finder.search(text, at):
        start = match.start()
        at = grouped_card(data, start)
        if at:
            continue
        for length, shape in _within(match[0]) if _begins(data, start) else ():
            end = start + length
            if text[end] in _SHAPED:
                continue
            for found in _judge(view, start, end, shape, heard, checked):
                yield found
                if found.score >= _LIKELY:
                    at = end
            if at:
                break
        at = at or _next_token(text, start)


def _judge(view: View, start: int, end: int, shape: _Shape, heard: frozenset[int], checked: Checked) -> Iterator[Match]:
    """What the characters between `start` and `end` may be. `heard`: the words that stand anywhere in the text."""
    table, data = _table(), view.data
    near: Collection[int] = ()
    fits = shape.strong if len(data) > _SHORT_TEXT else shape.fits
    announced = not heard.isdisjoint(shape.words)
    if not (fits or announced) or not _ends(data, end) or inside_blob(data, start, end):
        return
    if announced:
        around = data[max(0, start - CONTEXT_BEFORE) : start] + b"\n" + data[end : end + CONTEXT_AFTER]
        near = shape.words.intersection(table.words.Match(around) or ())
    value = ""
    for row, literals, score in shape.fits if near else fits:
        own, kind = row in near, table.kinds[row] in near
        if not (own or kind or score >= _WEAK or len(data) <= _SHORT_TEXT):
            continue
        if not all(data[start + place] in (capital, small) for place, capital, small in literals):
            continue
        check = table.checks[row]
        if check is not None:
            value = value or view.text(start, end).upper()
            if (row, value) not in checked:
                checked[row, value] = check(value if NUMBERS[row].signed else value.translate(_DROP))
            if not checked[row, value]:
                continue
        if own:
            score = max(score, _ANNOUNCED if table.proves[row] else _ANNOUNCED_UNCHECKED)  # noqa: PLW2901
        elif kind:
            score = max(score, _KIND_ANNOUNCED if table.proves[row] else _KIND_ANNOUNCED_UNCHECKED)  # noqa: PLW2901
        yield Match(start, end, score, NUMBERS[row].name)


def _begins(data: bytes, start: int) -> bool:
    """Whether no longer number, word, path, UUID or amount has begun before `start`."""
    if not start:
        return True
    before = data[start - 1]
    return not (before in _WORD or before in b"$@" or (before in _JOINS and _token_has_digit(data, start - 2, -1)))


def _ends(data: bytes, end: int) -> bool:
    """The same for what goes on after `end`, where a word ends."""
    if end == len(data):
        return True
    after, second = data[end], data[end + 1] if end + 1 < len(data) else 32
    if after in b"%@" or ((after in _JOINS or after == 58) and second in _DIGITS):
        return False
    return after not in b"-_" or not _token_has_digit(data, end + 1, 1)


def _token_has_digit(data: bytes, at: int, step: int) -> bool:
    """Whether the word that begins (or, backwards, ends) at `at` has a digit."""
    for _ in range(_LONGEST_TOKEN):
        if not 0 <= at < len(data) or data[at] not in _WORD:
            return False
        if data[at] in _DIGITS:
            return True
        at += step
    return False


def _next_token(shape: bytes, at: int) -> int:
    token = _TOKEN.match(shape, at)
    return at + 1 if token is None else token.end()


RECOGNIZERS = (
    FunctionRecognizer(
        "government_numbers",
        tuple({number.name: number.type for number in NUMBERS}.values()),
        (_GATE,),
        _find,
        examples=tuple(
            Example(f"{phrases_of(number.words)[0]} {number.example}", number.example, number.name)
            for number in NUMBERS
        ),
        counter_examples=(
            "The build 123456789 was green again after that.",
            "123e4567-e89b-12d3-a456-426614174000",
            "5d41402abc4b2a76b9719d911017c592",
            "at 2024-01-15T12:30:00Z",
        ),
    ),
)
