"""Loads `_id_labels.toml`: the labels of identifiers, put together from things ("customer") and words for "number"."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, BaseModel

from gateway.detection.data_files import expand, one_line, read_toml
from gateway.detection.recognizer import EntityType

type Alternatives = Annotated[str, AfterValidator(one_line)]


class Label(BaseModel, extra="forbid", frozen=True):
    """The labels of values of one type: the numbered things, in groups that combine differently with the word for
    "number".

    `alone` needs no such word, nor does `abroad`, in other scripts. `named` are the things themselves, which a sign or
    "is" and a number follow: "Passport: X1234567". `score` applies to a value after a colon or "is".
    """

    name: str
    group: str
    description: str
    score: float
    english: Alternatives = ""
    german: Alternatives = ""
    dutch: Alternatives = ""
    romance: Alternatives = ""
    nordic: Alternatives = ""
    polish: Alternatives = ""
    turkish: Alternatives = ""
    alone: Alternatives = ""
    abroad: Alternatives = ""
    named: Alternatives = ""

    @property
    def type(self) -> EntityType:
        return EntityType(self.name, self.group, self.description)


_DATA = read_toml(__file__)
_FORMS = {name: one_line(expand(form, _DATA["parts"])) for name, form in _DATA["forms"].items()}
LABELS = {name: Label.model_validate({"name": name, **content}) for name, content in _DATA["labels"].items()}


def thing_expression(labels: Iterable[Label]) -> str:
    """Returns one expression for the things themselves."""
    return "|".join(label.named for label in labels if label.named)


def label_expression(labels: Iterable[Label]) -> str:
    """Returns one expression for all of `labels`."""
    labels = tuple(labels)
    things = {name: "|".join(filter(None, (getattr(label, name) for label in labels))) for name in _FORMS}
    return "|".join(form.replace("%s", things[name]) for name, form in _FORMS.items() if things[name])
