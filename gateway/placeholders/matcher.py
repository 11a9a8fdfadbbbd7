"""Finds the placeholders of a session in a text, in the canonical form and in the spellings that models produce.

Canonical placeholders match first and in any context, so that an echo of a protected text restores to the exact bytes.
Between them, lenient forms match unless a letter, digit or underscore next to them makes them part of another word.
"""

from dataclasses import dataclass, field

from gateway.placeholders.grammar import CANONICAL, LONGEST_TAG, SHORTEST_TAG, Found, fold, is_core, read_tag, read_tags
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

TOUCHED = "x"
"""Represents a placeholder next to a text. A placeholder without brackets cannot touch another one."""
# Beyond this number of tags, one search for the types is faster than one for each tag.
_MOST_HEADS = 64
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

    def add(self, core: str) -> None:
        type, _, tag = core.rpartition("_")
        self.cores.add(core)
        self._heads.add(tag[:SHORTEST_TAG])
        if type not in self.types:
            self.types |= {type}
            self._words = max(self._words, type.count("_") + 1)

    def remove(self, core: str) -> None:
        self.cores.discard(core)

    def occurs_in(self, data: bytes) -> bool:
        """Returns whether a tag may occur in a text. A few substring searches are cheaper than finding all types."""
        read = read_tags(data)
        return len(self._heads) > _MOST_HEADS or any(head.encode() in read for head in self._heads)

    def may_hold_tag(self, text: str) -> bool:
        """Returns whether a word after the first begins like a tag."""
        return any(read_tag(word[:SHORTEST_TAG]) in self._heads for word in SEPARATORS.split(text)[1:])

    def readings(self, text: str, start: int, end: int) -> list[tuple[str, int]]:
        """Returns the placeholders that the words from `start` may spell, each with its end; the longest type first."""
        words: list[str] = []
        readings: list[tuple[str, int]] = []
        position = start
        while len(words) <= self._words and (word := WORD.match(text, position, end)):
            if words and SHORTEST_TAG <= len(word[0]) <= LONGEST_TAG:
                core = f"{'_'.join(words)}_{read_tag(word[0])}"
                if core in self.cores:
                    readings.append((core, word.end()))
            words.append(word[0].upper())
            separator = SEPARATORS.match(text, word.end(), end)
            if separator is None:
                break
            position = separator.end()
        readings.reverse()
        return readings


@dataclass(slots=True)
class _Gap:
    """The text between two canonical placeholders, `text[start:end]`. `before` is the character before `start`, if any.

    `touches` says that a canonical placeholder starts at `end`.
    """

    text: str
    start: int
    end: int
    before: str
    touches: bool

    def character_before(self, at: int) -> str:
        return self.before if at == self.start else self.text[at - 1]

    def character_at(self, at: int) -> str:
        if at < self.end:
            return self.text[at]
        return TOUCHED if self.touches else ""


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
    if not vocabulary.cores or len(text) <= SHORTEST_TAG:
        return found
    lenient = _lenient(text, found, vocabulary, before)
    return sorted((*found, *lenient), key=lambda hit: hit.start) if lenient else found


def open_end(text: str, vocabulary: Vocabulary) -> int:
    """Returns the offset from which the end of an incomplete text may become a placeholder; its length if it cannot."""
    return unfinished(vocabulary.types, bytes_of(fold(text)))


def _lenient(text: str, exact: list[Found], vocabulary: Vocabulary, before: str) -> list[Found]:
    folded = fold(text)
    # Masks canonical placeholders. No candidate overlaps one, because candidates do not contain brackets.
    data = bytes_of(splice(folded, [(hit.start, hit.end, "?" * (hit.end - hit.start)) for hit in exact]))
    found: list[Found] = []
    if not vocabulary.occurs_in(data):
        return found
    gap = _Gap(folded, 0, exact[0].start if exact else len(text), fold(before), bool(exact))
    following = position = 0
    while (span := candidate(vocabulary.types, data, position)) is not None:
        start, end = span
        while following < len(exact) and exact[following].end <= start:
            following += 1
            ends = exact[following].start if following < len(exact) else len(text)
            gap = _Gap(folded, exact[following - 1].end, ends, TOUCHED, following < len(exact))
        # A rejected candidate may contain the beginning of a placeholder, so the search continues after its first
        # character.
        position = start + 1
        if vocabulary.may_hold_tag(folded[start:end]) and (hit := _at(gap, start, vocabulary)) is not None:
            found.append(hit)
            gap.start, gap.before = hit.end, TOUCHED
            position = hit.end
    return found


def _at(gap: _Gap, start: int, vocabulary: Vocabulary) -> Found | None:
    """Returns the placeholder whose type starts at `start`, with its brackets."""
    for core, end in vocabulary.readings(gap.text, start, gap.end):
        brackets = _brackets(gap, start, end)
        if brackets is not None:
            return Found(*brackets, f"[{core}]", exact=False)
        if not _is_word(gap.character_before(start)) and not _is_word(gap.character_at(end)):
            return Found(start, end, f"[{core}]", exact=False)
    return None


def _brackets(gap: _Gap, start: int, end: int) -> tuple[int, int] | None:
    """Extends a span by the brackets around it, if any."""
    left = max(gap.start, start - LONGEST_OPENING)
    opening = OPENING.search(gap.text[left:start])
    if opening is None or opening.lastgroup is None:
        return None
    closing = CLOSING[opening.lastgroup].match(gap.text, end, gap.end)
    if closing is None:
        return None
    first, last = left + opening.start(), closing.end()
    owner, after = gap.character_before(first), gap.character_at(last)
    match opening.lastgroup:
        case "brace" if owner in _BRACE_OWNERS or _is_word(owner) or after == "}":
            return None
        case "tick" if "`" in {owner, after}:
            return None
    return first, last


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
