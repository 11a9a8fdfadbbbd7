"""The model's judgement of each token becomes spans of the text, as a person would draw them.

The borders are moved to those of words; titles ("Dr.", "Frau") and possessives ("'s") stay outside, so that a
placeholder takes their place in a sentence.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gateway.detection.ner.titles import TITLES

_INNER = "-'’.&/@_"
"""Characters that hold a word together when letters or digits stand on both sides."""
_POSSESSIVE = re.compile(r"(?:'s|’s|'|’)\Z", re.IGNORECASE)
_EDGE = ' \t\r\n\f\v\u00a0,;:!?()[]{}<>"“”„«»‘*|=~…·•'
_WORD = re.compile(r"[^\W_]+")


class Labelled(NamedTuple):
    """What the model says of one token: the class (0 for none), whether it begins a span, and how sure it is.

    `person` is how likely it belongs to a person, whatever its class.
    """

    kind: int
    begins: bool
    score: float
    person: float = 0.0


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of the text (code points) with its class and confidence (0-1)."""

    start: int
    end: int
    kind: int
    score: float


def spans(
    text: str, offsets: Sequence[tuple[int, int]], labels: Sequence[Labelled], *, persons: frozenset[int]
) -> Iterator[Piece]:
    """The spans of a text in order, disjoint. `persons` are the classes in front of which titles stand."""
    last = 0
    for first, beyond in _runs(offsets, labels):
        kind = labels[first].kind
        start, end = _to_words(text, offsets[first][0], offsets[beyond - 1][1])
        start, end = _trimmed(text, max(start, last), end)
        if kind in persons:
            start, end = _without_title(text, start, end)
        if start >= end or not _WORD.search(text, start, end):
            continue
        score = sum(labels[index].score for index in range(first, beyond)) / (beyond - first)
        yield Piece(start, end, kind, score)
        last = end


def _runs(offsets: Sequence[tuple[int, int]], labels: Sequence[Labelled]) -> Iterator[tuple[int, int]]:
    """Stretches of tokens of one class. A token glued to the one before begins nothing: it is the same word."""
    first: int | None = None
    for index, label in enumerate(labels):
        if first is not None:
            glued = offsets[index][0] == offsets[index - 1][1]
            if label.kind == labels[first].kind and (not label.begins or glued):
                continue
            yield first, index
            first = None
        if label.kind:
            first = index
    if first is not None:
        yield first, len(labels)


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Half a word is none: the borders move outwards to where the word ends."""
    while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and (text[start] in _EDGE or text[start] in _INNER):
        start += 1
    possessive = _POSSESSIVE.search(text, start, end)
    if possessive and possessive.start() > start:
        end = possessive.start()
    while end > start and (text[end - 1] in _EDGE or text[end - 1] in "-'’&/_"):
        end -= 1
    if end - start > 3 and text[end - 1] == "." and text[end - 3 : end - 1].isalpha() and text[end - 3].islower():
        end -= 1  # the end of a sentence, not of an initial
    return start, end


def _without_title(text: str, start: int, end: int) -> tuple[int, int]:
    while (word := _WORD.search(text, start, end)) is not None and word[0].casefold() in TITLES and word.end() < end:
        beyond = word.end()
        if text[beyond] == ".":
            beyond += 1
        while beyond < end and text[beyond] in _EDGE:
            beyond += 1
        if beyond >= end:
            break
        start = beyond
    return start, end
