"""In whose arguments values are restored: those of all tools, of some, or of none, on every wire, streamed and not."""

import json
from typing import Any

import pytest

from gateway.exchange.answer_guard import AnswerGuard
from gateway.guard import GuardContext
from gateway.placeholders import RestoreScope
from gateway.policy.document import GuardDocument, RestoreDocument
from gateway.text.answers import AnswerText
from gateway.wires.base import Body, Wire
from tests.gateway.wires.contract.cases import copied, wire_of
from tests.gateway.wires.replays import MAIL, plan, replay, session, sse
from tests.tables import table

CASES = table(__file__)

PLACEHOLDERS, MINTED = session()
HIDDEN = MINTED[MAIL]


def answers(kind: str) -> dict[str, tuple[Wire, Any]]:
    """Returns answers that call `send` and `search` on each wire. A placeholder is cut at HEAD and TAIL."""
    found: dict[str, tuple[Wire, Any]] = {}
    for id, answer in CASES[kind].items():
        text = json.dumps(answer)
        for mark, written in (("HIDDEN", HIDDEN), ("HEAD", HIDDEN[:3]), ("TAIL", HIDDEN[3:])):
            text = text.replace(mark, written)
        found[id] = wire_of(id), json.loads(text)
    return found


WHOLE, STREAMED = answers("whole"), answers("streamed")
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
    body = copied(body)
    rules = RestoreDocument(tool_arguments=rule)
    for text in wire.answer_texts(body):
        text.container[text.key] = restored(text, rules)
    assert values(body) == [*expected]


@pytest.mark.parametrize(("rule", "expected"), RULES)
@pytest.mark.parametrize("name", STREAMED)
def test_streamed_answers(name: str, rule: bool | list[str], expected: tuple[str, str]) -> None:
    wire, events = STREAMED[name]
    of = plan(PLACEHOLDERS, restore=RestoreDocument(tool_arguments=rule))
    got, _ = replay(wire, [sse(events, named=name in {"responses", "anthropic-messages"})], of)
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
    (text,) = [each for each in wire_of("chat-completions").answer_texts(body) if each.kind == "json"]
    assert restored(text, RestoreDocument(tool_arguments=False)) == said
    assert MAIL in restored(text, RestoreDocument(tool_arguments=["send"]))


def test_arguments_that_lack_the_quotes_of_a_placeholder() -> None:
    text = AnswerText(None, "arguments", f'{{"to": {HIDDEN}, "cc": "{HIDDEN}"}}', "json", tool="send")
    assert json.loads(restored(text, RestoreDocument())) == {"to": MAIL, "cc": MAIL}


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
