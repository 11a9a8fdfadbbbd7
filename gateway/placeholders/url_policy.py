"""Implements the URL rule: never restores a value in a destination that the protected source did not contain.

An answer may contain an injected link with a placeholder in its query, and restoring it would send the value to the
owner of the link. The rule restores a placeholder in a destination only if the source contained the same destination,
if the destination is only a placeholder for an address, or if it is `mailto:`, `tel:` or `sms:` with only that
placeholder. Destinations are recognized generously: a false one costs an unrestored placeholder, a missed one a value.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence

from gateway.placeholders.destinations import MARK, Ledger, Mark, RestoreScope
from gateway.placeholders.grammar import Found, looks_like_placeholder
from gateway.placeholders.html_attributes import Attributes
from gateway.placeholders.markdown_links import Definitions, InlineDestinations
from gateway.placeholders.plain_urls import PlainUrls


class Destinations:
    """Reads a text with its placeholders, in pieces of any size, and decides about each placeholder.

    `Mark.decided` becomes true at the latest when the text has gone on beyond the destination, or with `end()`.
    """

    def __init__(self, scope: RestoreScope | None) -> None:
        ledger = Ledger(scope)
        self.collected = ledger.collected
        self._plain = PlainUrls(ledger)
        self._structures = (InlineDestinations(ledger), Definitions(ledger), Attributes(ledger))

    def text(self, piece: str) -> None:
        if MARK in piece:
            piece = piece.replace(MARK, "\ufffd")
        if piece:
            for structure in self._structures:
                structure.text(piece)
            self._plain.text(piece)

    def mark(self, mark: Mark) -> None:
        # What stands in a structure is judged by it alone: it knows best where its destination ends.
        inside = [structure.mark(mark) for structure in self._structures]
        self._plain.mark(mark, waits=not any(inside))
        for structure in self._structures:
            structure.passed(mark)

    def end(self) -> None:
        for structure in self._structures:
            structure.end()
        self._plain.end()

    def read(self, text: str, hits: Sequence[Found], own: Sequence[bool]) -> list[Mark]:
        """Reads a whole text with its placeholders, sorted and disjoint."""
        marks: list[Mark] = []
        position = 0
        for hit, is_own in zip(hits, own, strict=True):
            self.text(text[position : hit.start])
            marks.append(Mark(hit.placeholder, own=is_own, bracketed=text[hit.end - 1] == "]"))
            self.mark(marks[-1])
            position = hit.end
        self.text(text[position:])
        self.end()
        return marks


def urls_with_placeholders(text: str) -> frozenset[str]:
    """The destinations of a protected text that hold placeholders, in the form in which `RestoreScope` has them."""
    hits = looks_like_placeholder(text)
    if not hits or _stand_free(text, hits):
        return frozenset()
    reader = Destinations(None)
    reader.read(text, hits, [True] * len(hits))
    return frozenset(reader.collected)


def withheld(text: str, hits: Sequence[Found], scope: RestoreScope) -> frozenset[int]:
    """Indexes of the hits that must not be opened where they stand. `hits` are the session's own, sorted."""
    if scope.urls == "always" or not hits or _stand_free(text, hits):
        return frozenset()
    own = {hit.start for hit in hits}
    ends = [(hit.start, hit.end) for hit in hits]
    foreign = [hit for hit in looks_like_placeholder(text) if not _overlaps(ends, hit)]
    both = sorted((*hits, *foreign), key=lambda hit: hit.start) if foreign else hits
    marks = Destinations(scope).read(text, both, [hit.start in own for hit in both])
    closed = [mark.closed for mark in marks if mark.own]
    return frozenset(index for index, is_closed in enumerate(closed) if is_closed)


def _stand_free(text: str, hits: Sequence[Found]) -> bool:
    """Whether every placeholder stands between white space, but for the punctuation of a sentence, in plain prose.

    No destination can hold such a one: in running text white space ends it, and what may hold white space needs a sign
    that is not there. Most texts are done with this.
    """
    if any(sign in text for sign in _STRUCTURES) or ("(" in text and "url(" in text.lower()):
        return False
    return all(
        (hit.start == 0 or text[hit.start - 1] in " \n\t") and (_SENTENCE_GOES_ON.match(text, hit.end) is not None)
        for hit in hits
    )


# What begins a destination that white space does not end: Markdown links and definitions, HTML.
_STRUCTURES = ("](", "]:", "<", "=")
_SENTENCE_GOES_ON = re.compile(r"[,.;!?]?(?:[ \n\t]|\Z)")


def _overlaps(spans: list[tuple[int, int]], hit: Found) -> bool:
    at = bisect_left(spans, (hit.end, 0)) - 1
    return at >= 0 and spans[at][1] > hit.start
