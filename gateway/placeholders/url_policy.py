"""Implements the URL rule: never restores a value in a destination that the protected source did not contain.

An answer may contain an injected link with a placeholder in its query, and restoring it would send the value to the
owner of the link. The rule restores a placeholder in a destination only if the source contained the same destination,
if the destination is only a placeholder for an address, or if it is `mailto:`, `tel:` or `sms:` with only that
placeholder. Destinations are recognized generously: a false one costs an unrestored placeholder, a missed one a value.
"""

import re
from collections.abc import Sequence

from gateway.detection.overlaps import meets
from gateway.placeholders.destinations import MARK, Mark, RestoreScope, UrlRule
from gateway.placeholders.grammar import Found, looks_like_placeholder
from gateway.placeholders.html_attributes import Attributes
from gateway.placeholders.json_text import is_document, with_blanks
from gateway.placeholders.markdown_links import Definitions, InlineLinks
from gateway.placeholders.plain_urls import PlainUrls

# What starts a destination that may contain white space: Markdown links and definitions, HTML.
_OPENINGS = ("](", "]:", "<", "=")
_AFTER_WORD = re.compile(r"[,.;!?]?(?:[ \n\t]|\Z)")


class Destinations:
    """Reads a text and its placeholders, in pieces of any size, and decides about each placeholder.

    `Mark.decided` becomes true when the destination has ended, or on `end()`.
    """

    def __init__(self, rule: UrlRule) -> None:
        self._plain = PlainUrls(rule)
        self._structures = (InlineLinks(rule), Definitions(rule), Attributes(rule))

    def text(self, piece: str, plain: str | None = None) -> None:
        """Adds a piece. `plain` is how the parser of running text reads it, if that is not how it is spelled."""
        if MARK in piece:
            piece = piece.replace(MARK, "\ufffd")
        if piece:
            for structure in self._structures:
                structure.text(piece)
            self._plain.text(piece if plain is None else plain.replace(MARK, "\ufffd"))

    def mark(self, mark: Mark) -> None:
        # A structure knows where its destination ends, so it alone decides about the placeholders in it.
        inside = [structure.mark(mark) for structure in self._structures]
        self._plain.mark(mark, waits=not any(inside))

    def end(self) -> None:
        for structure in self._structures:
            structure.end()
        self._plain.end()

    def read(self, text: str, plain: str, hits: Sequence[Found], own: Sequence[bool]) -> list[Mark]:
        """Reads a whole text with its placeholders, which are sorted and disjoint. `plain` is as long as the text."""
        marks: list[Mark] = []
        position = 0
        for hit, is_own in zip(hits, own, strict=True):
            self.text(text[position : hit.start], plain[position : hit.start])
            marks.append(Mark(hit.placeholder, own=is_own, bracketed=text[hit.end - 1] == "]"))
            self.mark(marks[-1])
            position = hit.end
        self.text(text[position:], plain[position:])
        self.end()
        return marks


def urls_with_placeholders(text: str) -> frozenset[str]:
    """Returns the destinations of a protected text that contain placeholders, as `RestoreScope` takes them."""
    hits = looks_like_placeholder(text)
    if not hits:
        return frozenset()
    rule = UrlRule(None)
    # An answer may repeat a document as one, or within prose.
    for plain in dict.fromkeys((text, _running_text(text))):
        if not _are_words(plain, hits):
            Destinations(rule).read(text, plain, hits, [True] * len(hits))
    return frozenset(rule.collected)


def withheld(text: str, hits: Sequence[Found], scope: RestoreScope, rule: UrlRule | None = None) -> frozenset[int]:
    """Returns the indices of the hits that must not be restored. `hits` are the session's own, sorted.

    `rule` decides about destinations in place of the scope's own rule.
    """
    if scope.urls == "always" or not hits:
        return frozenset()
    plain = _running_text(text)
    if _are_words(plain, hits):
        return frozenset()
    own = {hit.start for hit in hits}
    ends = [(hit.start, hit.end) for hit in hits]
    foreign = [hit for hit in looks_like_placeholder(text) if not meets(ends, hit.start, hit.end)]
    both = sorted((*hits, *foreign), key=lambda hit: hit.start) if foreign else hits
    is_own = [hit.start in own for hit in both]
    marks = Destinations(rule or UrlRule(scope)).read(text, plain, both, is_own)
    return frozenset(index for index, mark in enumerate([mark for mark in marks if mark.own]) if mark.closed)


def _running_text(text: str) -> str:
    """Returns a text in which white space ends a URL also where a JSON document escapes it: programs read its strings.

    Links, elements and attributes are read as they are spelled, since they may load by themselves on a page.
    """
    return with_blanks(text) if is_document(text) else text


def _are_words(text: str, hits: Sequence[Found]) -> bool:
    """Returns whether every placeholder is a word of its own in plain prose, as in most texts.

    No destination contains such a word: in running text white space ends it, and one that may contain white space
    needs an opening, which is missing.
    """
    if any(opening in text for opening in _OPENINGS) or ("(" in text and "url(" in text.lower()):
        return False
    return all(
        (hit.start == 0 or text[hit.start - 1] in " \n\t") and (_AFTER_WORD.match(text, hit.end) is not None)
        for hit in hits
    )
