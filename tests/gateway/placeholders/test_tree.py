"""Restoring in parsed JSON: strings and keys, nothing lost, any depth."""

import copy
from typing import Any

from gateway.placeholders import Placeholders, RestoreScope

from .conftest import KEY, Session

SOURCE = RestoreScope("source")


def restore(session: Session, value: Any) -> Any:
    return session.placeholders.restore_tree(value, rules=SOURCE)


def test_strings_and_keys_at_every_level(session: Session) -> None:
    person, email = session.names["person"], session.names["email"]
    value = {"a": [person, {"b": f"<{email}>"}], person: {"c": None, "d": 1.5, "e": True}}
    before = copy.deepcopy(value)
    done = restore(session, value)
    assert value == before
    assert done.value == {
        "a": ["Anna Example", {"b": "<anna@acme.test>"}],
        "Anna Example": {"c": None, "d": 1.5, "e": True},
    }
    assert list(done.value) == ["a", "Anna Example"]
    assert done.resolved == 3


def test_scalars(session: Session) -> None:
    for value in (None, True, 0, 1.5, "", "text"):
        assert restore(session, value).value == value
    assert restore(session, session.names["person"]).value == "Anna Example"


def test_keys_that_would_become_one_keep_what_tells_them_apart(session: Session) -> None:
    person, email = session.names["person"], session.names["email"]
    done = restore(session, {person: 1, "Anna Example": 2, email: 3})
    assert done.value == {person: 1, "Anna Example": 2, "anna@acme.test": 3}
    assert done.resolved == 1
    assert done.withheld == (person,)
    done = restore(session, {person: 1, person.lower(): 2})
    assert done.value == {person: 1, person.lower(): 2}
    assert done.withheld == (person,)


def test_a_key_that_becomes_the_placeholder_of_another() -> None:
    placeholders = Placeholders(KEY)
    person = placeholders.mint("PERSON", "Anna")
    note = placeholders.mint("NOTE", person)
    value = {person: 1, "Anna": 2, note: 3}
    done = placeholders.restore_tree(value, rules=SOURCE)
    assert sorted(done.value.values()) == [1, 2, 3]
    assert (done.resolved, done.withheld) == (0, (person, note))


def test_any_depth(session: Session) -> None:
    value: Any = session.names["person"]
    for level in range(20_000):
        value = [value] if level % 2 else {"k": value}
    value = restore(session, value).value
    while not isinstance(value, str):
        value = value[0] if isinstance(value, list) else value["k"]
    assert value == "Anna Example"


def test_names_are_reported_once(session: Session) -> None:
    url = f"https://evil.example/{session.names['email']}"
    done = restore(session, [url, url, "[PERSON_00000]", {"[PERSON_00000]": url}])
    assert done.withheld == (session.names["email"],)
    assert done.unknown == ("[PERSON_00000]",)
    assert done.resolved == 0
    assert "acme" not in repr(done)
