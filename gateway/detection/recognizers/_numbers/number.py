"""Loads the tables of numbers. Each row has the forms of a number, its validator and the words that announce it."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import product
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from gateway.detection.data_files import expand, one_line, read_toml
from gateway.detection.entropy import phrases
from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._numbers import checks

type Check = Callable[[str], bool]
type Phrases = Annotated[tuple[str, ...], BeforeValidator(phrases)]
"""Written with commas."""

REGIONS = (
    *("west_europe", "south_europe", "north_europe", "east_europe", "north_america", "americas"),
    *("asia", "middle_east", "africa_oceania"),
)
_MIN_DIGITS = 3
"""Minimum digits in forms that allow a letter or digit in the same place, so that they exclude words."""
_INHERITED = frozenset({"category", "description", "words"})
_COUNTRIES = dict(one.split(" ", 1) for one in phrases(read_toml(__file__, "countries")["countries"]))
_PROVE_NOTHING = frozenset({"varied", "varied_digits"})


def _listed(check: str | list[str]) -> list[str]:
    return [check] if isinstance(check, str) else check


class Category(BaseModel, extra="forbid", frozen=True):
    """Facts shared by similar numbers of many countries: the policy group, the words that announce any of them, and
    the description of one; `{}` is the country.
    """

    group: str
    description: str
    words: Phrases


class Number(BaseModel, extra="forbid", frozen=True):
    """One number.

    `category`: a table of `categories.toml`. Rows after the first of a name inherit category, description and words.
    `forms`: `#` is a digit, `@` a letter, `*` either. `~` is nothing, or one of space, hyphen and full stop, the same
    throughout. Any other character is literal; letters match in any case.
    `check`: a module of python-stdnum ("nl.bsn"), or a function in `checks` with its arguments ("born 0"), which gets
    the value in capitals without spaces, hyphens and full stops. A list if it has to pass several.
    `score`: the score without context; below 0.2, all are as good. `grouped`: the same for a value with separators.
    Below 0.5, the default policy ignores a number without context words.
    `signed`: passes the value to the check with its separators, because they have a meaning.
    `words`: context words. Words in capitals match only in capitals.
    `example`: a value that is not in use, or one published by the authority.
    """

    name: str
    category: str
    description: str = ""
    forms: Phrases
    check: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    score: float = 0.1
    grouped: float = 0.0
    signed: bool = False
    words: Phrases
    example: str

    @property
    def type(self) -> EntityType:
        category = CATEGORIES[self.category]
        described = self.description or category.description.format(_COUNTRIES.get(self.name[:2]))
        return EntityType(self.name, category.group, described)

    @property
    def proves(self) -> bool:
        """Whether the check excludes more than dummy values."""
        return not _PROVE_NOTHING.issuperset(self.check)

    def is_valid(self) -> Check | None:
        """The validator as a function."""
        steps = tuple(map(_check, self.check))
        return (lambda value: all(step(value) for step in steps)) if steps else None

    def shapes(self) -> Iterator[tuple[str, tuple[tuple[int, str], ...], float]]:
        """Yields every form as (shape, literals, score).

        A shape has `9` for a digit and `A` for a letter. Literals are the letters and digits that the form requires,
        with their positions.
        """
        for form in self.forms:
            for sign in ("", " ", "-", ".") if "~" in form else ("",):
                one = form.replace("~", sign)
                literals = tuple((at, char.upper()) for at, char in enumerate(one) if char.isalnum())
                divided = any(char not in "#@*" and not char.isalnum() for char in one)
                score = max(self.score, self.grouped) if divided else self.score
                for signs in product(*(_shapes(char) for char in one)):
                    shape = "".join(signs)
                    if shape.count("9") >= _MIN_DIGITS:
                        yield shape, literals, score


def load_numbers(region: str) -> Iterator[Number]:
    """Yields the rows of a region's tables, by name. In them, `<<name>>` inserts an entry of `[shared]`."""
    tables = read_toml(__file__, region)
    shared = tables.pop("shared", {})
    for name, rows in tables.items():
        row: dict[str, Any] = {}
        for own in rows:
            row = {key: row[key] for key in _INHERITED & row.keys()} | own
            texts = {key: expand(row[key], shared) for key in ("words", "forms")}
            check = [one_line(expand(one, shared)) for one in _listed(row.get("check", []))]
            yield Number.model_validate({**row, **texts, "check": check, "name": name})


def _check(text: str) -> Check:
    """Returns the function that a row names. Errors mean False: some look up parts of a number that may be missing."""
    name, *arguments = text.split()
    function = getattr(checks, name, None) or import_module(f"stdnum.{name}").is_valid

    def check(value: str) -> bool:
        try:
            return bool(function(value, *arguments))
        except (LookupError, ValueError):
            return False

    return check


def _shapes(char: str) -> str:
    if char == "*":
        return "9A"
    if char == "#" or char.isdigit():
        return "9"
    return "A" if char == "@" or char.isalpha() else char


CATEGORIES = {name: Category.model_validate(content) for name, content in read_toml(__file__, "categories").items()}
NUMBERS = tuple(number for region in REGIONS for number in load_numbers(region))


@cache
def _checks_of(name: str) -> tuple[Check, ...]:
    return tuple(check for number in NUMBERS if number.name == name and (check := number.is_valid()))


def is_number(name: str, value: str) -> bool:
    """Returns whether a value, without signs, passes the check of the number of that name."""
    return any(check(value) for check in _checks_of(name))
