"""Values broken over texts that a model reads as one, as the parts of a message are.

Only what proves itself counts, a checksum or an issuer's form, and only where it goes through a joint: all else was
found in its own text, or is what two ends of texts happen to read like. Where one of the ends is open, as after the
sign of an address, what is nearly certain counts too.

And values whose label stands in the text before: the question that a message answers, the beginning of a sentence that
goes on in the next part.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from gateway.text.fields import MessageField, Span, Spans, TextField

_REACH = 96
_PROVEN = 1.0
_NEARLY = 0.85
_OPEN = frozenset("@_-")
_QUESTION, _ANSWER = 160, 100
"""Characters."""
# At least one side has figures or the sign of an address.
_TELLING = re.compile(r"[0-9@]")
_BEFORE = re.compile(r"\S{1,40}[ ]?\Z")
_AFTER = re.compile(r"[ ]?\S{1,40}")


def adjacent_texts(fields: Sequence[MessageField]) -> list[int]:
    """Of all the texts of the fields those that go on where the text before ends, by number."""
    flags = [isinstance(field, TextField) and field.goes_on for field in fields for _ in field.texts]
    return [number for number, goes_on in enumerate(flags) if goes_on and number]


def values_across(
    texts: Sequence[str], joints: Sequence[int], find: Callable[[str], Spans]
) -> Iterator[tuple[int, Span]]:
    """What `find` proves to go through a joint: for each text that holds a piece, its number and the piece's span."""
    for run in _runs(joints):
        pieces = texts[run.start - 1 : run.stop]
        starts = list(accumulate(map(len, pieces), initial=0))
        joined = "".join(pieces)
        for joint in starts[1:-1]:
            first, last = max(0, joint - _REACH), joint + _REACH
            if not _may_go_on(joined[first:joint], joined[joint:last]):
                continue
            is_open = joined[joint - 1] in _OPEN or joined[joint] in _OPEN
            least = _NEARLY if is_open else _PROVEN
            for span in find(joined[first:last]):
                start, end = first + span.start, first + span.end
                if span.score >= least and start < joint < end:
                    for number in range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)):
                        low = max(start, starts[number]) - starts[number]
                        high = min(end, starts[number + 1]) - starts[number]
                        if low < high:
                            yield run.start - 1 + number, span._replace(start=low, end=high)


def behind(before: str, text: str, find: Callable[[str], Spans], *, goes_on: bool) -> list[Span]:
    """What `find` sees at the beginning of a text because of the end of the text before: a question, or, where the text
    `goes_on`, whatever stands in its last line. Only short texts are answers.
    """
    line = before[-_QUESTION:].rstrip().rpartition("\n")[2]
    head = text[: _ANSWER + 1].partition("\n")[0]
    if not line or not head or len(head) > _ANSWER or not (goes_on or line.endswith("?")):
        return []
    lead = f"{line} " if goes_on else f"{line}\n"
    size = len(lead)
    return [
        span._replace(start=span.start - size, end=span.end - size) for span in find(lead + head) if span.start >= size
    ]


def _runs(joints: Sequence[int]) -> Iterator[range]:
    """Numbers that follow each other, together."""
    first = last = -1
    for number in joints:
        if number != last:
            if first >= 0:
                yield range(first, last)
            first = number
        last = number + 1
    if first >= 0:
        yield range(first, last)


def _may_go_on(before: str, after: str) -> bool:
    """Whether no more than one blank parts two pieces, and one of them has figures or the sign of an address."""
    end, beginning = _BEFORE.search(before), _AFTER.match(after)
    return end is not None and beginning is not None and _TELLING.search(end[0] + beginning[0]) is not None
