"""Yields the places of words in a text, and of those that overlap as few as cover the same stretch.

In 200 KB of `aaa…`, a value of a hundred letters begins at each of them.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import accumulate, compress, count
from operator import add

from gateway.detection.unicode_folding import ASCII_SEPARATORS

MANY = 48
"""Words, above which one pass over a text takes less time than to search for each."""
# Characters, from which a value with a digit or of an e-mail address, or any other, is specific.
_SPECIFIC, SPECIFIC_WORD = 9, 16
_TELLING = re.compile(r"\d|\w@\w")
# The separators between the groups of a number, and of a code such as an IBAN.
_NUMBER_GROUPS = re.compile(r"(?<=\d)[ \-/()]{1,2}(?=\d)")
CODE_GROUPS = re.compile(r"(?<=[0-9A-Z])[ \-/()]{1,2}(?=[0-9A-Z])")
_WORD = re.compile(r"[^\W_]+")
_TO_BLANKS = dict.fromkeys(ASCII_SEPARATORS, " ")


def places(
    text: str, words: Collection[str], unspaced: Mapping[str, Collection[int]], is_whole: Callable[[str], bool]
) -> Iterator[tuple[str, int]]:
    """Yields the positions of words: searches for a few one by one, for many in one pass.

    Of overlapping occurrences of a word that `is_whole`, yields no more than cover the same stretch.
    """
    if len(words) <= MANY:
        for word in words:
            yield from _places_of(word, text, skip=is_whole(word))
    elif text.isascii():
        # Most texts are ASCII, and this takes a third of the time.
        found = text.translate(_TO_BLANKS).split(" ")
        hits = [number for number, word in enumerate(found) if word in words]
        ends = list(accumulate(map(len, found))) if hits else []
        yield from ((found[hit], ends[hit] - len(found[hit]) + hit) for hit in hits)
    else:
        yield from ((word[0], word.start()) for word in _WORD.finditer(text) if word[0] in words)
        for at in compress(count(), map(unspaced.__contains__, map(add, text, text[1:]))) if unspaced else ():
            for size in unspaced[text[at : at + 2]]:
                if (word := text[at : at + size]) in words:
                    yield word, at


def _places_of(word: str, text: str, *, skip: bool) -> Iterator[tuple[str, int]]:
    at = text.find(word)
    while at >= 0:
        yield word, at
        overlapping = text.rfind(word, at + 1, at + 2 * len(word) - 1) if skip else -1
        at = overlapping if overlapping >= 0 else text.find(word, at + 1)


def without_overlaps(found: Iterable[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yields no more of the overlapping occurrences of a value than cover the same stretch of the text."""
    last: dict[str, tuple[int, int]] = {}
    held: dict[str, tuple[int, int]] = {}
    for start, end, value in found:
        begun, until = last.get(value, (0, 0))
        if value in held and not begun <= start < until:
            begun, until = last[value] = held.pop(value)
            yield begun, until, value
        if not begun <= start < until:
            last[value] = start, end
            yield start, end, value
        elif end > max(until, held.get(value, (0, 0))[1]):
            held[value] = start, end
    yield from ((start, end, value) for value, (start, end) in held.items())


def with_beginnings(words: Iterable[bytes]) -> dict[bytes, bytes]:
    """Returns words in order, each with the longest other one that it begins with, or nothing."""
    result: dict[bytes, bytes] = {}
    before = b""
    for word in sorted(words):
        while before and not word.startswith(before):
            before = result[before]
        result[word] = before
        before = word
    return result


def is_specific(piece: str) -> bool:
    return len(piece) >= SPECIFIC_WORD or (len(piece) >= _SPECIFIC and _TELLING.search(piece) is not None)


def has_specific_end(value: str, edge: int, is_number: bool) -> bool:
    """Returns whether the end of a value is specific: the piece between blanks or, of a number, the word."""
    if is_number:
        return is_specific(_WORD.findall(_NUMBER_GROUPS.sub("", value))[edge])
    return is_specific(CODE_GROUPS.sub("", value).split()[edge])
