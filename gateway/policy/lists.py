"""A policy's lists: values to leave alone, and terms to hide wherever they stand."""

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from unicodedata import normalize

import re2

from gateway.detection.normalized_text import normalize_text
from gateway.policy.document import AllowDocument, DenyDocument
from gateway.policy.patterns import TERMS_MEMORY, Span, compile_expression

# Scripts written without spaces between words: next to one of their letters a word may begin or end.
_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\x{30FC}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_NO_WORD = rf"(?:[^\pL\pN\pM_]|[{_SPACELESS}])"


class AllowList:
    """Values to leave alone. Asks a set, so its length does not matter."""

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
        """Whether `value`, found as `type`, is on the list: as a whole, in this spelling or any case."""
        if not self._exact and not self._folded:
            return False
        plain = normalize("NFC", value)
        if (None, plain) in self._exact or (type, plain) in self._exact:
            return True
        folded = plain.casefold()
        return (None, folded) in self._folded or (type, folded) in self._folded


class TermSearch:
    """The deny-list terms of one type that are matched alike, as one expression over the bytes of a view."""

    def __init__(self, type: str, terms: Iterable[str], *, ignore_case: bool, whole_word: bool) -> None:
        self.type = type
        self.recognizer = "policy:deny"
        self._whole_word = whole_word
        self.gate = _expression(terms, ignore_case, whole_word)

    @cached_property
    def _compiled(self) -> "re2._Regexp":
        return compile_expression(self.gate, longest=True, memory=TERMS_MEMORY)

    def spans(self, data: bytes) -> Iterator[Span]:
        """Every occurrence: the longest term at each place, none inside another."""
        position = 0
        while (match := self._compiled.search(data, position)) is not None:
            start, end = next(match.span(group) for group in (1, 2) if match.start(group) >= 0)
            if self._whole_word and _inside_word(data, start):
                # Nothing can begin before this word has ended: skipping it keeps the time linear.
                rest = _word_end().search(data, start)
                if rest is None:
                    return
                position = rest.start()
            else:
                yield start, end, 1.0
                position = end


def terms_of(entries: Iterable[DenyDocument]) -> list[TermSearch]:
    """One search for each type and way of matching."""
    alike: dict[tuple[str, bool, bool], list[str]] = {}
    for entry in entries:
        alike.setdefault((entry.type, entry.ignore_case, entry.whole_word), []).extend(entry.terms)
    return [
        TermSearch(type_name, terms, ignore_case=ignore_case, whole_word=whole_word)
        for (type_name, ignore_case, whole_word), terms in alike.items()
    ]


def spellings(term: str, ignore_case: bool = False) -> frozenset[str]:
    """What a term may look like in a folded view; empty for a term of which nothing can be seen.

    Composed and decomposed; and, for any case, each case that RE2's `(?i)` does not know to be the same.
    """
    folded = normalize_text(term).data.decode().strip()
    cases = (folded, folded.lower(), folded.upper()) if ignore_case else (folded,)
    found = {_simple_fold(one) if ignore_case else one: one for one in cases if one}
    return frozenset(normalize(form, one) for one in found.values() for form in ("NFC", "NFD"))


def _simple_fold(text: str) -> str:
    """Two texts of the same simple fold are one to RE2's `(?i)`."""
    return "".join(lower if len(lower := char.lower()) == 1 else char for char in text)


def _expression(terms: Iterable[str], ignore_case: bool, whole_word: bool) -> str:
    """A group for terms after which the word must end, and one for the others."""
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
    """Whether the characters before and at a position belong to one word."""
    if at == 0:
        return False
    before = at - 1
    while before > 0 and data[before] & 0xC0 == 0x80:
        before -= 1
    after = at + 1
    while after < len(data) and data[after] & 0xC0 == 0x80:
        after += 1
    return _is_word(data[before:at].decode()) and _is_word(data[at:after].decode())
