"""Loads `_street_forms.toml`: expressions for the forms of street addresses, and their prefilters.

A prefilter matches the start and the end of a form, with anything between. Counting the words between would multiply
the states of the automaton that combines many prefilters.
"""

from dataclasses import dataclass

from gateway.detection.data_files import expand, one_line, read_toml
from gateway.detection.recognizers import _address_parts, _street_words


@dataclass(frozen=True, slots=True)
class Form:
    """An expression for a form. `group` is the street. `free`: its words may be any and still need checking."""

    regex: str
    score: float
    group: int = 0
    weak: int = 0
    """The group that matches if the street word also has other meanings."""
    free: bool = False


def _titled(words: str) -> str:
    return "|".join(word[:1].upper() + word[1:] for word in words.split("|"))


_DATA = read_toml(__file__)
_PARTS = {
    **{name.lower(): text for name, text in vars(_address_parts).items() if isinstance(text, str)},
    **_street_words.WORDS,
    "titled_after_weak": _titled(_street_words.WORDS["after_weak"]),
    **_DATA["parts"],
}


def _expression(text: str) -> str:
    return one_line(expand(text, _PARTS))


FORMS = {name: Form(**{**form, "regex": _expression(form["regex"])}) for name, form in _DATA["forms"].items()}
"""By name."""
PREFILTERS = tuple(
    (_expression(row["regex"]), tuple(FORMS[name] for name in row["forms"])) for row in _DATA["prefilters"]
)
"""Each prefilter with the forms it selects."""
