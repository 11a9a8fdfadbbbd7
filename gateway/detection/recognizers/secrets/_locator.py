"""Loads the tables of rules by which secrets are found, and runs them: a rule locates a value, a judge decides on it.

A table is a TOML file with an `id`, the `types` it finds, `parts` (named expressions), `rules` and `examples`. In each
of its expressions

- `<<name>>` inserts a part of the table, an entry of the vocabulary or one of `VALUES`,
- a space matches one or more spaces and tabs, ` *` also none; elsewhere than in a class,
- line breaks do not count.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import BaseModel

from gateway.detection.normalized_text import NormalizedText
from gateway.detection.re2_expression import Expression, Re2Match
from gateway.detection.recognizer import Example, FunctionRecognizer, Match, compile_pattern
from gateway.detection.recognizers._samples import ALPHABETS, sample
from gateway.detection.recognizers.secrets import _judges as judges
from gateway.detection.recognizers.secrets._judges import PASSWORD, SECRET, Judge, NamedJudge
from gateway.detection.recognizers.secrets._names import kind_of
from gateway.detection.recognizers.secrets._vocabulary import EXPRESSIONS, expand, one_line

type Finder = Callable[[NormalizedText], Iterator[Match]]
"""Finds what needs more than an expression and a judge."""

VALUES = {
    "quoted": r"[\"']([^\"'\r\n]{4,})[\"']",
    "bare": r"([^\s\"']{4,})",
    "value": r"(?:\"([^\"\n]{4,})\"|'([^'\n]{4,})'|([^\s\"'\-][^\s\"']{3,}))",
    "line": r"(\S{4,}) *(?:\r?\n|$)",
}
"""What may follow a lead; the first group that takes part is the value."""

_LONGEST = 4096
"""Bytes of the longest value."""
_FLAGS = re.compile(r"(?:\(\?[ims]+\))?")
_BLANK = re.compile(r"(\\.|\[(?:[^\]\\]|\\.)*\])| ([*?]?)")
_QUOTES = b"\"'`"
_COMPUTED = re.compile(r"\{(\w+):(\d+)\}")
_TYPES = {one.name: one for one in (PASSWORD, SECRET)}


class _Rule(BaseModel, extra="forbid", frozen=True):
    """Locates a value after a `lead`, or the value (second group) of a name (first group of `named`), or with a finder.

    It runs on texts that match `prefilter` (default: `lead`), which matches wherever the rule does, and is cheaper.
    """

    lead: str = ""
    value: str = "<<bare>>"
    named: str = ""
    find: str = ""
    judge: str = "chosen"
    prefilter: str = ""
    score: float = 0.8


class _Table(BaseModel, extra="forbid", frozen=True):
    id: str
    types: tuple[str, ...] = ("PASSWORD", "SECRET")
    parts: Mapping[str, str] = {}
    rules: tuple[_Rule, ...]
    examples: Mapping[str, tuple[str, ...]]
    """By type and least score (`SECRET 1.0`; default: 0.5), texts in which a value, marked `⟦…⟧`, is found. Under
    `none`, texts in which nothing is. `{base62:32}` is replaced by so many characters of that alphabet.
    """


def table(
    name: str,
    *,
    finders: Mapping[str, Finder] | None = None,
    parts: Mapping[str, str] | None = None,
) -> FunctionRecognizer:
    """Builds the recognizer of `<name>.toml`. `finders` and `parts` are what its rules name and it does not hold."""
    content = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))
    data = _Table.model_validate(content)
    entries = {**EXPRESSIONS, **VALUES, **data.parts, **(parts or {})}
    compiled = [_compiled(rule, entries, finders or {}) for rule in data.rules]
    prefilters = tuple(dict.fromkeys(prefilter for prefilter, _ in compiled))
    behind = [[find for own, find in compiled if own == prefilter] for prefilter in prefilters]

    def find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
        for hit in hits:
            for locate in behind[hit]:
                yield from locate(normalized)

    return FunctionRecognizer(
        data.id,
        tuple(_TYPES[one] for one in data.types),
        prefilters,
        find,
        tuple(_example(key, text) for key, texts in data.examples.items() if key != "none" for text in texts),
        tuple(_filled(text) for text in data.examples["none"]),
    )


def _compiled(rule: _Rule, entries: Mapping[str, str], finders: Mapping[str, Finder]) -> tuple[str, Finder]:
    lead = rule.lead
    prefilter = _regex(rule.prefilter or lead, entries)
    if rule.find:
        return prefilter, finders[rule.find]
    if rule.named:
        return prefilter, _after_names(_expression(rule.named, entries), getattr(judges, rule.judge), rule.score)
    flags = match[0] if (match := _FLAGS.match(lead)) else ""
    located = _expression(f"{flags}(?:{lead}){rule.value}", entries)
    return prefilter, _after_leads(located, getattr(judges, rule.judge), rule.score)


def _after_leads(located: Expression, judge: Judge, score: float) -> Finder:
    def find(normalized: NormalizedText) -> Iterator[Match]:
        for match in located.finditer(normalized.data):
            yield from judged(normalized, *span_of(match), judge, score)

    return find


def _after_names(located: Expression, by: NamedJudge, score: float) -> Finder:
    def find(normalized: NormalizedText) -> Iterator[Match]:
        for match in located.finditer(normalized.data):
            judge = partial(by, kind_of(match[1].decode("utf-8", "replace")))
            yield from judged(normalized, *span_of(match, 2), judge, score)

    return find


def _regex(text: str, entries: Mapping[str, str]) -> str:
    return _BLANK.sub(lambda found: found[1] or (r"[ \t]*" if found[2] else r"[ \t]+"), one_line(expand(text, entries)))


def _expression(text: str, entries: Mapping[str, str]) -> Expression:
    return compile_pattern(_regex(text, entries))


def _example(key: str, text: str) -> Example:
    kind, _, score = key.partition(" ")
    before, value, after = re.split("[⟦⟧]", _filled(text))
    return Example(before + value + after, value, kind, float(score or 0.5))


def _filled(text: str) -> str:
    return _COMPUTED.sub(lambda found: sample(int(found[2]), ALPHABETS[found[1]]), text)


def judged(normalized: NormalizedText, start: int, end: int, judge: Judge, score: float) -> Iterator[Match]:
    """The finding, if the judge believes it."""
    quoted = start > 0 and normalized.data[start - 1] in _QUOTES
    if not quoted:
        end = trimmed(normalized.data, start, end)
    if start < end <= start + _LONGEST and (kind := judge(normalized.text(start, end), quoted)) is not None:
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
