"""Implements a policy's lists: values never to hide, and terms always to hide."""

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from unicodedata import normalize

import re2

from gateway.detection.normalized_text import normalize_text
from gateway.models import OWN_RECOGNIZER
from gateway.policy.document import AllowDocument, DenyDocument
from gateway.policy.patterns import TERMS_MEMORY, Span, compile_expression

# Scripts without spaces between words, where a word may start or end next to any letter.
_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\x{30FC}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_NO_WORD = rf"(?:[^\pL\pN\pM_]|[{_SPACELESS}])"


class AllowList:
    """Values never to hide, in a set for constant-time lookup."""

    __slots__ = ("_exact", "_folded")

    def __init__(self, entries: Iterable[AllowDocument]) -> None:
        self._exact: set[tuple[str | None, str]] = set()
        self._folded: set[tuple[str | None, str]] = set()
        for entry in entries:
            for value in entry.values:
                plain = normalize("NFC", value)
                for type_name in entry.types or (None,):
                    if entry.ignore_case:
                        self._folded.add((type_name, plain.casefold()))
                    else:
                        self._exact.add((type_name, plain))

    def __repr__(self) -> str:
        return f"AllowList({len(self._exact) + len(self._folded)} values)"

    def allows(self, type: str, value: str) -> bool:
        """Whether the list contains the whole `value` for entities of `type`."""
        if not self._exact and not self._folded:
            return False
        plain = normalize("NFC", value)
        if (None, plain) in self._exact or (type, plain) in self._exact:
            return True
        folded = plain.casefold()
        return (None, folded) in self._folded or (type, folded) in self._folded


class TermSearch:
    """Searches the bytes of a normalized text for the deny-list terms of one type with the same options."""

    def __init__(
        self, type: str, terms: Iterable[str], *, ignore_case: bool, whole_word: bool, recognizer: str
    ) -> None:
        self.type = type
        self.recognizer = recognizer
        self._whole_word = whole_word
        self.expression = _expression(terms, ignore_case, whole_word)

    @cached_property
    def _compiled(self) -> "re2._Regexp":
        return compile_expression(self.expression, longest=True, memory=TERMS_MEMORY)

    def spans(self, data: bytes) -> Iterator[Span]:
        """Yields every occurrence, the longest term at each position, without overlaps."""
        position = 0
        while (match := self._compiled.search(data, position)) is not None:
            start, end = next(match.span(group) for group in (1, 2) if match.start(group) >= 0)
            if self._whole_word and _inside_word(data, start):
                # No term can start before the word ends. Skipping it keeps the time linear.
                rest = _word_end().search(data, start)
                if rest is None:
                    return
                position = rest.start()
            else:
                yield start, end, 1.0
                position = end


def terms_of(entries: Iterable[DenyDocument], recognizer: str = OWN_RECOGNIZER + "deny") -> list[TermSearch]:
    """Groups terms into one search per type and options, whose findings are those of `recognizer`."""
    alike: dict[tuple[str, bool, bool], list[str]] = {}
    for entry in entries:
        alike.setdefault((entry.type, entry.ignore_case, entry.whole_word), []).extend(entry.terms)
    return [
        TermSearch(type_name, terms, ignore_case=ignore_case, whole_word=whole_word, recognizer=recognizer)
        for (type_name, ignore_case, whole_word), terms in alike.items()
    ]


def spellings(term: str, ignore_case: bool = False) -> frozenset[str]:
    """Returns the spellings of a term in normalized text; none for a term without visible characters.

    They are composed and decomposed, and with `ignore_case` include cases that RE2's `(?i)` does not fold together.
    """
    folded = normalize_text(term).data.decode().strip()
    cases = (folded, folded.lower(), folded.upper()) if ignore_case else (folded,)
    found = {_simple_fold(one) if ignore_case else one: one for one in cases if one}
    return frozenset(normalize(form, one) for one in found.values() for form in ("NFC", "NFD"))


def _simple_fold(text: str) -> str:
    """Folds case like RE2's `(?i)`, character by character."""
    return "".join(lower if len(lower := char.lower()) == 1 else char for char in text)


def _expression(terms: Iterable[str], ignore_case: bool, whole_word: bool) -> str:
    """Builds an expression with one group for terms that must end at a word boundary and one for the others."""
    bounded: set[str] = set()
    free: set[str] = set()
    for term in terms:
        for spelling in spellings(term, ignore_case):
            escaped = r"\s+".join(re2.escape(word) for word in spelling.split())
            (bounded if whole_word and _is_word(spelling[-1]) else free).add(escaped)
    parts = []
    if bounded:
        parts.append(rf"({'|'.join(sorted(bounded))})(?:\z|{_NO_WORD})")
    if free:
        parts.append(f"({'|'.join(sorted(free))})")
    return ("(?i)" if ignore_case else "") + "|".join(parts)


@lru_cache(maxsize=4096)
def _is_word(char: str) -> bool:
    return _word_end().fullmatch(char) is None


@lru_cache(maxsize=1)
def _word_end() -> "re2._Regexp":
    return compile_expression(_NO_WORD)


def _inside_word(data: bytes, at: int) -> bool:
    """Whether the characters before and at a position belong to the same word."""
    if at == 0:
        return False
    before = at - 1
    while before > 0 and data[before] & 0xC0 == 0x80:
        before -= 1
    after = at + 1
    while after < len(data) and data[after] & 0xC0 == 0x80:
        after += 1
    return _is_word(data[before:at].decode()) and _is_word(data[at:after].decode())
