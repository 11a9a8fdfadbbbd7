"""Reads a text once with the parsers of all kinds of destinations, and decides about the placeholders in it."""

from collections.abc import Sequence
from functools import partial
from math import inf

from gateway.destinations.html_attributes import Attributes
from gateway.destinations.markdown_links import MarkdownLinks
from gateway.destinations.plain_urls import PlainUrls
from gateway.destinations.rule import MARK, Address, Allows, Mark


class Destinations:
    """Reads a text and its placeholders, in pieces of any size, and decides about each placeholder.

    `Mark.decided` becomes true when the destination has ended, or on `end()`.
    """

    def __init__(self, allows: Allows, longest: float = inf) -> None:
        new = partial(Address, allows, longest)
        self._plain = PlainUrls(new)
        self._structures = (MarkdownLinks(new, "]("), MarkdownLinks(new, "]:"), Attributes(new))

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

    def read(self, text: str, plain: str, places: Sequence[tuple[int, int, Mark]]) -> None:
        """Reads a whole text with its placeholders, which are sorted and disjoint. `plain` is as long as the text."""
        position = 0
        for start, end, mark in places:
            self.text(text[position:start], plain[position:start])
            self.mark(mark)
            position = end
        self.text(text[position:], plain[position:])
        self.end()
