"""Streamed answers of the Anthropic wire: the client gets the same events with its own words."""

import copy
import json
from itertools import chain
from typing import Any

import pytest

from gateway.errors import Unavailable
from gateway.exchange.answer_guard import CONTENT_FILTERED
from gateway.policy.document import GuardDocument
from gateway.wires.anthropic_messages import WIRE
from gateway.wires.base import Body
from gateway.wires.error_shapes import error_body
from tests.gateway.wires.replays import CARD, MAIL, plan, read_sse, replay, session, sse, written
from tests.tables import table

CASES = table(__file__)

NOTE = {"request_id": "r"}
GUARD = GuardDocument()
STRICT = GuardDocument(placeholder_in_url="replace", unknown_placeholder="replace")
# The members of deltas that come in pieces.
GROWN = {"thinking_delta": "thinking", "text_delta": "text", "input_json_delta": "partial_json"}
TEXT = CASES["content"][2]["text"]
PLACEHOLDERS, OF = session()
REQUEST = {"model": "m", "messages": [{"role": "user", "content": f"I am {OF[MAIL]}. Card {OF[CARD]}."}]}


def write(value: Any) -> Any:
    return json.loads(written(json.dumps(value, ensure_ascii=False), OF))


def restored(*bodies: Body, guard: GuardDocument = GUARD) -> list[tuple[str, Body]]:
    """The names and bodies of all events that a client gets."""
    got, _ = replay(WIRE, [sse(bodies, named=True)], plan(PLACEHOLDERS, REQUEST, guard, note=NOTE))
    return events(got)


def events(data: bytes) -> list[tuple[str, Body]]:
    """The names and bodies of all events."""
    names = [line[7:] for line in data.decode().split("\n") if line.startswith("event: ")]
    return [*zip(names, read_sse(data), strict=True)]


def event(kind: str, **fields: Any) -> Body:
    return {"type": kind, **fields}


def start(**fields: Any) -> Body:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": []}
    usage = {"input_tokens": 5, "cache_read_input_tokens": 20, "output_tokens": 1}
    return event("message_start", message={**message, "stop_reason": None, "usage": usage, **fields})


def blocks(*given: list[Body], size: int = 3) -> list[Body]:
    """The events of blocks: what each begins with, and its deltas, which are divided."""
    found: list[Body] = []
    for index, (begin, *deltas) in enumerate(given):
        found.append(event("content_block_start", index=index, content_block=begin))
        pieces = chain.from_iterable(in_pieces(delta, size) for delta in deltas)
        found += [event("content_block_delta", index=index, delta=piece) for piece in pieces]
        found.append(event("content_block_stop", index=index))
    return found


def in_pieces(delta: Body, size: int) -> list[Body]:
    member = GROWN.get(delta["type"], "")
    text = delta.get(member, "")
    return [{**delta, member: text[at : at + size]} for at in range(0, len(text), size)] or [delta]


def placed(*given: list[Body], size: int = 3) -> list[Body]:
    """The events of blocks, in which a provider writes placeholders for values."""
    return blocks(*write([*given]), size=size)


def text_block(*texts: str, begin: str = "") -> list[Body]:
    return [{"type": "text", "text": begin}, *({"type": "text_delta", "text": text} for text in texts)]


def call_block(**arguments: Any) -> list[Body]:
    text = json.dumps(arguments, ensure_ascii=False)
    return [CASES["blocks"][5][0], {"type": "input_json_delta", "partial_json": text}]


def end(reason: str = "end_turn") -> list[Body]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [event("message_delta", delta=delta, usage={"output_tokens": 42}), event("message_stop")]


def answer(size: int = 3) -> list[Body]:
    """An answer with every kind of event, in deltas of a size. The provider writes placeholders."""
    return [start(), event("ping"), *placed(*CASES["blocks"], size=size), *end("tool_use")]


def message(found: list[tuple[str, Body]]) -> Body:
    """Puts a message together as the SDKs do. Every event has the name of its type, and blocks are in order."""
    result: Body = {"content": [], "json": {}, "svc": None, "open": None}
    for name, body in copy.deepcopy(found):
        assert name == body["type"]
        at = body.get("index")
        match name:
            case "message_start":
                result |= body["message"]
            case "content_block_start":
                assert (at, result["open"]) == (len(result["content"]), None)
                result["content"].append(body["content_block"])
                result["open"] = at
            case "content_block_delta":
                assert at == result["open"]
                _grow(result, at, body["delta"])
            case "content_block_stop":
                assert at == result["open"]
                result["open"] = None
                if result["json"].get(at):
                    result["content"][at]["input"] = json.loads(result["json"][at])
            case "message_delta":
                result |= {"stop_reason": body["delta"]["stop_reason"]}
        result["svc"] = body.get("svc", result["svc"])
    return result


