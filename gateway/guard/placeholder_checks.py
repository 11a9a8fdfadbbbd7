"""Placeholders that no value of the session has: made up, another session's, or altered on the way."""

from collections.abc import Iterator
from functools import cached_property

from gateway.guard.context import GuardContext, Hit, Source
from gateway.guard.verdict import Kind, Severity

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Tags:
    """The session's placeholders by type and tag, taken apart when first asked for."""

    def __init__(self, context: GuardContext) -> None:
        self._context = context

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(entry.placeholder for entry in self._context.placeholders.entries())

    @cached_property
    def _slips(self) -> dict[str, frozenset[str]]:
        """By type: the tags, and each of them with one character left out."""
        tags: dict[str, set[str]] = {}
        for name in self._names:
            kind, tag = _parts(name)
            tags.setdefault(kind, set()).update(_without_one(tag))
        return {kind: frozenset(every) for kind, every in tags.items()}

    @cached_property
    def tags(self) -> frozenset[str]:
        """All tags of the session."""
        return frozenset(_parts(name)[1] for name in self._names)

    def foreign(self, text: str, source: Source) -> Iterator[Hit]:
        """Placeholder-shaped words of an answer that are none of the session and were not in the request.

        A capital word in brackets is one only if its type exists and its tag holds a digit, as nearly all tags do:
        `[ARRAY_INDEX]` and `[PERSON_NAMES]` are words.
        """
        for found in self._context.placeholders.scan(text):
            if not found.exact or found.placeholder in self._names:
                continue
            kind, tag = _parts(found.placeholder)
            # Two words that are one slip apart have a form in common when each may lose a character.
            forged = tag in self.tags or not self._slips.get(kind, frozenset()).isdisjoint(_without_one(tag))
            if not forged and not self._plausible(kind, tag):
                continue
            if not source.holds(found.placeholder):
                what = Kind.FORGED_PLACEHOLDER if forged else Kind.UNKNOWN_PLACEHOLDER
                yield Hit(what, found.start, found.end, Severity.MEDIUM)

    def _plausible(self, kind: str, tag: str) -> bool:
        exists = kind in self._context.types or kind in self._slips
        return exists and any(char.isdigit() for char in tag) and not _specimen(tag)


def _parts(placeholder: str) -> tuple[str, str]:
    kind, _, tag = placeholder[1:-1].rpartition("_")
    return kind, tag


def _specimen(tag: str) -> bool:
    """A tag that a text about placeholders would write: 00000, 12345."""
    return len(set(tag)) == 1 or tag in _ALPHABET


def _without_one(tag: str) -> set[str]:
    return {tag, *(tag[:index] + tag[index + 1 :] for index in range(len(tag)))}
