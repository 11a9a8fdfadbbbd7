"""Finds values that are split over texts which a model reads as one, such as the parts of a message.

Across a boundary, only certain findings count (a checksum, an issuer's format): anything else was found in its own
text, or is a coincidence of two ends. Of a single word (an address, a key), nearly certain findings count too where one
of the ends is open, as after an `@`, and sure ones where neither end is a value of its own.

Also finds values whose label is in the preceding text: a question that a message answers, or the beginning of a
sentence that continues in the next part.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby

from gateway.text.fields import MessageField, Span, Spans, TextField

_REACH = 96
_PROVEN = 1.0
_SURE = 0.95
_NEARLY = 0.85
_OPEN = frozenset("@_-")
_QUESTION, _ANSWER = 160, 100
"""Characters."""
# Without a blank, at least one side has digits or an `@`. With one, both belong to a number, of six digits at least.
_TELLING = re.compile(r"[0-9@]")
_BEFORE = re.compile(r"\S{1,40}\Z")
_AFTER = re.compile(r"\S{1,40}")
_NUMBER_BEFORE = re.compile(r"(?<!\w)[A-Z]{0,2}[0-9][0-9A-Z ./()+-]{0,40}[ \n]?\Z")
_NUMBER_AFTER = re.compile(r"[ \n]?[0-9A-Z(+-][0-9A-Z ./()+-]{0,40}")
_FEWEST_DIGITS = 6
_BLANK = re.compile(r"\s")


def adjacent_texts(fields: Sequence[MessageField]) -> list[int]:
    """Returns the indexes of the texts that continue the text before them."""
    flags = [isinstance(field, TextField) and field.goes_on for field in fields for _ in field.texts]
    return [number for number, goes_on in enumerate(flags) if goes_on and number]


def values_across(
    texts: Sequence[str], continuations: Sequence[int], hidden: Sequence[Spans], find: Callable[[str], Spans]
) -> Iterator[tuple[int, Span]]:
    """Finds values across the boundaries before `continuations`. Yields text indexes with the spans there.

    `hidden` are the values of each text on its own.
    """
    for run in _runs(continuations):
        pieces = texts[run.start - 1 : run.stop]
        starts = list(accumulate(map(len, pieces), initial=0))
        joined = "".join(pieces)
        for at, joint in enumerate(starts[1:-1], run.start):
            first, last = max(0, joint - _REACH), joint + _REACH
            if not _may_go_on(joined[first:joint], joined[joint:last]):
                continue
            is_open = joined[joint - 1] in _OPEN or joined[joint] in _OPEN
            is_whole = any(own.end == len(texts[at - 1]) for own in hidden[at - 1]) or any(
                own.start == 0 for own in hidden[at]
            )
            for span in find(joined[first:last]):
                start, end = first + span.start, first + span.end
                is_word = _BLANK.search(joined, start, end) is None
                least = _PROVEN if not is_word else _NEARLY if is_open else _PROVEN if is_whole else _SURE
                if span.score >= least and start < joint < end:
                    for number in range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)):
                        low = max(start, starts[number]) - starts[number]
                        high = min(end, starts[number + 1]) - starts[number]
                        if low < high:
                            yield run.start - 1 + number, span._replace(start=low, end=high)


def labelled_by_previous(before: str, text: str, find: Callable[[str], Spans], *, goes_on: bool) -> list[Span]:
    """Finds values at the beginning of a short text whose label is the last line of the text before.

    That line counts if it is a question, or if the text `goes_on` where it ends.
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


def _runs(numbers: Sequence[int]) -> Iterator[range]:
    """Groups consecutive numbers into ranges."""
    for _, run in groupby(enumerate(numbers), lambda item: item[1] - item[0]):
        (_, first), *rest = run
        yield range(first, first + len(rest) + 1)


def _may_go_on(before: str, after: str) -> bool:
    """Returns whether a word or a number may be divided here."""
    if not (before[-1:].isspace() or after[:1].isspace()):
        end, beginning = _BEFORE.search(before), _AFTER.match(after)
        return end is not None and beginning is not None and _TELLING.search(end[0] + beginning[0]) is not None
    end, beginning = _NUMBER_BEFORE.search(before), _NUMBER_AFTER.match(after)
    if end is None or beginning is None:
        return False
    return sum(map(str.isdigit, end[0] + beginning[0])) >= _FEWEST_DIGITS
