"""The Responses wire: requests as SDKs and agents send them, and answers that arrive as a whole."""

import copy
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.config.settings import load_settings
from gateway.container import Container
from gateway.errors import BadRequest
from gateway.models import Action
from gateway.text.fields import Span
from gateway.wires import Body, Wires
from gateway.wires.responses import WIRE
from tests.gateway.wires.leaks import crossing, leaks
from tests.gateway.wires.replays import protect, texts

SECRET = "gAAAAABo" + "MzE2aGk3" * 6


def request(*items: Body, **fields: Any) -> Body:
    return {"model": "gpt-5", "input": list(items) or "hello", **fields}


def user(content: Any = "hello", **fields: Any) -> Body:
    return {"role": "user", "content": content, **fields}


def said(*parts: Body, **fields: Any) -> Body:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": list(parts), **fields}


def call(kind: str, **fields: Any) -> Body:
    return {"type": kind, "id": "it_1", "call_id": "call_1", **fields}


def function(**fields: Any) -> Body:
    return {"type": "function", "name": "find", **fields}


PLACES: dict[str, Body] = {
    "input": request(input="a canary"),
    "instructions": request(instructions="a canary"),
    **{
        f"message of {role}": request({"role": role, "content": "a canary"}) for role in ("system", "developer", "user")
    },
    "input_text": request(user([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "canary"}])),
    "output_text": request(said({"type": "output_text", "text": "a canary", "annotations": [], "logprobs": []})),
    "annotation": request(said({"type": "output_text", "text": "a", "annotations": [{"title": "canary"}]})),
    "refusal": request(said({"type": "refusal", "refusal": "a canary"})),
    "unknown role": request({"role": "canary", "content": "a"}),
    "filename": request(user([{"type": "input_file", "filename": "canary", "file_id": "file-1"}])),
    "arguments": request(call("function_call", name="f", arguments='{"a": "canary"}')),
    "key in arguments": request(call("function_call", name="f", arguments='{"canary": 1}')),
    "arguments that are an object": request(call("tool_search_call", arguments={"text": "canary"})),
    "key of such": request(call("tool_search_call", arguments={"canary": 1})),
    "name of a call": request(call("function_call", name="canary", arguments="{}")),
    "output": request(call("function_call_output", output="a canary")),
    "JSON output": request(call("function_call_output", output='{"a": ["canary"]}')),
    "parts as output": request(call("function_call_output", output=[{"type": "input_text", "text": "canary"}])),
    "custom input": request(call("custom_tool_call", name="apply_patch", input="*** Begin Patch\n+canary")),
    "custom output": request(call("custom_tool_call_output", output="canary")),
    "summary": request({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "canary"}]}),
    "reasoning": request({"type": "reasoning", "content": [{"type": "reasoning_text", "text": "canary"}]}),
    "encrypted content that is none": request({"type": "reasoning", "summary": [], "encrypted_content": "a canary"}),
    "command": request(call("local_shell_call", action={"type": "exec", "command": ["cat", "canary"], "env": {}})),
    "variable": request(call("local_shell_call", action={"type": "exec", "command": [], "env": {"WHO": "canary"}})),
    "name of a variable": request(call("local_shell_call", action={"command": [], "env": {"canary": "x"}})),
    "working folder": request(call("local_shell_call", action={"command": [], "working_directory": "/canary"})),
    "shell output": request(call("local_shell_call_output", output="canary")),
    "commands": request(call("shell_call", action={"commands": ["cat canary"]})),
    "stdout": request(
        call("shell_call_output", output=[{"stdout": "canary", "stderr": "", "outcome": {"type": "exit"}}])
    ),
    "patch": request(call("apply_patch_call", operation={"type": "update_file", "path": "a", "diff": "+canary"})),
    "code": request(call("code_interpreter_call", code="print('canary')", outputs=[])),
    "logs": request(call("code_interpreter_call", code="", outputs=[{"type": "logs", "logs": "canary"}])),
    "query": request(call("web_search_call", action={"type": "search", "query": "canary"})),
    "typed text": request(call("computer_call", action={"type": "type", "text": "canary"})),
    "mcp arguments": request(call("mcp_call", name="f", server_label="crm", arguments='{"a":"canary"}')),
    "mcp output": request(call("mcp_call", name="f", server_label="crm", arguments="{}", output="canary")),
    "mcp tools": request(
        {"type": "mcp_list_tools", "tools": [{"name": "f", "input_schema": {"description": "canary"}}]}
    ),
    "reason": request({"type": "mcp_approval_response", "approve": False, "reason": "canary"}),
    "file search": request(call("file_search_call", queries=["q"], results=[{"text": "canary"}])),
    "item_reference": request({"type": "item_reference", "id": "canary"}),
    "unknown item": request({"type": "hologram", "deep": [{"er": ["canary"]}]}),
    "unknown field of an item": request(user(note="canary")),
    "key of an item": request(user(**{"canary": 1})),
    "description of a tool": request(tools=[function(description="canary")]),
    "property of a schema": request(tools=[function(parameters={"properties": {"canary": {"type": "string"}}})]),
    "enum of a schema": request(tools=[function(parameters={"enum": ["canary"]})]),
    "grammar": request(tools=[{"type": "custom", "name": "p", "format": {"type": "grammar", "definition": "canary"}}]),
    "tool in a namespace": request(
        tools=[{"type": "namespace", "name": "n", "tools": [function(description="canary")]}]
    ),
    "header of a server": request(tools=[{"type": "mcp", "server_label": "crm", "headers": {"X-Key": "canary"}}]),
    "allowed domain": request(tools=[{"type": "web_search", "filters": {"allowed_domains": ["canary"]}}]),
    "city": request(tools=[{"type": "web_search", "user_location": {"type": "approximate", "city": "canary"}}]),
    "schema of the answer": request(text={"format": {"type": "json_schema", "schema": {"description": "canary"}}}),
    "tool_choice": request(tool_choice={"type": "function", "name": "canary"}),
    "variable of a prompt": request(prompt={"id": "pmpt_1", "variables": {"who": "canary"}}),
    "metadata": request(metadata={"who": "canary"}),
    "key of metadata": request(metadata={"canary": "a"}),
    "document in client_metadata": request(client_metadata={"turn": '{"workspaces": {"/canary": {}}}'}),
    "user": request(user="canary"),
    "safety_identifier": request(safety_identifier="canary"),
    "prompt_cache_key": request(prompt_cache_key="canary"),
    "previous_response_id": request(previous_response_id="canary"),
    "conversation": request(conversation={"id": "canary"}),
    "include": request(include=["canary"]),
    "service_tier": request(service_tier="canary"),
    "effort": request(reasoning={"effort": "canary"}),
    "unknown field": request(whatever=[{"x": ["canary"]}]),
    "unknown key": request(**{"canary": 1}),
}


