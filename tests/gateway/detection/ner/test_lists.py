"""In a list of people, names that the models miss are found too."""

from pathlib import Path

import pytest

from gateway.detection.ner.lists import Lists
from gateway.detection.ner.ordinary_words import WordList
from gateway.models import Entity
from tests.tables import table

CASES = table(__file__)


@pytest.fixture
def lists(tmp_path: Path) -> Lists:
    def words(name: str, content: str) -> WordList:
        (tmp_path / name).write_text("\n".join(sorted(content.split())) + "\n", encoding="utf-8")
        return WordList(tmp_path / name)

    ordinary = words("ordinary", "bed sofa ridge shelf")
    return Lists(ordinary, words("nobody", "lagos perth"))


def persons(lists: Lists, text: str, *values: str) -> list[str]:
    starts = sorted((text.index(value), value) for value in values)
    found = [Entity("PERSON", start, start + len(value), 0.9, "model") for start, value in starts]
    return [text[one.start : one.end] for one in lists.with_siblings(text, found)]


@pytest.mark.parametrize(("text", "missed"), CASES["a_name_between_names_is_one"])
def test_a_name_between_names_is_one(lists: Lists, text: str, missed: str) -> None:
    known = [name for name in ("OKORO Ngozi", "BRIX Malo", "Ngozi Okoro", "Sunniva Quist", "Malo Brix") if name in text]
    known = [name for name in known if name not in missed]
    assert missed in persons(lists, text, *known)
    assert missed in persons(lists, text, *known, missed.split(maxsplit=1)[0])


@pytest.mark.parametrize("text", CASES["others_between_names_are_nobody"])
def test_other_words_between_names_are_no_persons(lists: Lists, text: str) -> None:
    assert persons(lists, text, "Ngozi Okoro", "Sunniva Quist") == ["Ngozi Okoro", "Sunniva Quist"]


def test_a_known_organization_is_no_person(lists: Lists) -> None:
    text = "- Ngozi Okoro\n- Sunniva Quist\n- Malo Brix\n"
    found = [Entity("PERSON", 2, 13, 0.9, "model"), Entity("PERSON", 16, 29, 0.9, "model")]
    firm = Entity("ORGANIZATION", 32, 41, 0.9, "model")
    assert lists.with_siblings(text, [*found, firm]) == [*found, firm]
