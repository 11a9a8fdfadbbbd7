"""Restores an answer while it is being received, with the same result as restoring it as a whole."""

from collections import deque

from gateway.destinations.parser import Destinations
from gateway.destinations.rule import Mark, RestoreScope
from gateway.placeholders.grammar import Found
from gateway.placeholders.matcher import TOUCHED, open_end
from gateway.placeholders.session import Placeholders


class StreamRestorer:
    """Restores a text that arrives in pieces. Pieces are strings, so the caller decodes UTF-8.

    Holds back text that may still become a placeholder, and placeholders in incomplete destinations with the text after
    them: at most the length of the longest destination of the source and a few characters.
    """

    def __init__(self, placeholders: Placeholders, rules: RestoreScope) -> None:
        self._placeholders = placeholders
        self._destinations = None if rules.urls == "always" else Destinations(rules.allows, rules.longest)
        self._buffer = ""
        self._before = ""
        self._queue: deque[str | tuple[Mark, str]] = deque()
        self._withheld: dict[str, None] = {}
        self._unknown: dict[str, None] = {}
        self.resolved = 0
        """The number of placeholders restored so far."""

    @property
    def withheld(self) -> tuple[str, ...]:
        """Placeholders that the URL rule has kept so far."""
        return tuple(self._withheld)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Canonical forms so far that belong to no value of the session."""
        return tuple(self._unknown)

    def feed(self, piece: str) -> str:
        """Adds a piece and returns the text that is ready."""
        if not self._placeholders:
            return piece
        self._buffer += piece
        self._advance(open_end(self._buffer, self._placeholders.vocabulary))
        return self._ready()

    def pass_text(self, piece: str) -> str:
        """Adds a piece that holds no placeholder, complete or begun, and returns the text that is ready."""
        if self._buffer:
            return self.feed(piece)
        self._text(piece)
        return self._ready()

    def skip(self, text: str) -> None:
        """Adds text that was restored before. What follows may go to a destination that begins in it."""
        self._buffer = text
        self._advance(len(text))
        self._buffer = ""
        self._queue.clear()

    def finish(self) -> str:
        """Ends the answer and returns the rest."""
        self._advance(len(self._buffer))
        if self._destinations is not None:
            self._destinations.end()
        return self._ready()

    def _advance(self, end: int) -> None:
        """Reads the buffer up to `end`. More text cannot change what the placeholders before it are."""
        position = 0
        for hit in self._placeholders.scan(self._buffer, before=self._before):
            if not hit.exact and hit.end == end < len(self._buffer):
                # The text after it may become a canonical placeholder, and then this one touches it and is none.
                end = hit.start
            if hit.start >= end:
                break
            self._text(self._buffer[position : hit.start])
            self._mark(hit)
            position = hit.end
            # `open_end` counts the backtick that closes a placeholder as one that may open another.
            end = max(end, position)
        self._text(self._buffer[position:end])
        self._buffer = self._buffer[end:]

    def _text(self, text: str) -> None:
        if text:
            self._before = text[-1]
            self._queue.append(text)
            if self._destinations is not None:
                self._destinations.text(text)

    def _mark(self, hit: Found) -> None:
        self._before = TOUCHED
        written = self._buffer[hit.start : hit.end]
        own = self._placeholders.get(hit.placeholder) is not None
        mark = Mark(hit.placeholder, own=own, bracketed=written.endswith("]"))
        self._queue.append((mark, written))
        if self._destinations is not None:
            self._destinations.mark(mark)

    def _ready(self) -> str:
        ready: list[str] = []
        while self._queue:
            head = self._queue[0]
            if isinstance(head, str):
                ready.append(head)
            elif head[0].decided:
                ready.append(self._restored(*head))
            else:
                break
            self._queue.popleft()
        return "".join(ready)

    def _restored(self, mark: Mark, written: str) -> str:
        entry = self._placeholders.get(mark.name)
        if entry is not None and not mark.refused:
            self.resolved += 1
            return entry.value
        if entry is not None:
            self._withheld[mark.name] = None
        elif self._placeholders.is_unknown(mark.name):
            self._unknown[mark.name] = None
        return written