@pytest.mark.parametrize("place", PLACES)
def test_text_is_found_and_replaced_wherever_it_stands(place: str) -> None:
    body = copy.deepcopy(PLACES[place])
    before = json.dumps(body)
    assert json.dumps(protect(WIRE, body)) == before.replace("canary", "X")


# As openai-agents and codex send it after a turn, from `model_dump()` of the SDK.
HISTORY: list[Body] = [
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Who am I?"}]},
    {
        "id": "rs_0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "summary": [{"text": "Look it up.", "type": "summary_text"}],
        "type": "reasoning",
        "content": None,
        "encrypted_content": SECRET,
        "status": None,
    },
    {
        "arguments": '{"q": "me"}',
        "call_id": "call_0a1b2c3d4e5f60718293",
        "name": "find",
        "type": "function_call",
        "id": "fc_0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "status": "completed",
    },
    {"call_id": "call_0a1b2c3d4e5f60718293", "output": "You are you.", "type": "function_call_output"},
    {
        "id": "msg_0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "content": [{"annotations": [], "text": "You.", "type": "output_text", "logprobs": []}],
        "role": "assistant",
        "status": "completed",
        "type": "message",
        "phase": "final_answer",
    },
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Thanks."}]},
]
CODEX: Body = {
    "model": "gpt-5-codex",
    "input": HISTORY,
    "tools": [
        function(
            description="Finds.", strict=False, parameters={"type": "object", "properties": {"q": {"type": "string"}}}
        ),
        {
            "type": "custom",
            "name": "apply_patch",
            "description": "Edits files.",
            "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "a"'},
        },
        {"type": "namespace", "name": "git", "description": "Git.", "tools": [function(description="Commits.")]},
        {"type": "web_search", "external_web_access": False},
        {"type": "mcp", "server_label": "crm", "server_url": "https://crm.example/mcp", "require_approval": "never"},
    ],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "reasoning": {"effort": "medium", "summary": "auto"},
    "store": False,
    "stream": True,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "0199a213-81c0-7800-8aa1-bbab2a035a53",
    "text": {
        "verbosity": "low",
        "format": {"type": "json_schema", "name": "a", "strict": True, "schema": {"type": "object"}},
    },
    "client_metadata": {"turn": '{"workspaces":{"/srv/shop":{"remote":"git@git.example:shop.git"}}}'},
    "metadata": {"team": "shop"},
    "user": "u-1",
}


