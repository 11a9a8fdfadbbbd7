"""Finds values in a text by one of their words, so that the text costs one pass regardless of their number.

A short or word-like value must be a whole word: "Ann" is not in "Annual", nor "Main Street 12" in "Main Street 123". A
specific one (`_is_specific`) is found even within a longer word or number, since such a match is no coincidence.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress
from sys import byteorder
from typing import NamedTuple

from gateway.detection.normalized_text import normalize_text, plain_text
from gateway.detection.unicode_folding import ASCII_SEPARATORS
from gateway.protection.name_spellings import (
    SHORTEST,
    SHORTEST_UNSPACED,
    UNSPACED,
    accounts,
    in_words,
    parts_alone,
    respelled,
)
from gateway.protection.occurrences import (
    CODE_GROUPS,
    MANY,
    SPECIFIC_WORD,
    has_specific_end,
    is_specific,
    places,
    with_beginnings,
    without_overlaps,
)
from gateway.text.fields import Span

# Pieces of a value that are compared at once.
_STRIDE = 8
_SHORTEST_NUMBER = 7
# No separator within a number, or too many; and another number after or, read backwards, before it.
_APART = re.compile(r"[^\w \-./()]|[ \-./()_]{3}")
_NEXT_NUMBER = re.compile(r"[ \-./()]{1,2}\d++(?!\w)")
_MOST_DIGITS = 24
# The separators between the letters and digits of a plain form, and which bytes are others or begin a character.
_BLANKS = bytes(32 if code in ASCII_SEPARATORS else code for code in range(0x100))
_KEPT = bytes(code not in ASCII_SEPARATORS for code in range(0x100))
_STARTS = bytes(not 0x80 <= code < 0xC0 for code in range(0x100))
_WINDOW = 4
_PLUS = re.compile(r"(?<![\w.])\+(?=\d)")
_LETTER = re.compile(r"[^\W\d_]")
# A password that was found in a URL or connection string may also occur alone.
_CONTAIN_PASSWORDS = frozenset(("CONNECTION_STRING", "URL_WITH_CREDENTIALS", "PASSWORD"))
_PASSWORD = re.compile(
    r"://[^\s:/@]*:([^\s@/]{4,})@|;\s*(?:password|pwd)=([^;\s]{4,})|\A[\w.\-]+:([^\s/]{4,})\Z", re.IGNORECASE
)
# The part of a provider's key after `sk-`, `ghp_`, `sk-proj-`.
_UNPREFIXED = re.compile(r"(?:[A-Za-z]{2,8}[_-]){1,3}(?=[A-Za-z_-]*\d)([\w-]{16,})", re.ASCII)
_SECRETS = frozenset({"PASSWORD", "SECRET", "API_KEY"})
# A secret that was found with the name before it, or with signs, a comment or an escape around it.
_INNER = re.compile(r"""(?:[A-Za-z_]\w*[=:])?[*`"'(\[]*+(.+?)(?:[*`"')\].,;:!?\u2026\s]++|(?:\\n|#).*)?""", re.DOTALL)
_WORD = re.compile(r"[^\W_]+")
_MARKED_WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f])*")
# Between the words of a value, lines may be wrapped or quoted, and words be in bold or in table cells.
_MARKS = r"(?:[*`~|]|</?[A-Za-z][^<>\n]{0,64}>){0,4}"
_BLANK = re.compile(rf"{_MARKS}(?=\s)[^\S\n]*(?:\n(?:[^\S\n]|>)*)?{_MARKS}[^\S\n]*")
_JOIN = re.compile(rf"{_BLANK.pattern}|[_.+,;|'\u2019\-]|%20")
# A single word may be an ordinary word in lower case, so its case counts; longer values match in any case.
_WAYS = _EXACT, _WHOLE, _JOINED, _BROKEN = range(4)
_BETWEEN = {_JOINED: _JOIN, _BROKEN: _BLANK}


class _Form(NamedTuple):
    """A way to find values by one of their words."""

    way: int
    """One of `_WAYS`: what may separate the pieces, and whether case counts."""
    offset: int
    """The offset of the word in the first piece."""
    size: int

    def piece(self, text: str, lowered: str, at: int) -> str:
        """Returns the text in the place of the first piece, if the word at `at` is part of it."""
        start = at - self.offset
        return (text if self.way == _EXACT else lowered)[start : start + self.size] if start >= 0 else ""


