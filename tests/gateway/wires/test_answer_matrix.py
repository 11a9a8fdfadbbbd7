"""Puts the placeholders of values of every kind into every position of an answer, on every wire: all come back."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from gateway.config.settings import load_settings
from gateway.container import Container
from gateway.exchange.destination import Destination
from gateway.models import Caller, Scope, Trust
from gateway.wires import Body, Wire
from gateway.wires.anthropic_messages import WIRE as ANTHROPIC
from gateway.wires.chat_completions import WIRE as CHAT
from gateway.wires.completions import WIRE as COMPLETIONS
from gateway.wires.gemini import WIRE as GEMINI
from gateway.wires.other_json import OTHER_JSON
from gateway.wires.responses import WIRE as RESPONSES
from tests.exchanges import protected_exchange
from tests.gateway.wires.test_leak_matrix import GEMINI_PATH, KINDS


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def chat(text: str) -> Body:
    function = {"name": "send", "arguments": dumps({"to": {"deep": [text]}, "note": "a"})}
    message = {
        "role": "assistant",
        "content": f"You said: {text}",
        "refusal": text,
        "reasoning_content": text,
        "audio": {"id": "a", "transcript": text},
        "function_call": function,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": function},
            {"id": "c2", "type": "function", "function": {"name": "send", "arguments": dumps({text: 1})}},
            {"id": "c3", "type": "custom", "custom": {"name": "patch", "input": f"+ {text}"}},
        ],
    }
    structured = {"role": "assistant", "content": dumps({"found": [text]})}
    choices = [{"index": 0, "message": message}, {"index": 1, "message": structured}]
    return {"id": "x", "object": "chat.completion", "model": "m", "choices": choices, "extra": {"deep": text}}


def completions(text: str) -> Body:
    return {"id": "x", "model": "m", "choices": [{"index": 0, "text": text}, {"index": 1, "text": f"a {text}"}]}


def responses(text: str) -> Body:
    part = {"type": "output_text", "text": text, "annotations": [{"type": "url_citation", "title": text}]}
    return {
        "id": "resp_1",
        "model": "m",
        "output": [
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": text}]},
            {
                "type": "message",
                "id": "m1",
                "role": "assistant",
                "content": [part, {"type": "refusal", "refusal": text}],
            },
            {"type": "function_call", "call_id": "c1", "name": "send", "arguments": dumps({"to": [text]})},
            {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": f"+ {text}"},
            {"type": "local_shell_call", "call_id": "c3", "action": {"type": "exec", "command": ["echo", text]}},
            {"type": "new_item", "what": {"deep": [text]}},
        ],
    }


def anthropic(text: str) -> Body:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "thinking", "thinking": text},
            {"type": "text", "text": text, "citations": [{"type": "char_location", "cited_text": text}]},
            {"type": "tool_use", "id": "t1", "name": "send", "input": {"to": {"deep": [text]}, text: 1}},
            {"type": "new_block", "what": [text]},
        ],
        "stop_reason": "tool_use",
    }


def gemini(text: str) -> Body:
    parts = [
        {"text": f"{text}\n", "thought": True},
        {"text": text},
        {"functionCall": {"name": "send", "args": {"to": {"deep": [text]}, text: 1}}},
        {"executableCode": {"language": "PYTHON", "code": f"# {text}"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": text}},
    ]
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}], "responseId": "r"}


def other(text: str) -> Body:
    return {"a": text, "b": {"c": [[text]]}}


WIRES: dict[str, tuple[Wire, str, Callable[[str], Body], Callable[[str], Body], Callable[[Body], str]]] = {
    "chat": (
        CHAT,
        "/v1/chat/completions",
        lambda text: {"model": "m", "messages": [{"role": "user", "content": text}]},
        chat,
        lambda body: body["messages"][0]["content"],
    ),
    "completions": (
        COMPLETIONS,
        "/v1/completions",
        lambda text: {"model": "m", "prompt": text},
        completions,
        lambda body: body["prompt"],
    ),
    "responses": (
        RESPONSES,
        "/v1/responses",
        lambda text: {"model": "m", "input": text},
        responses,
        lambda body: body["input"],
    ),
    "anthropic": (
        ANTHROPIC,
        "/v1/messages",
        lambda text: {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}]},
        anthropic,
        lambda body: body["messages"][0]["content"],
    ),
    "gemini": (
        GEMINI,
        GEMINI_PATH,
        lambda text: {"contents": [{"role": "user", "parts": [{"text": text}]}]},
        gemini,
        lambda body: body["contents"][0]["parts"][0]["text"],
    ),
    "other JSON": (OTHER_JSON, "/v1/other", lambda text: {"a": text}, other, lambda body: body["a"]),
}


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("answers"), detection="patterns")
    async with await Container.start(settings) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WIRES)
async def test_every_value_comes_back_exactly(container: Container, name: str, kind: str) -> None:
    wire, path, request, answer, sent = WIRES[name]
    said, value = KINDS[kind]
    text = said.format(value)
    exchange = await protected_exchange(
        container,
        wire,
        request(text),
        Caller("key_anna", Scope.CLIENT),
        Destination("m", Trust.LOCAL),
        path=path,
    )
    protected = sent(json.loads(exchange.body))
    assert protected != text
    body = json.dumps(answer(protected)).encode()
    restored = json.loads(await container.answers.close(exchange, 200, body))
    assert restored == answer(text)
