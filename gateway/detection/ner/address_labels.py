"""Removes labels of numbers, phones and dates from addresses.

The model takes "12 Elm Rd, SSN 536-90-4399" for one address. It is an address and a number, and the label is neither.
Parts with digits always remain hidden.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from gateway.detection.data_files import word_lists
from gateway.models import Entity

_LISTS = word_lists(__file__)
_LABELS, _AMBIGUOUS_LABELS, _ENDINGS = _LISTS["labels"], _LISTS["ambiguous_labels"], tuple(_LISTS["endings"])
_NUMBER_WORDS, _PREPOSITIONS = _LISTS["number_words"], _LISTS["prepositions"]
_WORD = re.compile(r"[^\W_]+")
_SIGN = re.compile(r"\s*(?:[:/=]|[+(]?\d{5})")
_HYPHENATED = re.compile(r"-(?:nummer|nr|number|id)\b", re.IGNORECASE)
_EDGE = " \t\r\n,;:.#()/-–|*_=°º"
_MAX_SCORE = 0.55


def without_labels(text: str, found: Entity) -> Iterator[Entity]:
    """Yields the parts of an address without its labels. A part with digits after a label becomes an ID_NUMBER."""
    words = list(_WORD.finditer(text, found.start, found.end))
    labels = _labels(text, words, found.end)
    if not labels:
        # "Nr" alone, say, in front of a number that is none of an address.
        if any(len(word[0]) > 2 or not word[0].isalpha() for word in words):
            yield found
        return
    boundaries = [
        (found.start, found.start),
        *(words[index].span() for index in sorted(labels)),
        (found.end, found.end),
    ]
    for number, ((_, before), (after, _)) in enumerate(pairwise(boundaries)):
        piece = text[before:after]
        start = before + len(piece) - len(piece.lstrip(_EDGE))
        end = after - len(piece) + len(piece.rstrip(_EDGE))
        if number and any(char.isdigit() for char in text[start:end]):
            yield found._replace(type="ID_NUMBER", start=start, end=end, score=min(found.score, _MAX_SCORE))
        elif any(len(word[0]) > 2 for word in _WORD.finditer(text, start, end)):
            yield found._replace(start=start, end=end)


def _labels(text: str, words: Sequence[re.Match[str]], end: int) -> frozenset[int]:
    """Returns the indices of labels, including a "no." after one or a "número de" before it."""
    lower = [word[0].casefold() for word in words]
    labels: set[int] = set()
    for index, word in enumerate(lower):
        known = (
            word in _LABELS
            or word.endswith(_ENDINGS)
            or (word in _AMBIGUOUS_LABELS and _is_followed_by_sign(text, words[index], end))
        )
        first = index
        if known and index > 1 and lower[index - 1] in _PREPOSITIONS and lower[index - 2] in _NUMBER_WORDS:
            first -= 2
        if known and (first == 0 or first - 1 in labels or not text[words[first].start() - 2].isalpha()):
            labels.update(range(first, index + 1))
        elif word in _NUMBER_WORDS and index - 1 in labels:
            labels.add(index)
    if _HYPHENATED.match(text, end):
        labels.add(len(words) - 1)
    return frozenset(labels)


def _is_followed_by_sign(text: str, word: re.Match[str], end: int) -> bool:
    return word.end() == end or (word[0].casefold() != "id" and _SIGN.match(text, word.end()) is not None)
