"""Puts values of every kind into every position of a request, on every wire, and looks for them in what crosses."""

import base64
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from gateway.config.settings import load_settings
from gateway.container import Container
from gateway.errors import GatewayError
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

# What is said, and the value in it. Keys are put together so that nobody takes them for real ones.
KINDS = {
    "card": ("Charge {} today.", "4539 5787 6362 1486"),
    "IBAN": ("Pay to {}.", "DE89370400440532013000"),
    "e-mail": ("Write to {}.", "anna.keller@acme.test"),
    "phone": ("Call {}.", "+44 20 7946 0958"),
    "social security number": ("My SSN is {}.", "536-90-4399"),
    "cloud key": ("Use {}.", "AKIA" + "QX7RJ2M4K5T6W3ZP"),
    "code host token": ("Use {}.", "ghp_" + "k3Jx9QmV2bTz8LrWp5Ny7HdSc4Gf6AeUoX1q"),
    "provider key": ("Use {}.", "sk-proj-" + "Zk3Jx9QmV2bTz8LrWp5Ny7HdSc4Gf6AeUoX1qRt0"),
    "password": ("password = {}", "hunter-Zebra-42x"),
    "password with a quote": ("my password: {}", 'Tr0ub"4dor\\9kL!'),
    "JSON Web Token": (
        "Token {}.",
        ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiJhbm5hIn0", "q1w2e3r4t5y6u7i8o9p0a1s2")),
    ),
    "private key": (
        "{}",
        f"-----BEGIN PRIVATE KEY-----\n{'MIIBVgIBADANBgkqhkiG9w0BAQEFAASC' * 4}\n-----END PRIVATE KEY-----",
    ),
    "connection string": ("DATABASE_URL=postgres://svc:{}@db.acme.test/main", "pa55W0rd-x9Q"),
    "credentials in a URL": ("Get https://anna:{}@files.acme.test/x", "s3cr3t-pw9Q"),
    "IPv4 address": ("The client is {}.", "203.0.113.77"),
    "IPv6 address": ("The client is {}.", "fd12:3456:789a:1::42"),
    "MAC address": ("The device {} is new.", "00:1B:44:11:3A:B7"),
    "passport": ("Passport number {}.", "C01X00T47"),
    "health number": ("NHS number {}.", "943 476 5919"),
    "bank code": ("BIC {}.", "DEUTDEFF500"),
    "wallet": ("Send it to {}.", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"),
    "date of birth": ("Born on {}.", "4 May 1980"),
    "licence plate": ("Licence plate {}.", "B-AK 4711"),
    "person": ("Patient: {}", "Anna Keller"),
    "account": ("Account number {}.", "84213907"),
    "address": ("I live at {}.", "Invalidenstraße 117, 10115 Berlin"),
    "vehicle": ("VIN {}.", "1HGCM82633A004352"),
    "tax number": ("Steuer-ID {}", "86095742719"),
}


def schema(text: str) -> Body:
    """A schema with the text as description, word, default and name of a property."""
    member = {"type": "string", "description": text, "enum": [text, "b"], "default": text}
    return {"type": "object", "properties": {"a": member, text: {"type": "string"}}, "required": [text]}


def chat(text: str) -> Iterator[tuple[str, Body]]:
    def body(*messages: Body, **members: Any) -> Body:
        return {"model": "gpt-5", "messages": messages or ({"role": "user", "content": "Hi."},), **members}

    def call(arguments: str) -> list[Body]:
        function = {"name": "send", "arguments": arguments}
        return [{"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}]

    first = {"role": "user", "content": "Hi."}
    function = {"name": "send", "description": "Sends.", "parameters": {"type": "object", "properties": {}}}
    yield "system", body({"role": "system", "content": text}, first)
    yield "user", body({"role": "user", "content": text})
    yield "second part", body({"role": "user", "content": [{"type": "text", "text": each} for each in ("Hi.", text)]})
    yield "assistant", body(first, {"role": "assistant", "content": text})
    yield "refusal", body(first, {"role": "assistant", "refusal": text})
    yield "reasoning", body(first, {"role": "assistant", "content": "", "reasoning_content": text})
    yield "argument", body(first, *call(json.dumps({"to": {"deep": [text]}})))
    yield "argument that is no JSON", body(first, *call(f"to: {text}"))
    yield "argument in a document", body(first, *call(json.dumps({"to": json.dumps({"deep": text})})))
    yield "key of an argument", body(first, *call(json.dumps({text: 1})))
    yield (
        "legacy call",
        body(first, {"role": "assistant", "function_call": {"name": "a", "arguments": json.dumps([text])}}),
    )
    yield "tool result", body(first, {"role": "tool", "tool_call_id": "c", "content": text})
    yield "JSON of a tool", body(first, {"role": "tool", "tool_call_id": "c", "content": json.dumps({"rows": [text]})})
    yield "tool description", body(tools=[{"type": "function", "function": {**function, "description": text}}])
    yield "tool schema", body(tools=[{"type": "function", "function": {**function, "parameters": schema(text)}}])
    yield (
        "answer schema",
        body(response_format={"type": "json_schema", "json_schema": {"name": "a", "schema": schema(text)}}),
    )
    yield "prediction", body(prediction={"type": "content", "content": text})
    yield "metadata", body(metadata={"note": text})
    yield "key of metadata", body(metadata={text: "a"})
    yield "end user", body(user=text)
    yield "stop", body(stop=["x", text])
    yield "unknown member", body(extra={"deep": [{"a": text}]})
    yield "unknown key", body(extra={text: 1})
    yield "unknown part", body({"role": "user", "content": [{"type": "text", "text": "Hi.", "note": text}]})


def completions(text: str) -> Iterator[tuple[str, Body]]:
    for name, members in (
        ("prompt", {"prompt": text}),
        ("second prompt", {"prompt": ["a", text]}),
        ("suffix", {"prompt": "a", "suffix": text}),
        ("stop", {"prompt": "a", "stop": text}),
        ("end user", {"prompt": "a", "user": text}),
        ("metadata", {"prompt": "a", "metadata": {"a": text}}),
        ("key of metadata", {"prompt": "a", "metadata": {text: "a"}}),
        ("unknown member", {"prompt": "a", "extra": {"deep": [text]}}),
        ("unknown key", {"prompt": "a", text: 1}),
    ):
        yield name, {"model": "davinci", **members}


def inputs(text: str) -> Iterator[tuple[str, Body]]:
    """Requests of embeddings and moderations."""
    for name, members in (
        ("input", {"input": text}),
        ("second input", {"input": ["a", text]}),
        ("part", {"input": [{"type": "text", "text": text}]}),
        ("end user", {"input": "a", "user": text}),
        ("unknown member", {"input": "a", "extra": {"deep": [text]}}),
        ("unknown key", {"input": "a", text: 1}),
    ):
        yield name, {"model": "small", **members}


def responses(text: str) -> Iterator[tuple[str, Body]]:
    def body(*items: Body, **members: Any) -> Body:
        return {"model": "gpt-5", "input": [{"role": "user", "content": "Hi."}, *items], **members}

    function = {"type": "function", "name": "send", "description": "Sends.", "parameters": schema("a")}
    call = {"type": "function_call", "call_id": "c", "name": "send"}
    yield "input", {"model": "gpt-5", "input": text}
    yield "instructions", body(instructions=text)
    yield "user", body({"role": "user", "content": [{"type": "input_text", "text": text}]})
    yield (
        "assistant",
        body({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
    )
    yield "reasoning", body({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": text}]})
    yield (
        "reasoning that is not encrypted",
        body({"type": "reasoning", "id": "r", "summary": [], "encrypted_content": text}),
    )
    yield "argument", body({**call, "arguments": json.dumps({"to": [text]})})
    yield "argument that is no JSON", body({**call, "arguments": text})
    yield "key of an argument", body({**call, "arguments": json.dumps({text: 1})})
    yield "custom call", body({"type": "custom_tool_call", "call_id": "c", "name": "a", "input": text})
    yield "tool result", body({"type": "function_call_output", "call_id": "c", "output": text})
    yield "JSON of a tool", body({"type": "function_call_output", "call_id": "c", "output": json.dumps([{"a": text}])})
    yield (
        "shell call",
        body({"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["a", text]}}),
    )
    yield "tool description", body(tools=[{**function, "description": text}])
    yield "tool schema", body(tools=[{**function, "parameters": schema(text)}])
    yield "answer schema", body(text={"format": {"type": "json_schema", "name": "a", "schema": schema(text)}})
    yield "prompt variable", body(prompt={"id": "pmpt_1", "variables": {"who": text}})
    yield "metadata", body(metadata={"note": text})
    yield "client metadata", body(client_metadata={"note": text})
    yield "end user", body(user=text)
    yield "unknown item", body({"type": "new_item", "what": [text]})
    yield "unknown member", body(extra={"deep": [text]})
    yield "unknown key", body(extra={text: 1})


def anthropic(text: str) -> Iterator[tuple[str, Body]]:
    def body(*messages: Body, **members: Any) -> Body:
        return {
            "model": "claude",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": "Hi."}, *messages],
            **members,
        }

    def assistant(block: Body) -> Body:
        return body({"role": "assistant", "content": [block]})

    def result(content: Any) -> Body:
        return body({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": content}]})

    use = {"type": "tool_use", "id": "t", "name": "send"}
    tool = {"name": "send", "description": "Sends.", "input_schema": schema("a")}
    yield "system", body(system=text)
    yield "second system block", body(system=[{"type": "text", "text": each} for each in ("a", text)])
    yield "user", body({"role": "user", "content": text})
    yield (
        "cached part",
        body({"role": "user", "content": [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]}),
    )
    yield "assistant", assistant({"type": "text", "text": text})
    yield "thinking", assistant({"type": "thinking", "thinking": text, "signature": "EqQBCkYIAxgCIkA9f8sKq2bZ0"})
    yield "signature that is none", assistant({"type": "thinking", "thinking": "a", "signature": text})
    yield "argument", assistant({**use, "input": {"to": {"deep": [text]}}})
    yield "key of an argument", assistant({**use, "input": {text: 1}})
    yield "tool result", result(text)
    yield "part of a tool result", result([{"type": "text", "text": text}])
    yield "JSON of a tool", result(json.dumps({"rows": [text]}))
    yield (
        "document",
        body(
            {
                "role": "user",
                "content": [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}}],
            }
        ),
    )
    yield (
        "title of a document",
        body(
            {"role": "user", "content": [{"type": "document", "title": text, "source": {"type": "text", "data": "a"}}]}
        ),
    )
    yield (
        "search result",
        body({"role": "user", "content": [{"type": "search_result", "source": text, "title": text, "content": []}]}),
    )
    yield "tool description", body(tools=[{**tool, "description": text}])
    yield "tool schema", body(tools=[{**tool, "input_schema": schema(text)}])
    yield "metadata", body(metadata={"user_id": text})
    yield "stop", body(stop_sequences=[text])
    yield "unknown member", body(extra={"deep": [text]})
    yield "unknown key", body(extra={text: 1})


def gemini(text: str) -> Iterator[tuple[str, Body]]:
    def body(*contents: Body, **members: Any) -> Body:
        return {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}, *contents], **members}

    def model(part: Body) -> Body:
        return body({"role": "model", "parts": [part]})

    def declared(**members: Any) -> Body:
        return body(tools=[{"functionDeclarations": [{"name": "send", "description": "Sends.", **members}]}])

    yield "system", body(systemInstruction={"parts": [{"text": text}]})
    yield "system in snake case", body(system_instruction={"parts": {"text": text}})
    yield "user", body({"role": "user", "parts": [{"text": text}]})
    yield "second part", body({"role": "user", "parts": [{"text": "Hi."}, {"text": text}]})
    yield "assistant", model({"text": text})
    yield "thought", model({"text": text, "thought": True})
    yield "signature that is none", model({"text": "a", "thoughtSignature": text})
    yield "argument", model({"functionCall": {"name": "send", "args": {"to": {"deep": [text]}}}})
    yield "key of an argument", model({"functionCall": {"name": "send", "args": {text: 1}}})
    yield "tool result", body({"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"a": text}}}]})
    yield (
        "JSON of a tool",
        body({"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"a": json.dumps([text])}}}]}),
    )
    yield "code", model({"executableCode": {"language": "PYTHON", "code": text}})
    yield "result of code", model({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": text}})
    yield "tool description", declared(description=text)
    yield "tool schema", declared(parameters=schema(text))
    yield "answer schema", body(generationConfig={"responseSchema": schema(text)})
    yield "labels", body(labels={"team": text})
    yield "stop", body(generationConfig={"stopSequences": [text]})
    yield "unknown member", body(extra={"deep": [text]})
    yield "unknown key", body(extra={text: 1})
    yield "unknown part", model({"newKind": {"what": text}})


def other(text: str) -> Iterator[tuple[str, Body]]:
    yield "member", {"a": text}
    yield "deep", {"a": {"b": [[{"c": text}]]}}
    yield "key", {"a": {text: 1}}
    yield "document", {"a": json.dumps({"b": [text]})}


GEMINI_PATH = "/v1beta/models/gemini-pro:generateContent"
WIRES = {
    "chat": (CHAT, chat, "/v1/chat/completions"),
    "completions": (COMPLETIONS, completions, "/v1/completions"),
    "embeddings": (EMBEDDINGS, inputs, "/v1/embeddings"),
    "moderations": (MODERATIONS, inputs, "/v1/moderations"),
    "responses": (RESPONSES, responses, "/v1/responses"),
    "anthropic": (ANTHROPIC, anthropic, "/v1/messages"),
    "gemini": (GEMINI, gemini, GEMINI_PATH),
    "other JSON": (OTHER_JSON, other, "/v1/traces"),
}


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("matrix"), detection="patterns")
    async with await Container.start(settings) as running:
        await running.policies.create({"id": "files", "title": "Files", "extends": "default", "attachments": "pass"})
        yield running


def spellings(value: str) -> Iterator[bytes]:
    """How a value could be written in what crosses."""
    half = len(value) // 2
    for line in [*value.split("\n")[:2], *([value[:half], value[half:]] if half >= 7 else [])]:
        for text in (line, line.replace(" ", "")):
            plain = json.dumps(text)[1:-1]
            for spelled in (
                text,
                plain,
                json.dumps(plain)[1:-1],
                quote(text),
                json.dumps(text, ensure_ascii=False)[1:-1],
            ):
                yield spelled.encode()
        yield base64.b64encode(line.encode()).rstrip(b"=")[:-1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WIRES)
async def test_no_value_crosses(container: Container, name: str, kind: str) -> None:
    wire: Wire
    wire, positions, path = WIRES[name]
    said, value = KINDS[kind]
    leaked = []
    refused = 0
    for position, body in positions(said.format(value)):
        try:
            crossed = await crossing(container, wire, json.loads(json.dumps(body)), path)
        except GatewayError as error:
            refused += 1
            if value in error.message or value in (error.param or ""):
                leaked.append(f"{position}, in the error")
            continue
        if any(spelled in crossed for spelled in spellings(value)):
            leaked.append(position)
    assert leaked == []
    assert refused <= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", WIRES)
async def test_text_in_a_data_url_does_not_cross(container: Container, name: str) -> None:
    """Where a policy lets files pass, what is no file in base64 is text."""
    wire: Wire
    wire, positions, path = WIRES[name]
    value = "anna.keller@acme.test"
    for said in (
        f"data:,{value}",
        f"data:text/plain;charset=utf-8,{quote(value)}",
        f"data:text/plain;{value};base64,QUJD",
    ):
        for position, body in positions(said):
            policy = {} if wire is OTHER_JSON else {"svc_policy": "files"}
            try:
                crossed = await crossing(container, wire, {**json.loads(json.dumps(body)), **policy}, path)
            except GatewayError:
                continue
            assert not any(spelled in crossed for spelled in spellings(value)), position
