"""Converts token labels to spans of the text, as a human annotator would mark them.

Spans end at word boundaries and exclude titles ("Dr.", "Frau") and possessives ("'s"), so that a placeholder fits into
the sentence.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import category

from gateway.detection.data_files import word_lists
from gateway.detection.ner.unit_features import is_spaced
from gateway.detection.recognizers.person_name import CASE_ENDINGS

_TITLES = word_lists(__file__)["titles"]
_INNER = "-'’.&/@_"
"""Characters that join words when letters or digits are on both sides."""
# English possessives and Turkish case endings: `Emre's`, `Emre'nin`, `Emre'ye`, `Emre'den`.
_POSSESSIVE = re.compile(rf"['’](?:s|{CASE_ENDINGS})?\Z", re.IGNORECASE)
# A Korean honorific; neither it nor anything after it belongs to the name.
_HONORIFIC = re.compile(r"(?<=[가-힣]{2}) ?[님씨](?![가-힣]{3})")
_SMALL = re.compile(r"[α-ώа-яёіїєґђ-џ]+(?:\s+|\Z)")
_EDGE = ' \t\r\n\f\v\u00a0,;:!?()[]{}<>"“”„«»‘*|=~…·•'
_WORD = re.compile(r"[^\W_]+")
# The number at the end of an account name: `Larsen#4417`.
_TAG = re.compile(r"#\d{4,5}(?!\w)")


class TokenLabel(NamedTuple):
    """The model's result for one token: its class (0 for none), whether it begins a span, and the score.

    `person` is the probability of a person, whatever the class.
    """

    label_class: int
    begins: bool
    score: float
    person: float = 0.0


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    """A span of the text (code points) with its class and confidence (0-1)."""

    start: int
    end: int
    label_class: int
    score: float


def label_spans(
    text: str, offsets: Sequence[tuple[int, int]], labels: Mapping[int, TokenLabel], *, persons: frozenset[int]
) -> Iterator[LabelledSpan]:
    """Yields the disjoint spans of a text in order.

    `labels` are those of some tokens, in order; all others have none. `persons` are the classes that titles precede.
    """
    last = reach = 0
    for first, after in _runs(offsets, labels):
        if offsets[after - 1][1] <= reach:
            continue  # a part of the word before, which may be long
        label_class = labels[first].label_class
        start, end = to_words(text, max(reach, offsets[first][0]), offsets[after - 1][1])
        reach = end
        start, end = _trimmed(text, max(start, last), end)
        if label_class in persons:
            start, end = _narrowed(text, *without_title(text, start, end))
        if tag := _TAG.match(text, end):
            end = tag.end()
        if start >= end or not _WORD.search(text, start, end):
            continue
        score = sum(labels[index].score for index in range(first, after)) / (after - first)
        yield LabelledSpan(start, end, label_class, score)
        last = end


def _runs(offsets: Sequence[tuple[int, int]], labels: Mapping[int, TokenLabel]) -> Iterator[tuple[int, int]]:
    """Yields runs of tokens of one class. A token directly after another belongs to the same word and starts no run."""
    first = after = 0
    for index, label in labels.items():
        if not label.label_class:
            continue
        if first < after == index and label.label_class == labels[first].label_class:
            adjacent = offsets[index][0] == offsets[index - 1][1]
            if not label.begins or adjacent:
                after = index + 1
                continue
        if first < after:
            yield first, after
        first, after = index, index + 1
    if first < after:
        yield first, after


def to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Widens a span to word boundaries, where its script has any."""
    while start > 0 and _is_one_word(text[start - 1], text[start]):
        start -= 1
    while end < len(text) and _is_one_word(text[end - 1], text[end]):
        end += 1
    return start, end


def _is_one_word(one: str, other: str) -> bool:
    if category(other)[0] == "M":
        return one.isalnum() or category(one)[0] == "M"
    return other.isalnum() and is_spaced(one) and is_spaced(other) and (one.isalnum() or category(one)[0] == "M")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and (text[start] in _EDGE or text[start] in _INNER):
        start += 1
    possessive = _POSSESSIVE.search(text, start, end)
    if possessive and possessive.start() > start:
        end = possessive.start()
    while end > start and (text[end - 1] in _EDGE or text[end - 1] in "-'’&/_"):
        end -= 1
    if end - start > 3 and text[end - 1] == "." and text[end - 3 : end - 1].isalpha() and text[end - 3].islower():
        end -= 1  # the full stop of a sentence, not of an initial
    return start, end


def _narrowed(text: str, start: int, end: int) -> tuple[int, int]:
    """Removes what is no part of a name: after a closing quote, or an honorific, and before a word with a capital."""
    name = text[start:end]
    if name.count('"') % 2:
        end = start + name.index('"')
    if honorific := _HONORIFIC.search(text, start, end):
        # Two syllables are those of a noun for people: `고객님`.
        end = start if honorific[0] == "님" and honorific.start() == start + 2 else honorific.start()
    while (small := _SMALL.match(text, start, end)) and small.end() < end:
        start = small.end()
    return start, end


def without_title(text: str, start: int, end: int) -> tuple[int, int]:
    """Removes titles from the beginning of a span. Nothing is left of one that consists of titles alone."""
    while (word := _WORD.search(text, start, end)) is not None and word[0].casefold() in _TITLES:
        start = word.end()
        if text[start : start + 1] == ".":
            start += 1
        while start < end and text[start] in _EDGE:
            start += 1
    return start, end