def _grow(result: Body, at: int, delta: Body) -> None:
    grown = result["content"][at]
    for member, value in delta.items():
        if member == "partial_json":
            result["json"][at] = result["json"].get(at, "") + value
        elif member == "citation":
            grown.setdefault("citations", []).append(value)
        elif member != "type":
            grown[member] = grown.get(member, "") + value


def check(found: list[tuple[str, Body]]) -> None:
    got = message(found)
    # A signature is valid for the provider's own words.
    thinking, *others = CASES["content"]
    assert got["content"] == [write(thinking), *others]
    assert (got["stop_reason"], got["open"]) == ("tool_use", None)
    assert got["svc"] == {**NOTE, "guard": {"action": "pass"}}
    assert found[-1][0] == "message_stop"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 8, 13, 30, 10**6])
def test_an_answer(size: int) -> None:
    got, end = replay(WIRE, [sse(answer(size), named=True)], plan(PLACEHOLDERS, REQUEST, GUARD, note=NOTE))
    check(events(got))
    assert (end.outcome, end.tokens) == ("answered", (25, 42))


def test_a_text_that_begins_with_its_block_continues() -> None:
    whole = write(f"To {MAIL}")
    got = message(restored(start(), *placed(text_block(whole[9:], begin=whole[:9])), *end()))
    assert got["content"] == [{"type": "text", "text": f"To {MAIL}"}]


def test_held_text_comes_before_the_end_of_its_block() -> None:
    got = restored(start(), *placed(text_block(begin="A [")), *end())
    assert [name for name, _ in got[1:5]] == [
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
    ]
    assert message(got)["content"][0]["text"] == "A ["


def test_an_error_of_the_provider_passes() -> None:
    failed = event("error", error={"type": "overloaded_error", "message": "Overloaded"}, request_id="req_1")
    begin = event("content_block_start", index=0, content_block={"type": "text", "text": "A ["})
    got = restored(start(), begin, failed)
    assert got[-1] == ("error", failed)
    assert message(got)["content"][0]["text"] == "A ["


def test_the_gateways_errors_have_the_shape_of_the_providers() -> None:
    source = sse([start()], named=True) + b"event: message_stop\ndata: {broken\n\n"
    got = events(replay(WIRE, [source], plan(PLACEHOLDERS, REQUEST, GUARD))[0])
    assert got[-1][0] == "error"
    assert got[-1][1]["error"]["type"] == "api_error"
    shown = WIRE.stream.error(Unavailable("Later.", code="overloaded"), "r")
    assert shown == error_body(Unavailable("Later.", code="overloaded"), "r", "anthropic")


def test_blocks_that_a_client_joins_are_guarded_together() -> None:
    """The provider divides a text where it cites something."""
    for lead, rest in CASES["blocks_that_a_client_joins"]:
        got = message(restored(start(), *placed(text_block(lead), text_block(rest)), *end()))
        assert f"q={MAIL}" not in "".join(each["text"] for each in got["content"])
        assert MAIL not in got["content"][1]["text"]
    got = message(restored(start(), *placed(text_block("Write to "), text_block(f"{MAIL}.")), *end()))
    assert "".join(each["text"] for each in got["content"]) == f"Write to {MAIL}."


def test_a_call_whose_value_is_taken_out_is_whole() -> None:
    call = call_block(url=f"https://collect.net/?q={MAIL}", n=1)
    got = message(restored(start(), *placed(call), *end()))
    assert got["content"][0]["input"] == {"url": "https://collect.net/?q=[withheld]", "n": 1}


@pytest.mark.parametrize(("started", "given", "types"), CASES["refusals"].values(), ids=CASES["refusals"])
def test_a_withheld_text_ends_the_message_in_order(started: Body, given: list[list[Body]], types: list[str]) -> None:
    got = message(restored(start(**write(started)), *placed(*given), *end(), guard=STRICT))
    assert (got["id"], got["stop_reason"], got["open"]) == ("msg_1", "refusal", None)
    assert [each["type"] for each in got["content"]] == types
    assert got["content"][-1] == {"type": "text", "text": CONTENT_FILTERED}
    assert MAIL not in json.dumps(got["content"])
    # The blocks before the withheld one stay.
    assert got["content"][0].get("text", "").strip() in {"", "Fine.", CONTENT_FILTERED}
