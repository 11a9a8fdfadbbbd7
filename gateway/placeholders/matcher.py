"""Finds the placeholders of a session in a text, in the canonical form and in the spellings that models produce.

Canonical placeholders match first and in any context, so that an echo of a protected text restores to the exact bytes.
Between them, lenient forms match unless a letter, digit or underscore next to them makes them part of another word.
"""

from dataclasses import dataclass, field

from gateway.placeholders.grammar import CANONICAL, LONGEST_TAG, SHORTEST_TAG, Found, fold, is_core, read_tag
from gateway.placeholders.json_text import splice
from gateway.placeholders.patterns import (
    CLOSING,
    LONGEST_OPENING,
    OPENING,
    SEPARATORS,
    WORD,
    bytes_of,
    candidate,
    unfinished,
)

TOUCHED = "\u00aa"
"""Represents a placeholder in or next to a text. A letter, since a placeholder without brackets cannot touch another
one; and not one that placeholders contain.
"""
# Before a brace, these make it part of a template, a macro or another set of braces.
_BRACE_OWNERS = frozenset("{$\\#%@")


@dataclass(slots=True, repr=False)
class Vocabulary:
    """What the search needs to know of a session: its placeholders (without brackets) and their types."""

    cores: set[str] = field(default_factory=set)
    types: frozenset[str] = frozenset()
    # The beginnings of the tags, and the number of words in the longest type, which rule out most texts quickly.
    _heads: set[str] = field(default_factory=set)
    _words: int = 0
    shortest: int = 0
    """No spelling of a placeholder is shorter."""

    def add(self, core: str) -> None:
        type, _, tag = core.rpartition("_")
        self.shortest = min(self.shortest or len(core), len(core))
        self.cores.add(core)
        self._heads.add(tag[:SHORTEST_TAG])
        if type not in self.types:
            self.types |= {type}
            self._words = max(self._words, type.count("_") + 1)

    def remove(self, core: str) -> None:
        self.cores.discard(core)

    def may_hold_tag(self, text: str) -> bool:
        """Returns whether a word after the first begins like a tag."""
        return any(read_tag(word[:SHORTEST_TAG]) in self._heads for word in SEPARATORS.split(text)[1:])

    def readings(self, text: str, start: int) -> list[tuple[str, int]]:
        """Returns the placeholders that the words from `start` may spell, each with its end; the longest type first."""
        words: list[str] = []
        readings: list[tuple[str, int]] = []
        position = start
        while len(words) <= self._words and (word := WORD.match(text, position)):
            if words and SHORTEST_TAG <= len(word[0]) <= LONGEST_TAG:
                core = f"{'_'.join(words)}_{read_tag(word[0])}"
                if core in self.cores:
                    readings.append((core, word.end()))
            words.append(word[0].upper())
            separator = SEPARATORS.match(text, word.end())
            if separator is None:
                break
            position = separator.end()
        readings.reverse()
        return readings


def scan(text: str, vocabulary: Vocabulary, *, before: str = "") -> list[Found]:
    """Finds everything in the canonical form, and the lenient forms of the session's own; sorted and disjoint.

    If the text continues another, `before` is the character before it, or `TOUCHED` after a placeholder.
    """
    found: list[Found] = []
    if "[" in text:
        found += (
            Found(*match.span(), match[0], exact=True)
            for match in CANONICAL.finditer(text)
            if match[1] in vocabulary.cores or is_core(match[1])
        )
    if not vocabulary.cores or len(text) < vocabulary.shortest:
        return found
    lenient = _lenient(text, found, vocabulary, before)
    return sorted((*found, *lenient), key=lambda hit: hit.start) if lenient else found


def open_end(text: str, vocabulary: Vocabulary) -> int:
    """Returns the offset from which the end of an incomplete text may become a placeholder; its length if it cannot."""
    return unfinished(vocabulary.types, bytes_of(fold(text)))


def _lenient(text: str, exact: list[Found], vocabulary: Vocabulary, before: str) -> list[Found]:
    masked = splice(fold(text), [(hit.start, hit.end, TOUCHED * (hit.end - hit.start)) for hit in exact])
    data = bytes_of(masked)
    found: list[Found] = []
    low, before, position = 0, fold(before), 0
    while (span := candidate(vocabulary.types, data, position)) is not None:
        start, end = span
        # A rejected candidate may contain the beginning of a placeholder, so the search continues after its first
        # character.
        position = start + 1
        if vocabulary.may_hold_tag(masked[start:end]) and (hit := _at(masked, start, low, before, vocabulary)):
            found.append(hit)
            low, before, position = hit.end, TOUCHED, hit.end
    return found


def _at(text: str, start: int, low: int, before: str, vocabulary: Vocabulary) -> Found | None:
    """Returns the placeholder whose type starts at `start`, with its brackets.

    `low` is the end of the previous placeholder, or 0, and `before` the character before it.
    """
    for core, end in vocabulary.readings(text, start):
        brackets = _brackets(text, start, end, low, before)
        if brackets is not None:
            return Found(*brackets, f"[{core}]", exact=False)
        if not any(map(_is_word, _neighbours(text, start, end, low, before))):
            return Found(start, end, f"[{core}]", exact=False)
    return None


def _brackets(text: str, start: int, end: int, low: int, before: str) -> tuple[int, int] | None:
    """Extends a span by the brackets around it, if any."""
    left = max(low, start - LONGEST_OPENING)
    opening = OPENING.search(text[left:start])
    if opening is None or opening.lastgroup is None:
        return None
    closing = CLOSING[opening.lastgroup].match(text, end)
    if closing is None:
        return None
    first, last = left + opening.start(), closing.end()
    owner, after = _neighbours(text, first, last, low, before)
    match opening.lastgroup:
        case "brace" if owner in _BRACE_OWNERS or _is_word(owner) or after == "}":
            return None
        case "tick" if "`" in {owner, after}:
            return None
        case "emphasis" if _is_word(owner) or _is_word(after):
            return None
    return first, last


def _neighbours(text: str, start: int, end: int, low: int, before: str) -> tuple[str, str]:
    """Returns the characters before and after a span, empty at the ends of the text."""
    return before if start == low else text[start - 1], text[end : end + 1]


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