def test_structure_is_not_text() -> None:
    body = copy.deepcopy(CODEX)
    found = texts(WIRE, body)
    assert body == CODEX
    structure = {"auto", "medium", "completed", "reasoning.encrypted_content", "assistant", "message", "grammar"}
    assert not (structure | {SECRET, "final_answer", "function"}) & set(found)
    assert {"Be brief.", "Look it up.", "q: me", "You are you.", "Commits.", "/srv/shop"} <= set(found)


def test_pieces_of_an_earlier_answer_do_not_cross() -> None:
    """With `logprobs`, an answer has its text once more in tokens and in numbers of bytes."""
    part = {"type": "output_text", "text": "Hi", "logprobs": [{"token": "Hi", "bytes": [72, 105], "logprob": -1}]}
    body = request(said(part))
    WIRE.read(body)
    assert body["input"][0]["content"] == [{"type": "output_text", "text": "Hi", "logprobs": []}]


class TestBlocks:
    """A block ends where a turn of the model begins, so that the next turn repeats what crossed before."""

    def blocks(self, body: Body) -> list[list[str]]:
        return [[text for slot in block for text in slot.texts] for block in WIRE.read(body).blocks]

    def test_the_order_is_the_models(self) -> None:
        found = self.blocks(request(*copy.deepcopy(HISTORY), instructions="I", metadata={"who": "M"}))
        assert [block[0] for block in found] == ["I", HISTORY[2]["id"], HISTORY[5]["id"], "who: M"]
        assert "Who am I?" in found[0]
        assert "You are you." in found[1]
        assert "Thanks." in found[2]

    @pytest.mark.parametrize("count", range(1, 7))
    def test_an_earlier_turn_has_the_same_first_blocks(self, count: int) -> None:
        whole = self.blocks(request(*copy.deepcopy(HISTORY)))
        if count not in {3, 4}:
            earlier = self.blocks(request(*copy.deepcopy(HISTORY[:count])))
            flat = [text for block in earlier[:-1] for text in block]
            assert [text for block in whole for text in block][: len(flat)] == flat
            assert earlier[:-2] == whole[: len(earlier) - 2]

    def test_the_seed_is_the_first_message_of_the_user(self) -> None:
        assert WIRE.read(request(*copy.deepcopy(HISTORY))).seed == "Who am I?"
        assert WIRE.read(request(input="hello")).seed == "hello"
        read = WIRE.read(request(call("function_call_output", output="x"), instructions="I"))
        assert read.seed == read.opening != ""

    def test_what_a_request_continues(self) -> None:
        assert WIRE.read(request(previous_response_id="resp_1")).continues == "resp_1"
        assert WIRE.read(request(conversation="conv_1")).continues == "conv_1"
        assert WIRE.read(request(conversation={"id": "conv_1"})).continues == "conv_1"
        assert WIRE.read(request()).continues == ""
        assert (WIRE.read(request()).resumable, WIRE.read(request(store=False)).resumable) == (True, False)


