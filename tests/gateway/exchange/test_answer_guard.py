"""In whose arguments values are restored: those of all tools, of some, or of none, on every wire, streamed and not."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.exchange.answer_guard import AnswerGuard
from gateway.guard import GuardContext
from gateway.placeholders import RestoreScope
from gateway.policy.document import GuardDocument, RestoreDocument
from gateway.wires import AnswerText, Body, Wire
from gateway.wires.anthropic_messages import WIRE as ANTHROPIC
from gateway.wires.chat_completions import WIRE as CHAT
from gateway.wires.gemini import WIRE as GEMINI
from gateway.wires.responses import WIRE as RESPONSES
from tests.gateway.wires.replays import MAIL, plan, replay, session, sse

PLACEHOLDERS, MINTED = session()
HIDDEN = MINTED[MAIL]
TOOLS = ("send", "search")
ARGUMENTS = json.dumps({"to": HIDDEN})
PIECES = (ARGUMENTS[:11], ARGUMENTS[11:])

CALLS = [
    {"id": f"c{n}", "type": "function", "function": {"name": t, "arguments": ARGUMENTS}} for n, t in enumerate(TOOLS)
]
ITEMS = [
    {"type": "function_call", "id": f"f{n}", "call_id": f"c{n}", "name": tool, "arguments": ARGUMENTS}
    for n, tool in enumerate(TOOLS)
]
WHOLE: dict[str, tuple[Wire, Body]] = {
    "chat": (CHAT, {"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": CALLS}}]}),
    "responses": (RESPONSES, {"id": "r", "output": ITEMS}),
    "anthropic": (
        ANTHROPIC,
        {"content": [{"type": "tool_use", "id": t, "name": t, "input": json.loads(ARGUMENTS)} for t in TOOLS]},
    ),
    "gemini": (
        GEMINI,
        {
            "candidates": [
                {"content": {"parts": [{"functionCall": {"name": t, "args": json.loads(ARGUMENTS)}} for t in TOOLS]}}
            ]
        },
    ),
}


def chat_events() -> Iterator[Body]:
    def event(delta: Body, reason: str | None = None) -> Body:
        return {"id": "x", "choices": [{"index": 0, "delta": {"tool_calls": [delta]}, "finish_reason": reason}]}

    for number, tool in enumerate(TOOLS):
        yield event({"index": number, "id": f"c{number}", "function": {"name": tool, "arguments": ""}})
        for piece in PIECES:
            yield event({"index": number, "function": {"arguments": piece}})
    yield {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def responses_events() -> Iterator[Body]:
    for number, item in enumerate(ITEMS):
        place = {"output_index": number, "item_id": item["id"]}
        yield {"type": "response.output_item.added", "output_index": number, "item": {**item, "arguments": ""}}
        for piece in PIECES:
            yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
        yield {"type": "response.function_call_arguments.done", **place, "arguments": ARGUMENTS}
        yield {"type": "response.output_item.done", "output_index": number, "item": item}
    yield {"type": "response.completed", "response": {"id": "r", "output": ITEMS}}


def anthropic_events() -> Iterator[Body]:
    for number, tool in enumerate(TOOLS):
        block = {"type": "tool_use", "id": tool, "name": tool, "input": {}}
        yield {"type": "content_block_start", "index": number, "content_block": block}
        for piece in PIECES:
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield {"type": "content_block_delta", "index": number, "delta": delta}
        yield {"type": "content_block_stop", "index": number}
    yield {"type": "message_stop"}


def gemini_events() -> Iterator[Body]:
    def event(call: Body) -> Body:
        return {"candidates": [{"index": 0, "content": {"parts": [{"functionCall": call}]}}]}

    for tool in TOOLS:
        yield event({"name": tool, "willContinue": True})
        for piece, goes_on in ((HIDDEN[:4], True), (HIDDEN[4:], False)):
            part: Any = {"jsonPath": "$.to", "stringValue": piece, "willContinue": goes_on}
            yield event({"partialArgs": [part], "willContinue": goes_on})


STREAMED = {
    "chat": (CHAT, chat_events),
    "responses": (RESPONSES, responses_events),
    "anthropic": (ANTHROPIC, anthropic_events),
    "gemini": (GEMINI, gemini_events),
}
RULES: list[tuple[bool | list[str], tuple[str, str]]] = [
    (True, (MAIL, MAIL)),
    (False, (HIDDEN, HIDDEN)),
    (["send"], (MAIL, HIDDEN)),
    (["search", "other"], (HIDDEN, MAIL)),
    ([], (HIDDEN, HIDDEN)),
]


@pytest.mark.parametrize(("rule", "expected"), RULES)
@pytest.mark.parametrize("name", WHOLE)
def test_whole_answers(name: str, rule: bool | list[str], expected: tuple[str, str]) -> None:
    wire, body = WHOLE[name]
    body = json.loads(json.dumps(body))
    rules = RestoreDocument(tool_arguments=rule)
    for text in wire.answer_texts(body):
        text.container[text.key] = restored(text, rules)
    assert values(body) == [*expected]


@pytest.mark.parametrize(("rule", "expected"), RULES)
@pytest.mark.parametrize("name", STREAMED)
def test_streamed_answers(name: str, rule: bool | list[str], expected: tuple[str, str]) -> None:
    wire, events = STREAMED[name]
    of = plan(PLACEHOLDERS, restore=RestoreDocument(tool_arguments=rule))
    got, _ = replay(wire, [sse(events(), named=name in {"responses", "anthropic"})], of)
    told = [line[6:] for line in got.decode().split("\n") if line.startswith("data: ")]
    calls = [
        "".join(argument for number, argument in map(growing, map(json.loads, told)) if number == n) for n in (0, 1)
    ]
    if name == "gemini":
        assert calls == ["".join(expected), ""]
    else:
        assert [json.loads(call)["to"] for call in calls] == [*expected]
    if name == "responses":
        done = [json.loads(each) for each in told]
        assert [json.loads(each["arguments"])["to"] for each in done if "arguments" in each] == [*expected]
        assert values(done[-1]["response"]) == [*expected]


@pytest.mark.parametrize("said", [f"To: {HIDDEN}", f'{{"to": "{HIDDEN}'])
def test_arguments_that_are_no_document(said: str) -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "send", "input": said}}
    body: Body = {"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": [call]}}]}
    (text,) = [each for each in CHAT.answer_texts(body) if each.kind == "json"]
    assert restored(text, RestoreDocument(tool_arguments=False)) == said
    assert MAIL in restored(text, RestoreDocument(tool_arguments=["send"]))


def restored(text: AnswerText, rules: RestoreDocument) -> str:
    return AnswerGuard(GuardContext(PLACEHOLDERS, RestoreScope("source")), GuardDocument(), rules).restored(text)


def values(body: Any) -> list[str]:
    """The values of `to` in all arguments."""
    if isinstance(body, str):
        return values(json.loads(body)) if body.startswith("{") else []
    if isinstance(body, list):
        return [each for item in body for each in values(item)]
    found = [each for name, item in body.items() if isinstance(item, dict | list | str) for each in values(item)]
    return [*([body["to"]] if "to" in body else []), *found]


def growing(event: Body) -> tuple[int, str]:
    """The number of the call that an event continues, and the piece of its arguments."""
    match event:
        case {"choices": [{"delta": {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}}]}:
            return number, piece
        case {"type": "response.function_call_arguments.delta", "output_index": number, "delta": piece}:
            return number, piece
        case {"type": "content_block_delta", "index": number, "delta": {"partial_json": piece}}:
            return number, piece
        case {"candidates": [{"content": {"parts": [{"functionCall": {"partialArgs": [{"stringValue": piece}]}}]}}]}:
            return 0, piece
    return -1, ""
