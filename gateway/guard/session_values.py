"""Finds what an answer says of the session: placeholders that it does not have, and its values in clear or encoded."""

import re
from codecs import encode
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from urllib.parse import unquote

from gateway.destinations.trust import Source
from gateway.detection import EntityType, group_of
from gateway.detection.deobfuscation.search import text_variants
from gateway.detection.unicode_folding import compact
from gateway.guard.verdict import Hit, Kind, Severity
from gateway.placeholders import Known, Placeholders
from gateway.placeholders.grammar import ALPHABET, type_of
from gateway.text.many_words import LONGEST, ManyWords

GRAVE_GROUPS = frozenset({"secret", "financial", "government_id", "health"})
"""Groups of types whose values do much harm."""
_SHORTEST_WORD = 4
_SHORTEST_NUMBER = 7
# Characters and values, from which on one search for all takes less time than one for each.
_LONG, _MANY = 4096, 24
# Between two characters of one value are at most this many others: "+49 (30) 1234", not half a sentence.
_WIDEST_GAP = 4
# Groups of values that a model knows from its training: one word of such a value is no leak.
_COMMON_GROUPS = frozenset({"address", "organization", "temporal"})
_NEVER = frozenset({"PLACEHOLDER", "AGE"})
# "5552368" in "5,552,368.10" and in "9.555.2368" is part of another number.
_GOES_ON = re.compile(r"\d[.,]\d")
_PARAMETER = re.compile(r"[?&;][\w.-]{1,40}=")
_VOWELS = frozenset("AEY")


class SessionValues:
    """The placeholders and values of a session, taken apart when first asked for."""

    def __init__(self, placeholders: Placeholders, types: Mapping[str, EntityType]) -> None:
        self._placeholders = placeholders
        self._types = types

    @cached_property
    def _tags(self) -> set[str]:
        return {_tag(entry.placeholder) for entry in self._placeholders.entries()}

    @cached_property
    def _slips(self) -> set[str]:
        """The tags, and each of them with one character left out."""
        return set[str]().union(*map(_without_one, self._tags))

    @cached_property
    def _rare_tags(self) -> list[str]:
        """Tags that no URL contains by chance: neither numbers nor words of letters with a vowel."""
        return [tag for tag in self._tags if not tag.isdigit() and not (tag.isalpha() and _VOWELS & set(tag))]

    @cached_property
    def _values(self) -> list[tuple[str, Known]]:
        """The values to search for, each with its letters and digits."""
        unique: dict[tuple[str, bool], tuple[str, Known]] = {}
        for entry in self._placeholders.entries():
            plain, is_word = compact(entry.value), entry.value.isalpha()
            if len(plain) < (_SHORTEST_NUMBER if plain.isdigit() else _SHORTEST_WORD) or entry.type in _NEVER:
                continue
            if not (is_word and group_of(entry.type, self._types) in _COMMON_GROUPS):
                unique[plain, is_word] = plain, entry
        return list(unique.values())

    @cached_property
    def _search(self) -> ManyWords:
        return ManyWords(_bytes(plain) for plain, _ in self._values)

    def _that_may_be_in(self, hay: str) -> Sequence[tuple[str, Known]]:
        """Leaves out values that are not in a text, if that takes less time than to search for each."""
        if len(hay) < _LONG or len(self._values) < _MANY:
            return self._values
        found = self._search.count(_bytes(hay))
        return [each for each in self._values if found is None or _bytes(each[0])[:LONGEST] in found]

    def foreign_placeholders(self, text: str, source: Source) -> Iterator[Hit]:
        """Placeholder-shaped words of an answer that are none of the session and were not in the request."""
        for found in self._placeholders.scan(text):
            if not found.exact or self._placeholders.get(found.placeholder):
                continue
            tag = _tag(found.placeholder)
            # Two words that are one slip apart have a form in common when each may lose a character.
            forged = not self._slips.isdisjoint(_without_one(tag))
            # Nearly all tags have a digit; a text about placeholders would write `[ARRAY_INDEX]`, 00000 or 12345.
            is_example = tag.isalpha() or len(set(tag)) == 1 or tag in ALPHABET
            kind = type_of(found.placeholder)
            exists = kind in self._types or kind in self._placeholders.vocabulary.types
            if (forged or (exists and not is_example)) and not source.holds(found.placeholder):
                what = Kind.FORGED_PLACEHOLDER if forged else Kind.UNKNOWN_PLACEHOLDER
                yield Hit(what, found.start, found.end, Severity.MEDIUM)

    def in_clear(self, text: str, source: Source) -> Iterator[Hit]:
        """Yields protected values that are in clear, in any spelling that keeps their letters and digits in order.

        A value that was sent in clear with this request, since another policy permits it, was not protected.
        """
        hay = compact(text) if self._values else ""
        present = [value for value in self._that_may_be_in(hay) if value[0] in hay]
        # Where in the text each character of its compact form is.
        places = [index for index, char in enumerate(text) for _ in compact(char)] if present else []
        for plain, entry in present:
            if source.names(entry.value.lower(), whole=True):
                continue
            severity = Severity.HIGH if group_of(entry.type, self._types) in GRAVE_GROUPS else Severity.MEDIUM
            for match in re.finditer(f"(?={plain})", hay):
                own = places[match.start() : match.start() + len(plain)]
                start, end = own[0], own[-1] + 1
                is_dense = all(after - before <= _WIDEST_GAP + 1 for before, after in pairwise(own))
                if is_dense and _is_whole(text, start, end, entry.value):
                    yield Hit(Kind.PROTECTED_VALUE_IN_CLEAR, start, end, severity)

    def are_hidden_in(self, url: str) -> bool:
        """Whether a URL contains a placeholder, a tag or a value that is encoded, reversed, or cut to pieces."""
        plain = unquote(unquote(url))
        squeezed = "".join(filter(str.isalnum, _PARAMETER.sub("", plain))).upper()
        if any(tag in squeezed or tag[::-1] in squeezed for tag in self._rare_tags):
            return True
        # The first reading is the URL itself.
        _, *decoded = text_variants(url)
        readings = [form for text in (*decoded, plain) for form in (text, text[::-1], encode(text, "rot13"))]
        if any(map(self._placeholders.find, readings)):
            return True
        in_clear = compact(url)
        hidden = [plain for plain, _ in self._values if plain not in in_clear]
        return any(value in hay for hay in map(compact, readings) for value in hidden)


def _bytes(plain: str) -> bytes:
    return plain.encode("utf-8", "surrogatepass")


def _tag(placeholder: str) -> str:
    return placeholder[1:-1].rpartition("_")[2]


def _without_one(tag: str) -> set[str]:
    return {tag, *(tag[:index] + tag[index + 1 :] for index in range(len(tag)))}


def _is_whole(text: str, start: int, end: int, value: str) -> bool:
    """Not inside a longer word or number. A single word counts in its own spelling only: "Will" is no "will"."""
    if (start > 0 and text[start - 1].isalnum()) or (end < len(text) and text[end].isalnum()):
        return False
    if _GOES_ON.match(text, end - 1) or (start > 1 and _GOES_ON.match(text, start - 2)):
        return False
    return not value.isalpha() or text[start:end] == value
