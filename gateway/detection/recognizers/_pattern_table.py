"""Loads pattern recognizers from the TOML file named like their module.

In `regex`, `prefilter` and `context`, `<<name>>` inserts an entry of `[parts]`, a part that the module passes, or
`<<letters>>`. Line breaks do not count.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter

from gateway.detection.alphabet import LETTERS
from gateway.detection.data_files import expand, one_line, read_toml
from gateway.detection.entropy import phrases
from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer, Validator
from gateway.detection.recognizers._samples import filled

_PATTERN = TypeAdapter(Pattern)
_NO_SIGNS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_HAS_GROUP = re.compile(r"\((?!\?)")


class _Recognizer(BaseModel, extra="forbid", frozen=True):
    """The fields of a PatternRecognizer.

    `patterns`: of tables, or the expressions alone, with the `score` here. The group is the first if there is any.
    `context`: phrases, written with commas. `validator`: the name under which the module passes the function.
    `examples`: by least score, texts in which the recognizer must find the value between `⟦` and `⟧`; under `none`,
    texts in which it must find nothing. `{base62:32}` stands for so many characters of that alphabet.
    """

    id: str
    type: str
    score: float | None = None
    patterns: tuple[Mapping[str, Any] | str, ...]
    context: str = ""
    validator: str = ""
    blobs: bool = False
    examples: Mapping[str, tuple[str, ...]]


def pattern_table(
    module: str, types: Sequence[EntityType], validators: Mapping[str, Validator] | None = None, **parts: str
) -> tuple[PatternRecognizer, ...]:
    """Returns the recognizers in a module's table. Raises ValidationError or KeyError for an invalid table."""
    content = read_toml(module)
    entries = {"letters": LETTERS, **parts, **content.get("parts", {})}
    by_name = {one.name: one for one in types}
    rows = map(_Recognizer.model_validate, content["recognizers"])
    return tuple(
        PatternRecognizer(
            row.id,
            by_name[row.type],
            tuple(_compose(pattern, row.score, entries) for pattern in row.patterns),
            phrases(expand(row.context, entries)) if row.context else (),
            (validators or {})[row.validator] if row.validator else None,
            row.blobs,
            tuple(_examples(row.examples)),
            tuple(map(filled, row.examples["none"])),
        )
        for row in rows
    )


def _compose(row: Mapping[str, Any] | str, score: float | None, entries: Mapping[str, str]) -> Pattern:
    fields = {"score": score, **({"regex": row} if isinstance(row, str) else row)}
    for name in {"regex", "prefilter"} & fields.keys():
        fields[name] = one_line(expand(fields[name], entries))
    fields.setdefault("group", int(_HAS_GROUP.search(_NO_SIGNS.sub(".", fields["regex"])) is not None))
    return _PATTERN.validate_python(fields)


def _examples(texts: Mapping[str, Sequence[str]]) -> Iterator[Example]:
    for score, marked in texts.items():
        for text in marked if score != "none" else ():
            before, value, after = re.split("[⟦⟧]", filled(text))
            yield Example(before + value + after, value, score=float(score))