class ValueIndex:
    """Hidden values, indexed for searching. Its repr shows no text."""

    __slots__ = (
        "_following",
        "_forms",
        "_leads",
        "_order",
        "_people",
        "_plain",
        "_specific",
        "_steps",
        "_strides",
        "_unspaced",
        "_values",
        "_windows",
        "spans",
    )

    def __init__(self) -> None:
        self.spans: dict[str, Span] = {}
        """The replacement of each value and of each other spelling of it."""
        self._forms: dict[str, tuple[_Form, ...]] = {}
        # The lengths of those words that may be within longer runs of letters, by their first two characters.
        self._unspaced: dict[str, frozenset[int]] = {}
        # A trie over pieces, so that values with a common prefix cost no more than one. A state (at first the way) and
        # a piece lead to the next state; `_values` has the values that end in a state.
        self._steps: dict[tuple[int, str], int] = {}
        self._leads: dict[tuple[int, str], tuple[str, ...]] = {}
        self._values: dict[int, tuple[str, ...]] = {}
        # Values by their letters and digits alone, in lower case, and the offsets of each window of four bytes among
        # their first four. One of these windows is at a multiple of four in any text.
        self._plain: dict[bytes, str] = {}
        self._windows: dict[int, tuple[int, ...]] = {}
        # The keys of `_plain` in order, each with the longest of them that it begins with, once they were searched for.
        self._order: dict[bytes, bytes] = {}
        self._people: set[str] = set()
        # The pieces that lead from each state to others.
        self._following: dict[int, tuple[str, ...]] = {}
        # Once asked for: several pieces at once that lead from a state, and which ends of values are specific.
        self._strides: dict[int, tuple[str, int]] = {}
        self._specific: dict[tuple[str, int, bool], bool] = {}

    def add(self, value: str, span: Span) -> None:
        """Adds a value. A later span of the same value is ignored.

        Of a person's name, adds its first and last word as well, and the whole name as it appears in names of files,
        addresses and accounts.
        """
        self._spell(value, span)
        shown = value if value.isascii() else plain_text(normalize_text(value))
        if shown != value:
            self._spell(shown, span)
        if span.type in _CONTAIN_PASSWORDS:
            for password in filter(None, chain.from_iterable(_PASSWORD.findall(value))):
                # A plain word has other meanings: `postgres` is a user, a program and a password.
                if not password.isalpha():
                    self._spell(password, span)
        if span.type in _SECRETS and (inner := _INNER.fullmatch(value)) and is_specific(inner[1]):
            self._spell(inner[1], span)
        if unprefixed := _UNPREFIXED.fullmatch(value):
            self._spell(unprefixed[1], span)
        if span.type == "PERSON" and value not in self._people:
            self._people.add(value)
            self._add_name(value, shown, span)

    def _add_name(self, value: str, name: str, span: Span) -> None:
        for form in (*respelled(name), *parts_alone(name)):
            self._spell(form, span)
        for words in in_words(name):
            pieces = [lower(word) for word in words]
            self._file(value, pieces, _JOINED)
            if min(len(pieces[0]), len(pieces[-1])) >= SHORTEST:
                self._file(value, [pieces[-1], *pieces[:-1]], _JOINED)
            self._spell("".join(words), span)
            for account in accounts(pieces):
                self._spell(account, span)

    def _spell(self, value: str, span: Span) -> None:
        if value in self.spans:
            return
        self.spans[value] = span
        lowered = lower(value)
        self._spell_plain(value, lowered)
        if value.isalpha() and len(value) < SPECIFIC_WORD:
            self._put(value, (value,), lowered, _Form(_EXACT, 0, len(value)))
            return
        self._file(value, (lowered,))
        if span.type != "PERSON" and _LETTER.search(lowered) and len(pieces := lowered.split()) > 1:
            self._file(value, pieces, _BROKEN)

    def _spell_plain(self, value: str, lowered: str) -> None:
        plain = letters_and_digits(lowered)
        if len(plain) < _SHORTEST_NUMBER or plain in self._plain:
            return
        if _LETTER.search(lowered) is not None:
            pieces = CODE_GROUPS.sub("", value).split()
            if not (is_specific(pieces[0]) or is_specific(pieces[-1])):
                return
        self._plain[plain] = value
        self._order = {}
        for offset in range(_WINDOW):
            window = int.from_bytes(plain[offset : offset + _WINDOW], byteorder)
            offsets = self._windows.get(window, ())
            if offset not in offsets:
                self._windows[window] = (*offsets, offset)

    def _file(self, value: str, pieces: Sequence[str], way: int = _WHOLE) -> None:
        forms, first, offset = self._forms, pieces[0], 0
        if not (word := first).isalnum():
            # Searched for by the most specific word: many URLs begin with `https` or share a domain.
            words = [(len(forms.get(found[0], ())), -len(found[0]), found.start()) for found in _WORD.finditer(first)]
            if not words:
                return
            _, length, offset = min(words)
            word = first[offset : offset - length]
        self._put(value, pieces, word, _Form(way, offset, len(first)))

    def _put(self, value: str, pieces: Sequence[str], word: str, form: _Form) -> None:
        forms = self._forms.get(word, ())
        if not forms and len(word) > 1 and UNSPACED.search(word):
            self._unspaced[word[:2]] = self._unspaced.get(word[:2], frozenset()) | {len(word)}
        if form not in forms:
            self._forms[word] = (*forms, form)
        at = form.way
        self._strides = {}
        for number, piece in enumerate(pieces):
            step = (at, piece)
            if step not in self._steps:
                self._steps[step] = len(self._steps) + len(_WAYS)
                if number:
                    lead = (at, _lead(piece, 0))
                    self._leads[lead] = (*self._leads.get(lead, ()), piece)
                    self._following[at] = (*self._following.get(at, ()), piece)
            at = self._steps[step]
        values = self._values.get(at, ())
        # Values that are hidden the same way and differ only in case need one entry.
        if not any(self.spans[value][2:] == self.spans[other][2:] for other in values):
            self._values[at] = (*values, value)

    def is_word_of_name(self, value: str) -> bool:
        """Returns whether an indexed value is a given or family name alone, and not a whole name without blanks."""
        if self.spans[value].type != "PERSON" or not value.isalpha():
            return False
        return not any(name != value and "".join(_WORD.findall(name)) == value for name in self._people)

    def find(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yields start, end and value of the known values in a text."""
        lowered = lower(text)
        yield from without_overlaps(self._find_words(text, lowered))
        if self._plain:
            yield from without_overlaps(self._find_plain(text, lowered))

    def _find_words(self, text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
        gaps: dict[tuple[int, int], tuple[int, str] | None] = {}
        for word, at in places(lowered, self._forms, self._unspaced, self._is_whole):
            for form in self._forms[word]:
                piece = form.piece(text, lowered, at)
                step = self._steps.get((form.way, piece))
                if step is not None:
                    start = at - form.offset
                    for end, values in self._ends(lowered, form.way, step, start + len(piece), gaps):
                        for value in values:
                            if self._stands_free(text, start, end, value):
                                yield start, end, value

    def _is_whole(self, word: str) -> bool:
        """Returns whether a word is a value that is found within other words, too, and begins no longer one."""
        return is_specific(word) and all(
            form.size == len(word) and self._steps.get((form.way, word)) not in self._following
            for form in self._forms[word]
        )

    def _ends(
        self, lowered: str, way: int, step: int, at: int, gaps: dict[tuple[int, int], tuple[int, str] | None]
    ) -> Iterator[tuple[int, Sequence[str]]]:
        """Yields the end and the values for every value whose first piece ends at `at`.

        `gaps` remembers the gaps of the text: pieces that repeat make many ways lead across the same one.
        """
        open_ = [(step, at)]
        while open_:
            step, at = open_.pop()
            if step in self._values:
                yield at, self._values[step]
            if step not in self._following:
                continue
            several, after = self._strides.get(step) or self._stride(step)
            if several and lowered.startswith(several, at):
                open_.append((after, at + len(several)))
                continue
            if (way, at) not in gaps:
                gap = _BETWEEN[way].match(lowered, at)
                gaps[way, at] = (gap.end(), _lead(lowered, gap.end())) if gap is not None else None
            if (found := gaps[way, at]) is not None:
                at, lead = found
                pieces = self._leads.get((step, lead), ())
                open_ += [(self._steps[step, p], at + len(p)) for p in pieces if lowered.startswith(p, at)]

    def _stride(self, step: int) -> tuple[str, int]:
        """Returns the next pieces after a state, with blanks between them, and the state that they lead to.

        None of the states between them has a value, or more than one way to go on.
        """
        pieces, after = [""], step
        while len(pieces) <= _STRIDE and len(following := self._following.get(after, ())) == 1:
            if after != step and after in self._values:
                break
            pieces.append(following[0])
            after = self._steps[after, following[0]]
        self._strides[step] = (" ".join(pieces) if len(pieces) > 2 else "", after)
        return self._strides[step]

    def _stands_free(self, text: str, start: int, end: int, value: str) -> bool:
        """Returns whether an occurrence is not cut out of a longer word, unless the end of the value there is specific.

        `192.168.10.25` is not in `192.168.10.250`.
        """
        for edge, inner, outer in ((0, start, start - 1), (-1, end - 1, end)):
            if 0 <= outer < len(text) and text[outer].isalnum() and text[inner].isalnum():
                key = value, edge, text[outer].isdecimal() and text[inner].isdecimal()
                if key not in self._specific:
                    self._specific[key] = has_specific_end(*key)
                if self._specific[key]:
                    continue
                # Most words of two characters are part of other words as well.
                if len(value) <= SHORTEST_UNSPACED or not (UNSPACED.match(text, outer) or UNSPACED.match(text, inner)):
                    return False
        return True

    def _find_plain(self, text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
        """Yields values that are within longer words, or have other separators between their letters and digits."""
        plain = letters_and_digits(lowered)
        # If there are few words, `places` finds those within others, too; a value of signs alone has none.
        if len(self._forms) <= MANY and not any(
            (count := plain.count(known)) and (count > lowered.count(lower(value)) or _WORD.search(value) is None)
            for known, value in self._plain.items()
        ):
            return
        self._order = self._order or with_beginnings(self._plain)
        order, longest = [*self._order], max(map(len, self._order))
        offsets: list[int] = []
        windows = memoryview(plain[: len(plain) // _WINDOW * _WINDOW]).cast("I")
        for number in compress(range(len(windows)), map(self._windows.__contains__, windows)):
            for offset in self._windows[windows[number]]:
                first = number * _WINDOW - offset
                for known in self._beginnings(order, plain[first : first + longest] if first >= 0 else b""):
                    value = self._plain[known]
                    offsets = offsets or _offsets(lowered)
                    start, end = offsets[first], offsets[first + len(known) - 1] + 1
                    if _reads_as(lowered, start, end, value) and self._stands_free(text, start, end, value):
                        yield start - (_PLUS.match(text, start - 1) is not None), end, value
                        break  # it covers the shorter ones

    def _beginnings(self, order: Sequence[bytes], rest: bytes) -> Iterator[bytes]:
        """Yields the plain forms that the rest of a text begins with, the longest first.

        In order, all forms between one of them and the rest begin with that one, too.
        """
        before = bisect_right(order, rest)
        known = order[before - 1] if before else b""
        while known:
            if rest.startswith(known):
                yield known
            known = self._order[known]


def has_parts(value: str, kind: str) -> bool:
    """Returns whether parts of a value are searched for as well: a password, or a key without its prefix."""
    return kind in _CONTAIN_PASSWORDS or kind in _SECRETS or _UNPREFIXED.fullmatch(value) is not None


def words_of(value: str) -> list[bytes]:
    """Returns the words of a value, in lower case."""
    if value.isascii():
        return value.encode().lower().translate(_BLANKS).split()
    return [word.encode("utf-8", "replace") for word in _MARKED_WORD.findall(lower(value))]


def _lead(text: str, at: int) -> str:
    """Returns the run of letters and digits at an offset."""
    found = _WORD.match(text, at)
    return found[0] if found else ""


def lower(text: str) -> str:
    """Lowercases without changing the length: `İ` is the only letter whose lower case is two characters."""
    return text.replace("İ", "i").lower()


def _reads_as(lowered: str, start: int, end: int, value: str) -> bool:
    """Returns whether a text with the letters and digits of a value has its separators, or those of a number."""
    if lowered[start:end] == lower(value):
        return True
    if sum(map(str.isdecimal, value)) < _SHORTEST_NUMBER or _APART.search(lowered, start, end):
        return False
    before = lowered[max(0, start - _MOST_DIGITS) : start][::-1]
    return not (_NEXT_NUMBER.match(lowered, end) or _NEXT_NUMBER.match(before))


def letters_and_digits(lowered: str) -> bytes:
    """Returns the letters and digits of a text."""
    return lowered.encode("utf-8", "replace").translate(None, ASCII_SEPARATORS)


def _offsets(lowered: str) -> list[int]:
    """Returns the offset in a text of each byte of its plain form."""
    data = lowered.encode("utf-8", "replace")
    places: Iterable[int] = range(len(data))
    if not lowered.isascii():
        places = (count - 1 for count in accumulate(data.translate(_STARTS)))
    return list(compress(places, data.translate(_KEPT)))
