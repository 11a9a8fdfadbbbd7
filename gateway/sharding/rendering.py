"""Renders parts of a text with their findings replaced."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from gateway.text.fields import Span
from gateway.text.token_estimate import weigh


class Renderer:
    """Replaces each of the disjoint, sorted `spans` of a text by `replace(span, value)`."""

    def __init__(self, text: str, spans: Sequence[Span], replace: Callable[[Span, str], str]) -> None:
        self._text = text
        self._spans = spans
        self._starts = [span.start for span in spans]
        self._replace = replace

    def render(self, start: int, end: int) -> str:
        """Returns `text[start:end]`, protected. Both ends must be outside of spans."""
        parts: list[str] = []
        position = start
        for index in range(bisect_left(self._starts, start), bisect_left(self._starts, end)):
            span = self._spans[index]
            parts += (self._text[position : span.start], self._replace(span, self._text[span.start : span.end]))
            position = span.end
        parts.append(self._text[position:end])
        return "".join(parts)

    def render_parts(self, start: int, middle: int, end: int) -> tuple[str, str]:
        """Renders `text[start:middle]` and `text[middle:end]`. Moves a middle or end within a span out of it."""
        for index in range(bisect_left(self._starts, start), bisect_left(self._starts, end)):
            span = self._spans[index]
            if span.start < middle < span.end:
                middle = span.start
            end = max(end, span.end)
        return self.render(start, middle), self.render(middle, end)

    def weigh(self, start: int, end: int) -> float:
        """Estimates the tokens of `render(start, end)`."""
        return weigh(self.render(start, end))
