"""Changes of a placeholder by a model that are still recognized, and changes that are not."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.placeholders import Found, Placeholders, RestoreScope, looks_like_placeholder

from .conftest import KEY, Session

VECTORS = Path(__file__).parents[2] / "vectors" / "placeholders"
SOURCE = RestoreScope("source")


def forms(file: str) -> list[Any]:
    cases = json.loads((VECTORS / file).read_text(encoding="utf-8"))
    return [pytest.param(case["text"], case["want"], id=case["name"]) for case in cases]


FORMS = forms("opened.json") + forms("mangled.json")


@pytest.mark.parametrize(("text", "want"), FORMS + forms("untouched.json"))
def test_form(session: Session, text: str, want: str) -> None:
    done = session.placeholders.restore(session.protected(text), rules=SOURCE)
    assert done.text == session.expected(want)
    assert done.resolved == session.opened(want)


def test_most_of_what_models_make_of_placeholders_opens(session: Session) -> None:
    opened = sum(session.opened(form.values[1]) > 0 for form in FORMS)
    assert len(FORMS) >= 120
    assert opened / len(FORMS) >= 0.95


@pytest.mark.parametrize(("text", "want"), FORMS)
def test_a_form_opens_only_in_its_own_session(session: Session, text: str, want: str) -> None:
    other = Placeholders(b"o" * 32)
    other.mint("EMAIL_ADDRESS", "somebody@else.test")
    other.mint("PERSON", "Somebody Else")
    done = other.restore(session.protected(text), rules=RestoreScope("always"))
    assert done.text == session.protected(text)
    assert done.resolved == 0


def test_find_gives_places_names_and_whether_it_is_exact(session: Session) -> None:
    text = session.protected("ä {{email}} and <{{person:lower}}>.")
    email, person = session.names["email"], session.names["person"]
    start = text.index("<")
    assert session.placeholders.find(text) == [
        Found(2, 2 + len(email), email, exact=True),
        Found(start, len(text) - 1, person, exact=False),
    ]


def test_unknown_placeholders_are_reported(session: Session) -> None:
    text = "[PERSON_7KQ2M] [CUSTOMER_7KQ2M] [PERSON_7KQ2M] [START_DATES] [EMAIL_ADDRESS]"
    done = session.placeholders.restore(session.protected(text + " {{person}}"), rules=SOURCE)
    assert done.unknown == ("[PERSON_7KQ2M]", "[CUSTOMER_7KQ2M]")


def test_a_tag_of_letters_is_reported_for_a_type_of_the_session(session: Session) -> None:
    assert session.placeholders.restore("[PERSON_AAAAA]", rules=SOURCE).unknown == ("[PERSON_AAAAA]",)


def test_the_grammar_scan_knows_no_session() -> None:
    text = "[PERSON_7KQ2M] person_7kq2m [PERSON_7KQ2] [PERSON_7KQ2U] [_7KQ2M] [A_0123456789ABCDEFGHJKMNPQRS] [A__7KQ2M]"
    assert [text[hit.start : hit.end] for hit in looks_like_placeholder(text)] == [
        "[PERSON_7KQ2M]",
        "[A_0123456789ABCDEFGHJKMNPQRS]",
    ]


def test_a_value_that_looks_like_a_placeholder_is_not_opened_again() -> None:
    placeholders = Placeholders(KEY)
    inner = placeholders.mint("PERSON", "Anna")
    outer = placeholders.mint("NOTE", f"{inner} and {inner.lower()}")
    assert placeholders.restore(outer, rules=SOURCE).text == f"{inner} and {inner.lower()}"
    half = placeholders.mint("NOTE", inner[:8])
    assert placeholders.restore(half + inner[8:], rules=SOURCE).text == inner


def test_types_that_are_the_beginning_of_others() -> None:
    placeholders = Placeholders(KEY)
    date, birth = placeholders.mint("DATE", "1 May"), placeholders.mint("DATE_OF_BIRTH", "2 May")
    text = f"date {date[-6:-1]}, Date of Birth {birth[-6:-1].lower()}"
    assert placeholders.restore(text, rules=SOURCE).text == "1 May, 2 May"
