"""Runs the tables of rules by which secrets are found: a rule locates a value, and a judge of values decides on it."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from gateway.detection.expression import Found
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers.secrets._names import kind_of
from gateway.detection.recognizers.secrets._value_classifier import (
    PASSWORD,
    SECRET,
    Judge,
    NamedJudge,
    beside,
    chosen,
)
from gateway.detection.view import View

QUOTED = r"[\"']([^\"'\r\n]{4,})[\"']"
BARE = r"([^\s\"']{4,})"
VALUE = r"(?:\"([^\"\n]{4,})\"|'([^'\n]{4,})'|([^\s\"'\-][^\s\"']{3,}))"
"""What may follow a lead; the first group that takes part is the value."""
LONGEST = 256
"""Bytes of a value. Counted behind the match: an expression that counts so far takes ten times the memory."""

_FLAGS = re.compile(r"\(\?[ims]+\)")
_QUOTES = b"\"'`"
_AROUND = b".,;:)]}\"'`*|"


@dataclass(frozen=True)
class Rule:
    """`find` runs on texts in which `gate` (RE2) occurs."""

    gate: str
    find: Callable[[View], Iterator[Match]]


def rule(
    lead: str,
    value: str = BARE,
    judge: Judge = chosen,
    *,
    gate: str = "",
    score: float = 0.8,
    trim: bytes = b"",
    longest: int = LONGEST,
) -> Rule:
    """Finds the `value` behind each `lead` (both RE2) that the judge believes.

    `gate`: what stands wherever lead and value do, where that is cheaper to look for than the lead. `trim`: signs of
    the text around, which a value without quotes loses at its end.
    """
    flags = match[0] if (match := _FLAGS.match(lead)) else ""
    expression = compile_pattern(f"{flags}(?:{lead}){value}")

    def find(view: View) -> Iterator[Match]:
        for match in expression.finditer(view.data):
            yield from judged(view, *span_of(match), judge, score, trim=trim, longest=longest)

    return Rule(gate or lead, find)


def named(
    located: str, *, gate: str, by: NamedJudge = beside, score: float = 0.8, trim: bytes = b"", longest: int = LONGEST
) -> Rule:
    """Finds the value behind a name, which is the first group of `located` (RE2), that the judge believes because of
    the name.
    """
    expression = compile_pattern(located)

    def find(view: View) -> Iterator[Match]:
        for match in expression.finditer(view.data):
            judge = partial(by, kind_of(match[1].decode("utf-8", "replace")))
            yield from judged(view, *span_of(match, 2), judge, score, trim=trim, longest=longest)

    return Rule(gate, find)


def judged(
    view: View, start: int, end: int, judge: Judge, score: float, *, trim: bytes = b"", longest: int = LONGEST
) -> Iterator[Match]:
    """The finding, if the judge believes it."""
    quoted = start > 0 and view.data[start - 1] in _QUOTES
    if trim and not quoted:
        end = trimmed(view.data, start, end, trim)
    if start < end <= start + longest and (kind := judge(view.text(start, end), quoted)) is not None:
        yield Match(start, end, score, kind.name)


def span_of(match: Found, number: int = 1) -> tuple[int, int]:
    """The first group from `number` on that took part."""
    while match.start(number) < 0:
        number += 1
    return match.span(number)


def trimmed(data: bytes, start: int, end: int, signs: bytes = _AROUND) -> int:
    """The end without the signs that end a sentence or a clause. `!` and `?` stay: the password may end so."""
    while end > start and data[end - 1] in signs:
        end -= 1
    return end


def table(
    name: str, rules: Sequence[Rule], *, examples: tuple[Example, ...], counter_examples: tuple[str, ...]
) -> FunctionRecognizer:
    """The recognizer `secret.<name>`."""

    def find(view: View, hits: Sequence[int]) -> Iterator[Match]:
        for hit in hits:
            yield from rules[hit].find(view)

    gates = tuple(one.gate for one in rules)
    types = (PASSWORD, SECRET)
    return FunctionRecognizer(f"secret.{name}", types, gates, find, examples, counter_examples)
