"""Builds the RE2 expressions for text that may start a placeholder, and for text that may still become one.

Both depend on entity types and run in linear time. They only narrow the search; the matcher decides, so that an unused
type in them costs time but never causes a false match.
"""

import re
from collections.abc import Callable, Iterable

import re2

from gateway.placeholders.grammar import BLANK, BRACKETS, SEPARATOR, SHORTEST_TAG, UNDERSCORE, either

_MOST_TYPES = 512
_MEMORY = 64 << 20
# No spelling of a placeholder is longer: 64 characters of type, 31 separators of 10, tag, brackets and blanks.
_LONGEST = 512

_OPENINGS = tuple(word for opening, _ in BRACKETS.values() for word in opening)


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


def bytes_of(folded: str) -> bytes:
    """Returns one byte for each character, a question mark for those that occur in no placeholder."""
    return folded.encode("latin-1", "replace")


def candidate(types: frozenset[str], data: bytes, position: int) -> tuple[int, int] | None:
    """Returns the first span from `position` on that looks like one of the types and the beginning of a tag."""
    match = _start(types).search(data, position)
    return match.span(1) if match else None


def unfinished(types: frozenset[str], data: bytes) -> int:
    """Returns the offset from which the end of `data` may become a placeholder with more text, or its length."""
    window = data[-_LONGEST:]
    match = _end(types).search(window)
    return len(data) - len(window) + match.start() if match else len(data)


WORD = re.compile(r"[0-9A-Za-z]{1,64}+")
SEPARATORS = re.compile(SEPARATOR, re.IGNORECASE)
OPENING = re.compile(
    "(?:" + "|".join(f"(?P<{name}>{either(words)})" for name, (words, _) in BRACKETS.items()) + rf"){BLANK}\Z",
    re.IGNORECASE,
)
CLOSING = {name: re.compile(BLANK + either(words), re.IGNORECASE) for name, (_, words) in BRACKETS.items()}
LONGEST_OPENING = max(len(word) for words, _ in BRACKETS.values() for word in words) + 2
