"""What is once found is hidden wherever it stands, also where no recognizer sees it."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gateway.slots import Span, Spans

_SHORTEST = 4
_FEW = 32
_SHORTEST_JOINED = 7
_JOINS = ("_", ".", "-", "+", "%20", "")
_SHORTEST_NUMBER = 7
_NUMBER = re.compile(r"(?<![\w.])\+?\d(?:[ \-./()]{0,2}\d){6,24}(?![\w])")
_NO_DIGIT = re.compile(r"\D+")
_WORD = re.compile(r"[^\W_]+")
# Names that begin sentences as ordinary words do, or that name a place, a month or a thing as often as somebody.
_ORDINARY = frozenset(
    """
    angel april archer august austin baker ball banks bell best bill bishop black blue bond brown bush carolina case
    chance charity chase cherry china christian church clay cook cooper crystal dallas dawn dean destiny diamond drew
    earl east english faith field fields fisher ford forest fox france frank french garden georgia german gold grace
    grant gray green grey hall harmony heath heaven holland holly home hope house houston hunter israel ivory jade
    jasmine jewel jordan joyce judge july june king lake lane law lily little london long love madison major marble
    mark marsh martin mason mercy miller moon north noble olive page paris park pearl penny phoenix pope post power
    price prince queen rain read reed rich river rivers rock rose ruby rush sage sharp short silver sky small smart
    snow south spring star stone storm street strong summer summers swift sydney taylor temple victor victory violet
    virginia walker ward washington waters weaver wells west white wild will winter wise wolf wood woods young
    """.split()
)


def collect(values: dict[str, Span], texts: Sequence[str], found: Sequence[Spans]) -> None:
    """Adds what was hidden to the values that are hidden wherever they stand.

    Of a person's name its first and its last word, too, by which it is spoken of later.
    """
    for text, spans in zip(texts, found, strict=True):
        for span in spans:
            if span.end - span.start >= _SHORTEST:
                value = text[span.start : span.end]
                values.setdefault(value, span)
                if span.type == "PERSON":
                    for word in (*_name_words(value), *_joined(value)):
                        values.setdefault(word, span)


def _name_words(name: str) -> Iterator[str]:
    """The words of a full name that are hardly anything but a name when they stand alone, in their own spelling."""
    words = _WORD.findall(name)
    if len(words) < 2:
        return
    for word in {words[0], words[-1]}:
        if len(word) >= _SHORTEST and word.isalpha() and word[0].isupper() and word.lower() not in _ORDINARY:
            yield word


def _joined(name: str) -> Iterator[str]:
    """A full name as files, addresses and accounts are named after it."""
    words = _WORD.findall(name)
    if 2 <= len(words) <= 4 and len(name) >= _SHORTEST_JOINED:
        yield from (sign.join(words) for sign in _JOINS)


def _digits(text: str, values: Mapping[str, Span]) -> Iterator[tuple[int, int, Span]]:
    """Numbers that are one of the values but for the signs between their digits."""
    known: dict[str, Span] = {}
    for value, span in values.items():
        digits = _NO_DIGIT.sub("", value)
        if len(digits) >= _SHORTEST_NUMBER and not any(map(str.isalpha, value)):
            known.setdefault(digits, span)
    if known:
        for number in _NUMBER.finditer(text):
            one = known.get(_NO_DIGIT.sub("", number[0]))
            if one is not None:
                yield *number.span(), one


def repeats(text: str, spans: Spans, values: Mapping[str, Span]) -> Spans:
    """Adds the occurrences of known values that no finding covers."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text
    covered = [span.start for span in spans]
    extra: list[Span] = []
    find = _each if len(values) <= _FEW else _indexed
    for at, value in find(text, lowered, values):
        end = at + len(value)
        before = bisect_right(covered, at) - 1
        if _whole_word(text, at, end) and not (before >= 0 and spans[before].end >= end):
            extra.append(replace(values[value], start=at, end=end))
    for at, end, span in _digits(text, values):
        before = bisect_right(covered, at) - 1
        if not (before >= 0 and spans[before].end >= end):
            extra.append(replace(span, start=at, end=end))
    return united((*spans, *extra)) if extra else spans


def _each(text: str, lowered: str, values: Mapping[str, Span]) -> Iterator[tuple[int, str]]:
    """Looks for one value after the other: quickest for a few."""
    for value in values:
        # A single word may be an ordinary word in lower case; anything longer is the value in any case.
        where, what = (text, value) if value.isalpha() else (lowered, value.lower())
        at = where.find(what)
        while at >= 0:
            yield at, value
            at = where.find(what, at + len(what))


def _indexed(text: str, lowered: str, values: Mapping[str, Span]) -> Iterator[tuple[int, str]]:
    """Goes through the words of the text once, whatever the number of values, by the first word of each."""
    first_words: dict[str, list[tuple[int, str]]] = {}
    for value in values:
        word = _WORD.search(value)
        if word is not None:
            first_words.setdefault(word[0].lower(), []).append((word.start(), value))
    for word in _WORD.finditer(lowered):
        for offset, value in first_words.get(word[0], ()):
            at = word.start() - offset
            where, what = (text, value) if value.isalpha() else (lowered, value.lower())
            if at >= 0 and where.startswith(what, at):
                yield at, value


def united(spans: Iterable[Span]) -> Spans:
    """Overlapping spans become one, typed by the first, so that no rest of either stays in clear."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
        elif span.end > merged[-1].end:
            merged.append(replace(merged.pop(), end=span.end))
    return tuple(merged)


def _whole_word(text: str, start: int, end: int) -> bool:
    before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    after = end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
    return not before and not after