@pytest.mark.parametrize(
    ("item", "kinds"),
    [
        (user([{"type": "input_image", "image_url": "data:image/png;base64,AA"}]), ("data", "input_image")),
        (user([{"type": "input_image", "file_id": "file-1"}]), ("input_image",)),
        (user([{"type": "input_file", "file_url": "https://a.example/x.pdf"}]), ("input_file",)),
        (user([{"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}]), ("input_audio",)),
        (user([{"type": 7}]), ("unknown",)),
        (call("function_call_output", output=[{"type": "input_image", "file_id": "file-1"}]), ("input_image",)),
        (
            call("computer_call_output", output={"type": "computer_screenshot", "file_id": "a"}),
            ("computer_screenshot",),
        ),
        (call("image_generation_call", result="QUJD", status="completed"), ("image_generation_call",)),
        (call("shell_call_output", output=[{"stdout": "a", "stderr": ""}]), ()),
        (said({"type": "output_text", "text": "a"}), ()),
    ],
)
def test_attachments_are_named(item: Body, kinds: tuple[str, ...]) -> None:
    assert WIRE.read(request(item)).attachments == kinds


REFUSED: dict[str, tuple[Body, str | None]] = {
    "no model": ({"input": "a"}, "model"),
    "input that is a number": (request(input=4711), "input"),
    "input that is an object": (request(input={"canary": 1}), "input"),
    "item that is text": (request(input=["canary"]), "input[0]"),
    "part that is a number": (request(user([4711])), "input[0]"),
    "stream that is text": (request(stream="canary"), "stream"),
    "token of an MCP server": (request(tools=[{"type": "mcp", "authorization": "canary"}]), "tools"),
    "unknown field of ours": (request(svc_polcy="canary"), None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_protocol_does_not_allow_is_refused(name: str) -> None:
    body, param = REFUSED[name]
    with pytest.raises(Exception, match=r"must|Unknown") as refusal:
        WIRE.read(copy.deepcopy(body))
    assert refusal.value.param == param  # type: ignore[attr-defined]
    assert "canary" not in str(refusal.value)
    assert "4711" not in str(refusal.value)


@pytest.mark.parametrize("name", ["temperature", "max_output_tokens", "top_logprobs"])
def test_a_number_of_the_protocol_stays_a_number_or_is_refused(name: str) -> None:
    body = request(**{name: 4111111111111111})
    (slot,) = WIRE.read(body).blocks[-1]
    with pytest.raises(BadRequest):
        slot.apply([[Span(0, 16, "CREDIT_CARD", Action.PLACEHOLDER, 1.0, "test")]], lambda *_: "[X]")


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("responses"), detection="patterns")
    async with await Container.start(settings) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/v1/responses", "/v1/responses/input_tokens"])
async def test_no_string_of_an_agents_request_lets_a_value_cross(container: Container, path: str) -> None:
    assert await leaks(container, WIRE, CODEX, path) == []


@pytest.mark.slow
@pytest.mark.parametrize("place", ["message of user", "stdout", "tool in a namespace", "variable of a prompt", "patch"])
async def test_no_string_of_other_requests_does(container: Container, place: str) -> None:
    assert await leaks(container, WIRE, PLACES[place]) == []


def test_what_codex_reports_on_its_folder_does_not_cross() -> None:
    body = request(client_metadata={"x-codex-turn-metadata": '{"workspaces": {"/srv/shop": {}}}', "session_id": "a"})
    WIRE.read(body)
    assert body["client_metadata"] == {"session_id": "a"}


async def test_ids_and_encrypted_content_cross_as_they_are(container: Container) -> None:
    crossed = json.loads(
        await crossing(container, WIRE, copy.deepcopy({**CODEX, "previous_response_id": "resp_" + "0a1b" * 12}))
    )
    assert crossed["input"] == HISTORY
    assert crossed["previous_response_id"] == "resp_" + "0a1b" * 12
    assert crossed["tools"] == CODEX["tools"]


@pytest.mark.parametrize(
    ("method", "path", "below"),
    [
        ("POST", "/v1/responses", "responses"),
        ("POST", "/responses", "responses"),
        ("POST", "/openai/responses", "responses"),
        ("POST", "/openai/v1/responses", "responses"),
        ("POST", "/openai/deployments/gpt-5/responses", "responses"),
        ("POST", "/v1/responses/compact", "responses/compact"),
        ("POST", "/v1/responses/input_tokens", "responses/input_tokens"),
        ("GET", "/v1/responses/resp_1", "responses/resp_1"),
        ("GET", "/v1/responses", None),
        ("DELETE", "/v1/responses/resp_1", None),
        ("POST", "/v1/responses/resp_1", None),
        ("POST", "/v1/anna schmidt/responses", None),
        ("POST", "/v1/responses\n", None),
    ],
)
def test_the_calls_it_serves(method: str, path: str, below: str | None) -> None:
    wire = Wires.discover().serving(method, path)
    assert (wire is WIRE) is (below is not None)
    if below is not None:
        assert WIRE.method_path(path, "gpt-5") == below
