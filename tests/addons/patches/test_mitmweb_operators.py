"""Each operator has a token and a cookie of their own, and an edit belongs to who made it."""

import pytest
from mitmproxy.test import tflow

from addons.patches.mitmweb_operators import Editors, Operators, current_operator, editor_of

TOKENS = {"anna": "a" * 16, "ben": "b" * 16}
OWN = "of mitmproxy"


@pytest.mark.parametrize(
    ("tokens", "password", "valid"),
    [
        (TOKENS, "a" * 16, True),
        (TOKENS, "b" * 16, True),
        (TOKENS, "", False),
        (TOKENS, "anna", False),
        (TOKENS, OWN, False),
        (TOKENS, "\udcff", False),
        ({}, OWN, True),
        ({}, "a" * 16, False),
        ({}, "\xe4", False),
    ],
)
def test_tokens(tokens: dict[str, str], password: str, valid: bool) -> None:
    assert Operators(tokens, lambda given: given == OWN).is_valid(password) == valid


@pytest.mark.parametrize(
    ("tokens", "cookie", "valid"),
    [
        (TOKENS, b"operator:anna:0a", True),
        (TOKENS, b"operator:carl:0a", False),
        (TOKENS, b"operator::0a", False),
        (TOKENS, b"y", False),
        (TOKENS, None, False),
        ({}, b"operator::0a", True),
        ({}, b"operator:anna:0a", False),
        ({}, b"y", False),
    ],
)
def test_cookies(tokens: dict[str, str], cookie: bytes | None, valid: bool) -> None:
    assert Operators(tokens, lambda _: True).is_cookie(cookie) == valid


def test_a_session_that_was_ended_opens_nothing() -> None:
    operators = Operators(TOKENS, lambda _: False)
    operators.end(b"operator:anna:0a")
    assert not operators.is_cookie(b"operator:anna:0a")
    assert operators.is_cookie(b"operator:anna:0b")
    operators.serve("192.0.2.1")
    assert current_operator() == ""


def test_guessing_is_bounded_for_each_address(caplog: pytest.LogCaptureFixture) -> None:
    now = 100.0
    operators = Operators(TOKENS, lambda _: False, lambda: now)
    for last in range(20):
        operators.serve(f"2001:db8::{last:x}")
        assert operators.is_valid("a" * 16)
        # Checked before the body, and again by the page.
        assert not any(operators.is_valid(f"guess {last}") for _ in range(2))
    assert operators.stopped()
    assert not operators.is_valid("a" * 16)
    assert [record.message for record in caplog.records] == [
        "mitmweb: too many wrong tokens from 2001:db8::13; none is accepted from there for now"
    ]
    for address in ("2001:db8:0:1::", "192.0.2.1", ""):
        operators.serve(address)
        assert operators.is_valid("a" * 16), address
    now += 60
    operators.serve("2001:db8::")
    assert operators.is_valid("a" * 16)


def test_no_token_is_no_guess_and_a_random_one_is_not_guessed() -> None:
    for tokens, guess in ((TOKENS, ""), ({}, "guess")):
        operators = Operators(tokens, lambda _: False)
        assert not any(operators.is_valid(guess) for _ in range(100))
        assert not operators.stopped()


def test_the_last_who_changes_the_body_of_a_held_request_is_its_editor() -> None:
    operators, editors, held = Operators(TOKENS, lambda _: False), Editors(), tflow.tflow()
    held.intercept()
    editors.note(held)
    assert operators.is_valid(TOKENS["anna"])
    editors.note(held)
    assert editor_of(held) == ""
    held.request.content = b"edited"
    editors.note(held)
    assert operators.is_valid(TOKENS["ben"])
    held.comment = "of Ben"
    editors.note(held)
    held.resume()
    held.request.content = b"edited again"
    editors.note(held)
    assert editor_of(held) == "anna"
