"""The corrections of a request are checked strictly, and no error repeats a value."""

from typing import Any

import pytest

from gateway.corrections.given import NONE, Denied, Given, check_type, check_visible, plain, read_given
from gateway.errors import Unprocessable

CANARY = "canary-7f3a"
DENIED = {"type": "PROJECT", "value": CANARY}


def test_corrections_are_read() -> None:
    assert read_given(None, None) is NONE
    assert not NONE
    given = read_given(["a@b.test", "Ä"], [DENIED])
    assert given == Given(("a@b.test", "Ä"), (Denied("PROJECT", CANARY),))
    assert CANARY not in repr(given)
    assert plain("Blue \n HERON") == "blue heron"


@pytest.mark.parametrize(
    ("allow", "deny", "where"),
    [
        (CANARY, None, "svc_allow"),
        ({CANARY: 1}, None, "svc_allow"),
        ([CANARY] * 101, None, "svc_allow"),
        ([CANARY, 7], None, "svc_allow.1"),
        ([CANARY, None], None, "svc_allow.1"),
        ([""], None, "svc_allow.0"),
        (["x" * 201], None, "svc_allow.0"),
        ([CANARY + "\ud800"], None, "svc_allow.0"),
        (None, DENIED, "svc_deny"),
        (None, [DENIED] * 101, "svc_deny"),
        (None, [CANARY], "svc_deny.0"),
        (None, [DENIED, {"type": "PROJECT"}], "svc_deny.1"),
        (None, [{**DENIED, CANARY: 1}], "svc_deny.0"),
        (None, [{**DENIED, "type": CANARY}], "svc_deny.0.type"),
        (None, [{**DENIED, "type": "A" * 49}], "svc_deny.0.type"),
        (None, [{**DENIED, "value": 7}], "svc_deny.0.value"),
    ],
)
def test_unusable_ones_are_refused_by_their_place(allow: Any, deny: Any, where: str) -> None:
    with pytest.raises(Unprocessable) as refused:
        read_given(allow, deny)
    assert refused.value.param == where
    assert f"`{where}`" in refused.value.message
    assert "canary" not in refused.value.message.lower()


def test_a_type_is_in_capitals() -> None:
    assert check_type("PROJECT_2", "--type") == "PROJECT_2"
    with pytest.raises(Unprocessable, match="--type"):
        check_type("project", "--type")


def test_a_stored_value_has_visible_characters() -> None:
    assert check_visible("x", "line 1") == "x"
    with pytest.raises(Unprocessable, match="line 1"):
        check_visible("\u200b ", "line 1")
