"""Maps the labels of data sets, and the gateway's own types, to common types and treatments.

A label map is JSON: for each set (by the beginning of its file's name) each label's common type and treatment,

    {"claims": {"NAME": {"common": "PERSON", "action": "redact"}, "*": {"common": "OTHER", "action": "ignore"}},
     "findings": {"API_KEY": "SECRET"}}

where `*` is every other label, and `findings`, if it is there, says which common type a type of this gateway is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

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


# Where a label map does not name one of our types, its name or its group tells the kind. Only kinds that the map
# itself speaks of are used. First match wins.
_KINDS = tuple(
    (re.compile(expression), common)
    for expression, common in (
        (r"PASSPORT", "PASSPORT"),
        (r"DRIV(?:ER|ING)", "DRIVER_LICENSE"),
        (r"VEHICLE|PLATE|VIN\b", "VEHICLE_ID"),
        (r"PHONE|FAX", "PHONE"),
        (r"CRYPTO|WALLET", "CRYPTO_ADDRESS"),
        (r"VAT|TAX|(?:^|_)TIN(?:_|$)", "TAX_ID"),
        (r"COMPANY|BUSINESS", "COMPANY_ID"),
        (r"BANK|ROUTING|BIC", "BANK_ACCOUNT"),
        (r"POSTAL|POSTCODE|ZIP", "ADDRESS"),
        (r"EMAIL", "EMAIL"),
    )
)
_GROUPS = {
    "secret": "SECRET",
    "person": "PERSON",
    "address": "ADDRESS",
    "organization": "ORGANIZATION",
    "government_id": "NATIONAL_ID",
    "health": "HEALTH_ID",
}
# Types of these groups that are something else than their group's name says.
_APART = frozenset({"AGE", "DATE_OF_BIRTH", "TITLE", "NRP", "LOCATION"})


class LabelMap:
    """Maps set and label to a meaning. Without sections, every label means itself and must be hidden."""

    def __init__(self, sections: Mapping[str, Mapping[str, Meaning]], findings: Mapping[str, str]) -> None:
        self._sections = sections
        self._findings = findings
        self._vocabulary = {one.common for section in sections.values() for one in section.values()}

    @classmethod
    def empty(cls) -> Self:
        """For data labelled with this gateway's own types."""
        return cls({}, {})

    @classmethod
    def parse(cls, document: Any) -> Self:
        """From decoded JSON. Raises Unprocessable, naming the set and label that cannot be used."""
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
        """The set that a file belongs to: the longest name that its own begins with; empty if there is none."""
        fitting = [name for name in self._sections if re.match(rf"{re.escape(name)}(?![^\W_])", file_name)]
        return max(fitting, key=len, default="")

    def meaning(self, section: str, label: str) -> Meaning:
        """Returns the meaning of `label` in a set. A label that is not mapped means itself and must be hidden."""
        known = self._sections.get(section, {})
        return known.get(label) or known.get(_ANY) or Meaning(label, Treatment.REDACT)

    def common(self, section: str, type_name: str, group: str) -> str:
        """The common type that a type of this gateway is, for a set."""
        if type_name in self._findings:
            return self._findings[type_name]
        for known in (self._sections.get(section, {}), *self._sections.values()):
            if type_name in known:
                return known[type_name].common
        kinds = [common for expression, common in _KINDS if expression.search(type_name)]
        if type_name not in _APART:
            kinds.append(_GROUPS.get(group, type_name))
        return next((kind for kind in kinds if kind in self._vocabulary), type_name)


def _meaning(section: str, label: str, value: Any) -> Meaning:
    try:
        return Meaning(str(value["common"]), Treatment(value["action"]))
    except (TypeError, KeyError, ValueError):
        wanted = ", ".join(Treatment)
        raise Unprocessable(f"{section}.{label} needs a `common` and an `action` ({wanted}).") from None
