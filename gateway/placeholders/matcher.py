"""Finds the placeholders of a session in a text, in the canonical form and in the spellings that models produce.

Canonical placeholders match first and in any context, so that an echo of a protected text restores to the exact bytes;
those that are broken over two lines follow.
Between them, lenient forms match unless a letter, digit or underscore next to them makes them part of another word.

Two RE2 expressions, for text that may start a placeholder and for text that may still become one, depend on the entity
types and run in linear time. They only narrow the search, so that an unused type in them costs time but never causes a
false match.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import re2

from gateway.placeholders.grammar import (
    BLANK,
    BRACKETS,
    CANONICAL,
    LONGEST_TAG,
    SEPARATOR,
    SHORTEST_TAG,
    UNDERSCORE,
    Found,
    either,
    fold,
    is_core,
    read_tag,
)
from gateway.placeholders.json_text import splice
from gateway.placeholders.line_breaks import broken, broken_end

TOUCHED = "\u00aa"
"""Represents a placeholder in or next to a text. A letter, since a placeholder without brackets cannot touch another
one; and not one that placeholders contain.
"""
# Before a brace, these make it part of a template, a macro or another set of braces.
_BRACE_OWNERS = frozenset("{$\\#%@")
_MOST_TYPES = 512
_MEMORY = 64 << 20
# No spelling of a placeholder is longer: 64 characters of type, 31 separators of 10, tag, brackets and blanks.
_LONGEST = 512

_OPENINGS = tuple(word for opening, _ in BRACKETS.values() for word in opening)

_WORD = re.compile(r"[0-9A-Za-z]{1,64}+")
_SEPARATORS = re.compile(SEPARATOR, re.IGNORECASE)
_OPENING = re.compile(
    "(?:" + "|".join(f"(?P<{name}>{either(words)})" for name, (words, _) in BRACKETS.items()) + rf"){BLANK}\Z",
    re.IGNORECASE,
)
_CLOSING = {name: re.compile(BLANK + either(words), re.IGNORECASE) for name, (_, words) in BRACKETS.items()}
_LONGEST_OPENING = max(len(word) for words, _ in BRACKETS.values() for word in words) + 2


class _ForTypes:
    """An expression for all types seen so far, because almost every request has a different set of types."""

    def __init__(self, build: Callable[[Iterable[str]], str]) -> None:
        self._build = build
        self._cached: tuple[frozenset[str], re2._Regexp | None] = (frozenset(), None)

    def __call__(self, types: frozenset[str]) -> "re2._Regexp":
        seen, pattern = self._cached
        if pattern is None or not types <= seen:
            merged = seen | types if len(seen | types) <= _MOST_TYPES else types
            pattern = re2.compile(
                self._build(sorted(merged, key=lambda type: (-len(type), type))).encode("latin-1"), _options()
            )
            # A single assignment, so that other threads never see types and expression that do not match.
            self._cached = (merged, pattern)
        return pattern


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    options.max_mem = _MEMORY
    options.log_errors = False
    return options


def _starts(types: Iterable[str]) -> str:
    names = "|".join(type.replace("_", SEPARATOR) for type in types)
    # A type is a word, or follows a bracket or an underscore: `_EMAIL`, `%5BEMAIL`.
    before = either((*_OPENINGS, *UNDERSCORE))
    return rf"(?:\b|{before})((?:{names}){SEPARATOR}[0-9A-Za-z]{{{SHORTEST_TAG}}})"


def _beginnings(words: Iterable[str]) -> str:
    """Returns an expression for the proper, non-empty beginnings of the words."""
    return either(tuple(sorted({word[:length] for word in words for length in range(1, len(word))})))


def _unfinished(types: Iterable[str]) -> str:
    closings = tuple(word for _, closing in BRACKETS.values() for word in closing)
    # Whether one of these belongs to the placeholder depends on the character after it.
    closing = rf"{BLANK}(?:{_beginnings(closings)}|[}}`_])?"
    tag = f"[0-9A-Za-z]{{1,{SHORTEST_TAG - 1}}}|[0-9A-Za-z]{{{SHORTEST_TAG},64}}(?:{closing})?"
    separator = rf" ?{_beginnings(UNDERSCORE)}"
    firsts = tuple(sorted({type.partition("_")[0] for type in types}))
    words = tuple(sorted({word for type in types for word in type.split("_")}))
    # Any sequence of words that occur in types. This keeps the expression small and holds back a few words at most.
    begun = rf"{either(firsts)}{SEPARATOR}(?:{either(words)}{SEPARATOR})*"
    last = rf"{_beginnings(words)}|{either(words)}(?:{separator})?|{tag}"
    cores = rf"{_beginnings(firsts)}|{either(firsts)}(?:{separator})?|{begun}(?:{last})?"
    opened = rf"{either(_OPENINGS)}{BLANK}"
    foreign = r"(?-i:\[(?:[A-Z][A-Z0-9_]{0,90})?)"
    return rf"(?:{_beginnings(_OPENINGS)}|{opened}|(?:{opened})?(?:{cores})|{foreign})\z"


_start = _ForTypes(_starts)
_end = _ForTypes(_unfinished)


def prepare(types: Iterable[str]) -> None:
    """Compiles the search for these types in advance, so that it does not delay the first request with one of them."""
    _start(frozenset(types))


def _bytes_of(folded: str) -> bytes:
    """Returns one byte for each character, a question mark for those that occur in no placeholder."""
    return folded.encode("latin-1", "replace")


@dataclass(slots=True, repr=False)
class Vocabulary:
    """The parts of a session that the search needs: its placeholders (without brackets) and their types."""

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
        return any(read_tag(word[:SHORTEST_TAG]) in self._heads for word in _SEPARATORS.split(text)[1:])

    def readings(self, text: str, start: int) -> list[tuple[str, int]]:
        """Returns the placeholders that the words from `start` may spell, each with its end; the longest type first."""
        words: list[str] = []
        readings: list[tuple[str, int]] = []
        position = start
        while len(words) <= self._words and (word := _WORD.match(text, position)):
            if words and SHORTEST_TAG <= len(word[0]) <= LONGEST_TAG:
                core = f"{'_'.join(words)}_{read_tag(word[0])}"
                if core in self.cores:
                    readings.append((core, word.end()))
            words.append(word[0].upper())
            separator = _SEPARATORS.match(text, word.end())
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
    if divided := [*broken(text, vocabulary.cores)]:
        found = sorted((*found, *divided), key=lambda hit: hit.start)
    lenient = _lenient(text, found, vocabulary, before)
    return sorted((*found, *lenient), key=lambda hit: hit.start) if lenient else found


def open_end(text: str, vocabulary: Vocabulary) -> int:
    """Returns the offset from which the end of an incomplete text may become a placeholder; its length if it cannot."""
    data = _bytes_of(fold(text))
    window = data[-_LONGEST:]
    match = _end(vocabulary.types).search(window)
    end = len(data) - len(window) + match.start() if match else len(data)
    return min(end, broken_end(text, vocabulary.cores, end))


def _lenient(text: str, exact: list[Found], vocabulary: Vocabulary, before: str) -> list[Found]:
    masked = splice(fold(text), [(hit.start, hit.end, TOUCHED * (hit.end - hit.start)) for hit in exact])
    data, begin = _bytes_of(masked), _start(vocabulary.types)
    found: list[Found] = []
    low, before, position = 0, fold(before), 0
    while match := begin.search(data, position):
        # A candidate for one of the types, and the beginning of a tag.
        start, end = match.span(1)
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
    left = max(low, start - _LONGEST_OPENING)
    opening = _OPENING.search(text[left:start])
    if opening is None or opening.lastgroup is None:
        return None
    closing = _CLOSING[opening.lastgroup].match(text, end)
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
