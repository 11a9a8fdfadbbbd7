"""Runs the tables of rules by which secrets are found: a rule locates a value, and a judge of values decides on it."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.re2_expression import Re2Match
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

    prefilter: str
    find: Callable[[NormalizedText], Iterator[Match]]


def rule(
    lead: str, value: str = BARE, judge: values.Judge = values.chosen, *, prefilter: str = "", score: float = 0.8
) -> Rule:
    """Finds the `value` behind each `lead` (both RE2) that the judge believes.

    A blank stands for any number of blanks and tabs, and ` *` for those or none. `gate`: what stands wherever lead and
    value do, where that is cheaper to look for than the lead.
    """
    flags = match[0] if (match := _FLAGS.match(lead)) else ""
    expression = compile_pattern(_blanks(f"{flags}(?:{lead}){value}"))

    def find(normalized: NormalizedText) -> Iterator[Match]:
        for match in expression.finditer(normalized.data):
            yield from judged(normalized, *span_of(match), judge, score)

    return Rule(_blanks(prefilter or lead), find)


def named(located: str, *, prefilter: str, by: values.NamedJudge = values.beside) -> Rule:
    """Finds the value behind a name, which is the first group of `located`, that the judge believes because of it."""
    expression = compile_pattern(_blanks(located))

    def find(normalized: NormalizedText) -> Iterator[Match]:
        for match in expression.finditer(normalized.data):
            judge = partial(by, kind_of(match[1].decode("utf-8", "replace")))
            yield from judged(normalized, *span_of(match, 2), judge, 0.8)

    return Rule(_blanks(prefilter), find)


def _blanks(regex: str) -> str:
    return _BLANK.sub(lambda found: found[1] or (r"[ \t]*" if found[2] else r"[ \t]+"), regex)


def judged(normalized: NormalizedText, start: int, end: int, judge: values.Judge, score: float) -> Iterator[Match]:
    """The finding, if the judge believes it."""
    quoted = start > 0 and normalized.data[start - 1] in _QUOTES
    if not quoted:
        end = trimmed(normalized.data, start, end)
    if start < end <= start + _LONGEST and (kind := judge(normalized.text(start, end), quoted)) is not None:
        yield Match(start, end, score, kind.name)


def span_of(match: Re2Match, number: int = 1) -> tuple[int, int]:
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

    prefilters = tuple(dict.fromkeys(one.prefilter for one in rules))
    behind = [[one.find for one in rules if one.prefilter == prefilter] for prefilter in prefilters]

    def find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
        for hit in hits:
            for locate in behind[hit]:
                yield from locate(normalized)

    return FunctionRecognizer(f"secret.{name}", types, prefilters, find, examples, counter_examples)
