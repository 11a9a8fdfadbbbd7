"""Moves the offsets of citations, which count in the text as the provider wrote it, to the restored text.

The guard may have left something out of it, or restored less than the session knows: offsets that cannot be shown to
agree with what the client gets are removed.
"""

from gateway.exchange.answer_guard import AnswerGuard
from gateway.text.answers import AnswerText, CitedSpan


def move(span: CitedSpan, source: str | None, given: str, guard: AnswerGuard) -> bool:
    """Moves the offsets of a span in `source`, of which the client gets `given`. Returns whether they changed.

    The client of a stream may get the end of the text later. Without `source`, the text is unknown.
    """
    offsets = [span.container.get(name) for name in (span.start, span.end)]
    if source is not None and given == source:
        return False
    moved = [] if source is None else [_moved(offset, source, given, guard) for offset in offsets]
    if moved == offsets:
        return False
    for name, offset in zip((span.start, span.end), moved or (None, None), strict=True):
        if offset is None or None in moved:
            span.container.pop(name, None)
        else:
            span.container[name] = offset
    return True


def _moved(offset: object, source: str, given: str, guard: AnswerGuard) -> int | None:
    """Returns the offset in the restored text that corresponds to one in the source."""
    if not isinstance(offset, int) or isinstance(offset, bool) or not 0 <= offset <= len(source):
        return None
    before = source[:offset]
    if "[" in before:
        before = guard.restored(AnswerText(None, None, before))
    return len(before) if given.startswith(before) or before.startswith(given) else None
