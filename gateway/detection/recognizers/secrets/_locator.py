"""Runs the tables of rules by which secrets are found: a rule locates a value, and a judge of values decides on it."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from gateway.detection.normalized_text import View
from gateway.detection.re2_expression import Found
from gateway.detection.recognizer import EntityType, Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers.secrets import _value_classifier as values
from gateway.detection.recognizers.secrets._names import kind_of

QUOTED = r"[\"']([^\"'\r\n]{4,})[\"']"
BARE = r"([^\s\"']{4,})"
VALUE = r"(?:\"([^\"\n]{4,})\"|'([^'\n]{4,})'|([^\s\"'\-][^\s\"']{3,}))"
LINE = r"(\S{4,}) *(?:\r?\n|$)"
"""What may follow a lead; the first group that takes part is the value."""

_LONGEST = 4096
"""Bytes; what is longer is a text."""
_FLAGS = re.compile(r"\(\?[ims]+\)")
_BLANK = re.compile(r"(\\.|\[(?:[^\]\\]|\\.)*\])| ([*?]?)")
_QUOTES = b"\"'`"


@dataclass(frozen=True)
class Rule:
    """`find` runs on texts in which `gate` (RE2) occurs."""

    gate: str
    find: Callable[[View], Iterator[Match]]


def rule(
    lead: str, value: str = BARE, judge: values.Judge = values.chosen, *, gate: str = "", score: float = 0.8
) -> Rule:
    """Finds the `value` behind each `lead` (both RE2) that the judge believes.

    A blank stands for any number of blanks and tabs, and ` *` for those or none. `gate`: what stands wherever lead and
    value do, where that is cheaper to look for than the lead.
    """
    flags = match[0] if (match := _FLAGS.match(lead)) else ""
    expression = compile_pattern(_blanks(f"{flags}(?:{lead}){value}"))

    def find(view: View) -> Iterator[Match]:
        for match in expression.finditer(view.data):
            yield from judged(view, *span_of(match), judge, score)

    return Rule(_blanks(gate or lead), find)


def named(located: str, *, gate: str, by: values.NamedJudge = values.beside) -> Rule:
    """Finds the value behind a name, which is the first group of `located`, that the judge believes because of it."""
    expression = compile_pattern(_blanks(located))

    def find(view: View) -> Iterator[Match]:
        for match in expression.finditer(view.data):
            judge = partial(by, kind_of(match[1].decode("utf-8", "replace")))
            yield from judged(view, *span_of(match, 2), judge, 0.8)

    return Rule(_blanks(gate), find)


def _blanks(regex: str) -> str:
    return _BLANK.sub(lambda found: found[1] or (r"[ \t]*" if found[2] else r"[ \t]+"), regex)


def judged(view: View, start: int, end: int, judge: values.Judge, score: float) -> Iterator[Match]:
    """The finding, if the judge believes it."""
    quoted = start > 0 and view.data[start - 1] in _QUOTES
    if not quoted:
        end = trimmed(view.data, start, end)
    if start < end <= start + _LONGEST and (kind := judge(view.text(start, end), quoted)) is not None:
        yield Match(start, end, score, kind.name)


def span_of(match: Found, number: int = 1) -> tuple[int, int]:
    """The first group from `number` on that took part."""
    while match.start(number) < 0:
        number += 1
    return match.span(number)


def trimmed(data: bytes, start: int, end: int) -> int:
    """The end without the signs that end a sentence or a clause. `!` and `?` stay: the password may end so."""
    while end > start and data[end - 1] in b".,;:)]}\"'`*|\\":
        end -= 1
    return end


def table(
    name: str,
    rules: Sequence[Rule],
    *,
    types: tuple[EntityType, ...] = (values.PASSWORD, values.SECRET),
    examples: tuple[Example, ...],
    counter_examples: tuple[str, ...],
) -> FunctionRecognizer:
    """The recognizer `secret.<name>`."""

    gates = tuple(dict.fromkeys(one.gate for one in rules))
    behind = [[one.find for one in rules if one.gate == gate] for gate in gates]

    def find(view: View, hits: Sequence[int]) -> Iterator[Match]:
        for hit in hits:
            for locate in behind[hit]:
                yield from locate(view)

    return FunctionRecognizer(f"secret.{name}", types, gates, find, examples, counter_examples)
