"""Placeholders that no value of the session has: made up, another session's, or altered on the way."""

from collections.abc import Iterator
from functools import cached_property

from gateway.inspection.context import GuardContext, Hit, Source
from gateway.inspection.verdict import Kind, Severity
from gateway.placeholders import looks_like_placeholder

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Tags:
    """The session's placeholders by type and tag, taken apart when first asked for."""

    def __init__(self, context: GuardContext) -> None:
        self._context = context

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(entry.placeholder for entry in self._context.placeholders.entries())

    @cached_property
    def _by_type(self) -> dict[str, set[str]]:
        result: dict[str, set[str]] = {}
        for name in self._names:
            kind, tag = _parts(name)
            result.setdefault(kind, set()).add(tag)
        return result

    @cached_property
    def tags(self) -> frozenset[str]:
        """All tags of the session."""
        return frozenset(tag for tags in self._by_type.values() for tag in tags)

    def foreign(self, text: str, source: Source) -> Iterator[Hit]:
        """Placeholder-shaped words of an answer that are none of the session and were not in the request.

        A capital word in brackets is one only if its type exists and its tag holds a digit, as nearly all tags do:
        `[ARRAY_INDEX]` and `[PERSON_NAMES]` are words.
        """
        for found in looks_like_placeholder(text):
            if found.placeholder in self._names:
                continue
            kind, tag = _parts(found.placeholder)
            forged = tag in self.tags or any(_one_slip(tag, own) for own in self._by_type.get(kind, ()))
            if not forged and not self._plausible(kind, tag):
                continue
            if not source.holds(found.placeholder):
                what = Kind.FORGED_PLACEHOLDER if forged else Kind.UNKNOWN_PLACEHOLDER
                yield Hit(what, found.start, found.end, Severity.MEDIUM)

    def _plausible(self, kind: str, tag: str) -> bool:
        exists = kind in self._context.types or kind in self._by_type
        return exists and any(char.isdigit() for char in tag) and not _specimen(tag)


def _parts(placeholder: str) -> tuple[str, str]:
    kind, _, tag = placeholder[1:-1].rpartition("_")
    return kind, tag


def _specimen(tag: str) -> bool:
    """A tag that a text about placeholders would write: 00000, 12345."""
    return len(set(tag)) == 1 or tag in _ALPHABET


def _one_slip(one: str, other: str) -> bool:
    """Whether one character was changed, left out or added, or two neighbours swapped."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    first = next((index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if first is None:
        return True
    a, b = one[first:], other[first:]
    if len(a) == len(b):
        return a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])
    return a[1:] == b if len(a) > len(b) else a == b[1:]
