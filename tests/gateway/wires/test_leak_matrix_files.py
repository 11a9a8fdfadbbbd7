"""What the leak matrix leaves out: numbers that stand where a string could, and the names and addresses of files."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from gateway.config.settings import load_settings
from gateway.container import Container
from gateway.wires import Body, Wire
from gateway.wires.anthropic_messages import WIRE as ANTHROPIC
from gateway.wires.chat_completions import WIRE as CHAT
from gateway.wires.completions import WIRE as COMPLETIONS
from gateway.wires.embeddings import WIRE as EMBEDDINGS
from gateway.wires.gemini import WIRE as GEMINI
from gateway.wires.moderations import WIRE as MODERATIONS
from gateway.wires.other_json import OTHER_JSON
from gateway.wires.responses import WIRE as RESPONSES
from tests.gateway.wires.leaks import crossing
from tests.gateway.wires.test_leak_matrix import GEMINI_PATH, KINDS, spellings

# A name is announced by what precedes it, for which an address has no room.
IN_ADDRESSES = [kind for kind in KINDS if kind != "person"]
PNG = "iVBORw0KGgo="
NUMBERS = {
    "card": 4539578763621486,
    "iban_digits_account_number": 532013000,
    "ssn": 536904399,
    "nhs_number": 9434765919,
    "phone": 442079460958,
    "tax_id": 86095742719,
    "account_number": 84213907,
    "pin": 4711,
}


def files(text: str) -> Iterator[tuple[Wire, str, Body]]:
    url = f"https://files.acme.test/a.png?note={quote(text)}"
    chat: list[Body] = [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "file", "file": {"filename": text, "file_data": f"data:application/pdf;base64,{PNG}"}},
        {"type": "file", "file": {"file_id": text}},
    ]
    for part in chat:
        yield CHAT, "/v1/chat/completions", {"messages": [{"role": "user", "content": [part]}]}
    responses: list[Body] = [
        {"type": "input_image", "image_url": url},
        {"type": "input_file", "filename": text, "file_data": f"data:application/pdf;base64,{PNG}"},
        {"type": "input_file", "file_url": url},
    ]
    for part in responses:
        yield RESPONSES, "/v1/responses", {"input": [{"role": "user", "content": [part]}]}
    data = {"type": "base64", "media_type": "application/pdf", "data": PNG}
    anthropic: list[Body] = [
        {"type": "image", "source": {"type": "url", "url": url}},
        {"type": "document", "title": text, "source": data},
        {"type": "document", "context": text, "source": data},
    ]
    for part in anthropic:
        yield ANTHROPIC, "/v1/messages", {"max_tokens": 9, "messages": [{"role": "user", "content": [part]}]}
    gemini: list[Body] = [
        {"fileData": {"mimeType": "image/png", "fileUri": url}},
        {"inlineData": {"mimeType": "image/png", "data": PNG, "displayName": text}},
    ]
    for part in gemini:
        yield GEMINI, GEMINI_PATH, {"contents": [{"role": "user", "parts": [part]}]}
    yield MODERATIONS, "/v1/moderations", {"input": [{"type": "image_url", "image_url": {"url": url}}]}


def numbers(given: Body) -> Iterator[tuple[Wire, str, Body]]:
    said = {"role": "user", "content": "Hi."}
    call = {"id": "c", "type": "function", "function": {"name": "send", "arguments": json.dumps({"to": given})}}
    result = json.dumps([given])
    tool = {"name": "send", "parameters": {"type": "object", "properties": {"a": {"default": given}}}}
    for more in (
        {"messages": [said, {"role": "assistant", "tool_calls": [call]}]},
        {"messages": [said, {"role": "tool", "tool_call_id": "c", "content": result}]},
        {"messages": [said], "tools": [{"type": "function", "function": tool}]},
        {"messages": [said], "metadata": given},
        {"messages": [said], "extra": [given]},
    ):
        yield CHAT, "/v1/chat/completions", more
    for items in (
        [{"type": "function_call", "call_id": "c", "name": "send", "arguments": json.dumps(given)}],
        [{"type": "function_call_output", "call_id": "c", "output": result}],
        [{"type": "new_item", "what": given}],
    ):
        yield RESPONSES, "/v1/responses", {"input": items}
    for block in (
        {"type": "tool_use", "id": "t", "name": "send", "input": given},
        {"type": "tool_result", "tool_use_id": "t", "content": result},
    ):
        yield ANTHROPIC, "/v1/messages", {"max_tokens": 9, "messages": [said, {"role": "user", "content": [block]}]}
    for part in (
        {"functionCall": {"name": "a", "args": given}},
        {"functionResponse": {"name": "a", "response": given}},
    ):
        yield GEMINI, GEMINI_PATH, {"contents": [{"role": "user", "parts": [part]}]}
    yield COMPLETIONS, "/v1/completions", {"prompt": "a", "extra": given}
    yield EMBEDDINGS, "/v1/embeddings", {"input": "a", "extra": given}
    yield MODERATIONS, "/v1/moderations", {"input": "a", "extra": given}
    yield OTHER_JSON, "/v1/other", {"a": given}


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("files"), detection="patterns")
    async with await Container.start(settings) as running:
        await running.policies.create({"id": "files", "title": "Files", "extends": "default", "attachments": "pass"})
        yield running


async def crossed(container: Container, wire: Wire, path: str, body: Body) -> bytes:
    own: Body = {} if wire is OTHER_JSON else {"svc_policy": "files"}
    model: Body = {} if wire in {GEMINI, OTHER_JSON} else {"model": "m"}
    copied: Any = json.loads(json.dumps({**model, **body, **own}))
    return await crossing(container, wire, copied, path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", IN_ADDRESSES)
async def test_no_value_crosses_in_the_name_or_address_of_a_file(container: Container, kind: str) -> None:
    said, value = KINDS[kind]
    leaked = []
    for wire, path, body in files(said.format(value)):
        crossed_as = await crossed(container, wire, path, body)
        if any(spelled in crossed_as for spelled in spellings(value)):
            leaked.append(crossed_as)
    assert leaked == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBERS)
async def test_no_number_crosses_that_its_key_explains(container: Container, name: str) -> None:
    leaked = []
    for wire, path, body in numbers({name: NUMBERS[name]}):
        crossed_as = await crossed(container, wire, path, body)
        if str(NUMBERS[name]).encode() in crossed_as:
            leaked.append(crossed_as)
    assert leaked == []
