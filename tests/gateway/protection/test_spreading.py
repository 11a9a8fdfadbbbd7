"""Which values are hidden where: by what they are, and by the part of the conversation and the syntax around them."""

import pytest

from gateway.models import NAME_MODEL, Action
from gateway.protection.spreading import Reach, is_distinctive, is_sure, spreads_back
from gateway.text.fields import Place, Span
from tests.tables import table

CASES = table(__file__)

DISTINCTIVE = CASES["distinctive"]
ORDINARY = CASES["ordinary"]


@pytest.mark.parametrize(("value", "type"), DISTINCTIVE)
def test_a_distinctive_value_is_hidden_in_every_place(value: str, type: str) -> None:
    assert is_distinctive(value, type)
    assert all(spreads_back(value, type, place) for place in Place)
    if type != "PERSON":
        text = f"def run():\n    x = {value}\n    return x\n"
        at = text.index(value)
        assert all(Reach(text, place, ()).covers(at, at + len(value), value, type) for place in Place)


@pytest.mark.parametrize(("value", "type"), ORDINARY)
def test_an_ordinary_value_of_a_tool_result_stays_where_it_is(value: str, type: str) -> None:
    assert not is_distinctive(value, type)
    assert [place for place in Place if not spreads_back(value, type, place)] == [Place.TOOL_RESULT]


PROSE = "Please let {} know about it."
CODE = "import os\n\ndef run(a, b):\n    {} = a.call(b)\n    return os.path.join(a, {})\n"
COMMENT = "import os\n\ndef run(a, b):\n    # {} wrote this\n    return os.path.join(a, b)\n"
STRING = 'import os\n\ndef run(a, b):\n    x = "{}"\n    return os.path.join(a, x)\n'
FENCED = "Look:\n```python\n{} = 1\n```\n"


def reaches(text: str, place: Place, value: str, type: str, own: tuple[str, ...] = ()) -> bool:
    filled = text.format(value, value)
    at = filled.index(value)
    return Reach(filled, place, own).covers(at, at + len(value), value, type)


@pytest.mark.parametrize(("value", "type"), [("Wilhelmina", "PERSON"), ("Wilhelmina Oxenfoord", "PERSON")])
@pytest.mark.parametrize("place", Place)
def test_names_are_hidden_in_prose_comments_and_strings(value: str, type: str, place: Place) -> None:
    assert all(reaches(text, place, value, type) for text in (PROSE, COMMENT, STRING))
    assert not any(reaches(text, place, value, type) for text in (CODE, FENCED))


@pytest.mark.parametrize(("value", "type"), [("sunshine", "PASSWORD"), ("4711", "PASSWORD")])
def test_words_and_short_numbers_are_hidden_in_messages_only(value: str, type: str) -> None:
    assert reaches(PROSE, Place.MESSAGE, value, type)
    assert reaches(PROSE, Place.TOOL_RESULT, value, type)
    assert not reaches(PROSE, Place.INSTRUCTIONS, value, type)
    assert not any(reaches(text, place, value, type) for text in (CODE, FENCED) for place in Place)


def test_a_word_is_hidden_again_in_the_instructions_that_announce_it() -> None:
    assert reaches(PROSE, Place.INSTRUCTIONS, "sunshine", "PASSWORD", own=("Sunshine",))


def test_a_name_that_a_system_prompt_has_as_a_word_stays() -> None:
    text = "Mark the task as done; to mark it, call a tool. Mark."
    assert not Reach(text, Place.INSTRUCTIONS, ()).covers(0, 4, "Mark", "PERSON")
    assert Reach(text, Place.MESSAGE, ()).covers(0, 4, "Mark", "PERSON")
    assert Reach("Mark is here.", Place.INSTRUCTIONS, ()).covers(0, 4, "Mark", "PERSON")
    assert not Reach("use jenkins", Place.INSTRUCTIONS, ()).covers(4, 11, "jenkins", "PERSON")
    assert Reach("use jenkins", Place.TOOL_RESULT, ()).covers(4, 11, "jenkins", "PERSON")


def test_only_the_name_model_is_uncertain() -> None:
    def span(score: float, recognizer: str, type: str = "PERSON") -> Span:
        return Span(0, 4, type, Action.PLACEHOLDER, score, recognizer)

    assert not is_sure(span(0.6, NAME_MODEL))
    assert is_sure(span(0.9, NAME_MODEL))
    assert is_sure(span(0.6, "person.announced"))
    assert is_sure(span(0.6, NAME_MODEL, "US_SSN"))


def test_a_word_in_small_letters_is_not_hidden_within_an_identifier() -> None:
    assert not reaches("The column v_{}_schema is new.", Place.MESSAGE, "brandvold", "USERNAME")
    assert reaches("The user {} is new.", Place.MESSAGE, "brandvold", "USERNAME")
    assert reaches("The file CV_{}.pdf is new.", Place.MESSAGE, "Brandvold", "PERSON")
