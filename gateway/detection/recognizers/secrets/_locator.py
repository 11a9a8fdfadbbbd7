"""Loads the tables of rules by which secrets are found, and runs them: a rule locates a value, a check decides on it.

A table is a TOML file. In each of its expressions

- `<<name>>` inserts a part of the table, an entry of the vocabulary or one of `VALUES`,
- a space matches one or more spaces and tabs, and ` *` also none, except in a class such as `[ ]`,
- line breaks do not count.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from pydantic import BaseModel

from gateway.detection.data_files import expand, one_line, read_toml
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.re2_expression import Re2Match
from gateway.detection.recognizer import FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._samples import examples
from gateway.detection.recognizers.secrets import _value_checks as checks
from gateway.detection.recognizers.secrets._names import kind_of
from gateway.detection.recognizers.secrets._vocabulary import EXPRESSIONS

type Finder = Callable[[NormalizedText], Iterator[Match]]
"""Finds what an expression and a check cannot."""

VALUES = {
    "quoted": r"[\"']([^\"'\r\n]{4,})[\"']",
    "bare": r"([^\s\"']{4,})",
    "value": r"(?:\"([^\"\n]{4,})\"|'([^'\n]{4,})'|([^\s\"'\-][^\s\"']{3,}))",
    "line": r"(\S{4,}) *(?:\r?\n|$)",
}
"""Values that may follow a lead."""

_LONGEST = 4096
"""Bytes of the longest value."""
_FLAGS = re.compile(r"(?:\(\?[ims]+\))?")
_BLANK = re.compile(r"(\\.|\[(?:[^\]\\]|\\.)*\])| ([*?]?)")
_QUOTES = b"\"'`"
_TYPES = {one.name: one for one in (checks.PASSWORD, checks.SECRET)}


class _Rule(BaseModel, extra="forbid", frozen=True):
    """Locates a `value` after a `lead`, or whatever the finder `find` does, in texts that match `prefilter`.

    The prefilter (default: the lead) matches wherever the rule does, and is cheaper. The value is the first group that
    took part. If `name` is the number of a group, that one holds the name of the value, and the check gets its kind.
    """

    lead: str = ""
    value: str = "<<bare>>"
    name: int = 0
    check: str = "chosen"
    find: str = ""
    prefilter: str = ""
    score: float = 0.8


class _Table(BaseModel, extra="forbid", frozen=True):
    id: str
    types: tuple[str, ...] = ("PASSWORD", "SECRET")
    parts: Mapping[str, str] = {}
    """Expressions by name."""
    rules: tuple[_Rule, ...]
    examples: Mapping[str, tuple[str, ...]]
    """As `_samples` describes."""


def table(name: str, finders: Mapping[str, Finder] | None = None) -> FunctionRecognizer:
    """Builds the recognizer of `<name>.toml`, with the finders that its rules refer to."""
    content = read_toml(__file__, name)
    data = _Table.model_validate(content)
    entries = {**EXPRESSIONS, **VALUES, **data.parts}
    by_prefilter: dict[str, list[Finder]] = {}
    for rule in data.rules:
        finder = (finders or {})[rule.find] if rule.find else _finder(rule, entries)
        by_prefilter.setdefault(_regex(rule.prefilter or rule.lead, entries), []).append(finder)
    finders_of = tuple(by_prefilter.values())

    def find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
        for hit in hits:
            for finder in finders_of[hit]:
                yield from finder(normalized)

    return FunctionRecognizer(
        data.id,
        tuple(_TYPES[one] for one in data.types),
        tuple(by_prefilter),
        find,
        *examples(data.examples),
        by_label=True,
    )


def _finder(rule: _Rule, entries: Mapping[str, str]) -> Finder:
    flags = match[0] if (match := _FLAGS.match(rule.lead)) else ""
    located = compile_pattern(_regex(f"{flags}(?:{rule.lead}){rule.value}", entries))
    check = getattr(checks, rule.check)
    first = 2 if rule.name == 1 else 1

    def find(normalized: NormalizedText) -> Iterator[Match]:
        for match in located.finditer(normalized.data):
            decide = partial(check, kind_of(match[rule.name].decode("utf-8", "replace"))) if rule.name else check
            yield from checked(normalized, *span_of(match, first), decide, rule.score)

    return find


def _regex(text: str, entries: Mapping[str, str]) -> str:
    plain = one_line(expand(text, entries))
    return _BLANK.sub(lambda found: found[1] or (r"[ \t]*" if found[2] else r"[ \t]+"), plain)


def checked(normalized: NormalizedText, start: int, end: int, check: checks.Check, score: float) -> Iterator[Match]:
    """Yields a match if the check accepts the value."""
    quoted = start > 0 and normalized.data[start - 1] in _QUOTES
    if not quoted:
        end = trimmed(normalized.data, start, end)
    if start < end <= start + _LONGEST and (kind := check(normalized.text(start, end), quoted)) is not None:
        yield Match(start, end, score, kind.name)


def span_of(match: Re2Match, number: int = 1) -> tuple[int, int]:
    """Returns the span of the first group from `number` on that took part."""
    while match.start(number) < 0:
        number += 1
    return match.span(number)


def trimmed(data: bytes, start: int, end: int) -> int:
    """Returns the end without the signs that end a sentence or a clause. `!` and `?` stay: the password may end so."""
    while end > start and data[end - 1] in b".,;:)]}\"'`*|\\":
        end -= 1
    return end
