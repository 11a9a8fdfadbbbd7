"""Loads pattern recognizers from a TOML file: one of its own, or the one named like a module.

In `regex`, `prefilter` and `context`, `<<name>>` inserts an entry of `[parts]` or of `_SHARED`. Line breaks do not
count. `[types]` defines the types that no module does: `AGE = { group = "person", description = "..." }`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter

from gateway.detection.alphabet import LETTERS
from gateway.detection.data_files import expand, one_line, read_toml
from gateway.detection.entropy import phrases
from gateway.detection.recognizer import EntityType, Pattern, PatternRecognizer, Validator
from gateway.detection.recognizers import _validators
from gateway.detection.recognizers._dates import BIRTH_DATE, BIRTH_MONTH, MONTH, birth_date
from gateway.detection.recognizers._samples import examples
from gateway.detection.recognizers.postal_address import PARTS

_PATTERN = TypeAdapter(Pattern)
_NO_SIGNS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_HAS_GROUP = re.compile(r"\((?!\?)")
_SHARED = {
    **{"letters": LETTERS, "month": MONTH, "birth_date": BIRTH_DATE, "birth_month": BIRTH_MONTH},
    **{name: PARTS[name] for name in ("us_states", "canadian_postcode")},
}
"""Parts that every table can insert."""
_VALIDATORS: Mapping[str, Validator] = {**vars(_validators), "birth_date": birth_date}


class _Recognizer(BaseModel, extra="forbid", frozen=True):
    """The fields of a PatternRecognizer.

    `patterns`: of tables, or the expressions alone, with the `score` here. The group is the first if there is any.
    `context`: phrases, written with commas. `validator`: a function of `_validators`, or one that the module passes.
    `examples`: as `_samples` describes.
    """

    id: str
    type: str
    score: float | None = None
    patterns: tuple[Mapping[str, Any] | str, ...]
    context: str = ""
    validator: str = ""
    blobs: bool = False
    by_label: bool = False
    examples: Mapping[str, tuple[str, ...]]


def table_types(file: str, name: str = "") -> Mapping[str, EntityType]:
    """Returns the types that a table defines: that of a module, or the one called `name` in the same folder."""
    content = read_toml(file, name).get("types", {})
    return {key: EntityType(key, **fields) for key, fields in content.items()}


def pattern_table(
    file: str, types: Sequence[EntityType] = (), validators: Mapping[str, Validator] | None = None
) -> tuple[PatternRecognizer, ...]:
    """Returns the recognizers in a table. Raises ValidationError or KeyError for an invalid one."""
    content = read_toml(file)
    entries = {**_SHARED, **content.get("parts", {})}
    by_name = {**table_types(file), **{one.name: one for one in types}}
    named = {**_VALIDATORS, **(validators or {})}
    rows = map(_Recognizer.model_validate, content["recognizers"])
    return tuple(
        PatternRecognizer(
            row.id,
            by_name[row.type],
            tuple(_compose(pattern, row.score, entries) for pattern in row.patterns),
            phrases(expand(row.context, entries)) if row.context else (),
            named[row.validator] if row.validator else None,
            row.blobs,
            *examples(row.examples),
            by_label=row.by_label,
        )
        for row in rows
    )


def _compose(row: Mapping[str, Any] | str, score: float | None, entries: Mapping[str, str]) -> Pattern:
    fields = {"score": score, **({"regex": row} if isinstance(row, str) else row)}
    for name in {"regex", "prefilter"} & fields.keys():
        fields[name] = one_line(expand(fields[name], entries))
    fields.setdefault("group", int(_HAS_GROUP.search(_NO_SIGNS.sub(".", fields["regex"])) is not None))
    return _PATTERN.validate_python(fields)
