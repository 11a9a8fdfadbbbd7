"""Maps the labels of data sets, and the gateway's own types, to common types and treatments.

A label map is JSON. For each data set, named by the beginning of its file names, it gives each label's common type and
treatment:

    {"claims": {"NAME": {"common": "PERSON", "action": "redact"}, "*": {"common": "OTHER", "action": "ignore"}},
     "findings": {"API_KEY": "SECRET"}}

`*` is every other label. The optional `findings` maps types of the gateway to common types.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from gateway.detection.data_files import read_toml
from gateway.errors import Unprocessable

_ANY = "*"
_FINDINGS = "findings"


class Treatment(StrEnum):
    """How to treat a labelled span."""

    REDACT = "redact"
    OPTIONAL = "optional"
    """Must be hidden in strict mode. In standard mode, neither hiding nor keeping it counts as an error."""
    KEEP = "keep"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Meaning:
    """A label's common type and treatment."""

    common: str
    treatment: Treatment


_COMMON: dict[str, dict[str, str]] = read_toml(__file__)
# Types that differ from the common type of their group.
_APART = frozenset({"AGE", "DATE_OF_BIRTH", "TITLE", "NRP", "LOCATION"})


class LabelMap:
    """Maps the labels of data sets to meanings.

    In an empty map, every label means itself and must be hidden, as for the gateway's own types.
    """

    def __init__(self, sections: Mapping[str, Mapping[str, Meaning]], findings: Mapping[str, str]) -> None:
        self._sections = sections
        self._findings = findings
        self._vocabulary = {one.common for section in sections.values() for one in section.values()}

    @classmethod
    def parse(cls, document: Any) -> Self:
        """Reads decoded JSON. Raises Unprocessable, naming the set and label that are invalid."""
        if not isinstance(document, dict) or not all(isinstance(one, dict) for one in document.values()):
            raise Unprocessable("A label map must be an object of objects.")
        findings = document.get(_FINDINGS, {})
        if not all(isinstance(one, str) for one in findings.values()):
            raise Unprocessable(f"`{_FINDINGS}` of a label map must map names to names.")
        sections = {
            name: {label: _meaning(name, label, one) for label, one in section.items()}
            for name, section in document.items()
            if name != _FINDINGS
        }
        return cls(sections, findings)

    def section(self, file_name: str) -> str:
        """Returns the set of a file: the longest set name that the file's name begins with, or an empty string."""
        fitting = [name for name in self._sections if re.match(rf"{re.escape(name)}(?![^\W_])", file_name)]
        return max(fitting, key=len, default="")

    def meaning(self, section: str, label: str) -> Meaning:
        """Returns the meaning of `label` in a set. A label that is not mapped means itself and must be hidden."""
        known = self._sections.get(section, {})
        return known.get(label) or known.get(_ANY) or Meaning(label, Treatment.REDACT)

    def common(self, section: str, type_name: str, group: str) -> str:
        """Returns the common type of one of the gateway's types, for a set."""
        if type_name in self._findings:
            return self._findings[type_name]
        for known in (self._sections.get(section, {}), *self._sections.values()):
            if type_name in known:
                return known[type_name].common
        kinds = [common for expression, common in _COMMON["names"].items() if re.search(expression, type_name)]
        if type_name not in _APART:
            kinds.append(_COMMON["groups"].get(group, type_name))
        return next((kind for kind in kinds if kind in self._vocabulary), type_name)


def _meaning(section: str, label: str, value: Any) -> Meaning:
    try:
        return Meaning(str(value["common"]), Treatment(value["action"]))
    except (TypeError, KeyError, ValueError):
        wanted = ", ".join(Treatment)
        raise Unprocessable(f"{section}.{label} needs a `common` and an `action` ({wanted}).") from None
