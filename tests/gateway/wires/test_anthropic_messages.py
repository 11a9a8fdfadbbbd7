"""The Anthropic wire: every place where text can stand is a field, structure is not, and the rest is refused."""

import copy
import json
from typing import Any

import pytest

from gateway.errors import BadRequest, Unprocessable
from gateway.models import Action, PrivacyMode
from gateway.placeholders import Placeholders
from gateway.policy import Policy
from gateway.protection.protector import Protector
from gateway.text.fields import Span
from gateway.wires.anthropic_messages import WIRE

type Body = dict[str, Any]

MARK = "canary"
# What the provider alone can read: letters of both cases and digits.
SIGNED = "Made1Up2" * 8 + "=="


def request(*messages: Body, **fields: Any) -> Body:
    return {"model": "claude-x", "max_tokens": 1024, "messages": list(messages) or [user()], **fields}


def user(content: Any = "hello", **fields: Any) -> Body:
    return {"role": "user", "content": content, **fields}


def said(*blocks: Body, role: str = "user") -> Body:
    return {"role": role, "content": list(blocks)}


def asked(*blocks: Body) -> Body:
    return request(user(), said(*blocks, role="assistant"))


def text(value: str, **fields: Any) -> Body:
    return {"type": "text", "text": value, **fields}


def call(**fields: Any) -> Body:
    return {"type": "tool_use", "id": "toolu_1", "name": "f", **fields}


def result(content: Any, **fields: Any) -> Body:
    return request(said({"type": "tool_result", "tool_use_id": "toolu_1", "content": content, **fields}))


def tool(**fields: Any) -> Body:
    return request(tools=[{"name": "f", "input_schema": {"type": "object"}, **fields}])


def texts(body: Body) -> list[str]:
    return [text for block in WIRE.read(body).blocks for field in block for text in field.texts]


def blocks(body: Body) -> list[list[str]]:
    return [[text for field in block for text in field.texts] for block in WIRE.read(body).blocks]


def protect(body: Body, recognizer: str = "test") -> Body:
    """Replaces the mark wherever the wire finds it, as protection would."""

    def replace(span: Span, value: str, raw: str | None = None) -> str:
        return "X"

    for block in WIRE.read(body).blocks:
        for field in block:
            found = []
            for each in field.texts:
                at = each.find(MARK)
                span = Span(at, at + len(MARK), "CODE", Action.PLACEHOLDER, 1.0, recognizer)
                found.append([span] if at >= 0 else [])
            if any(found):
                field.apply(found, replace)
    return body


CITED = {"type": "char_location", "cited_text": "canary", "document_index": 0}
FOUND = {"type": "web_search_result", "url": "https://a.example/", "encrypted_content": SIGNED}
# Every place that the API reference names, and some that it does not.
PLACES: dict[str, Body] = {
    "system": request(system="a canary"),
    "block of the system": request(system=[text("a"), text("a canary", cache_control={"type": "ephemeral"})]),
    "billing header": request(system=[text("x-anthropic-billing-header: cch=canary;"), text("a")]),
    "content of a user": request(user("a canary")),
    "content of an assistant": request(user(), {"role": "assistant", "content": "a canary"}),
    "content of a system message": request(user(), {"role": "system", "content": "a canary"}),
    "text block": request(said(text("a"), text("a canary"))),
    "unknown field of a block": request(said(text("a", note="canary"))),
    "unknown key of a block": request(said(text("a", canary=1))),
    "unknown field of a message": request(user(note={"deep": [{"er": "canary"}]})),
    "key of a message": request(user(canary=1)),
    "unknown block": request(said({"type": "hologram", "view": "canary"})),
    "citation": asked(text("a", citations=[CITED])),
    "title of a document": request(said({"type": "document", "title": "canary", "source": {"type": "file"}})),
    "context of a document": request(said({"type": "document", "context": "canary", "source": {"type": "file"}})),
    "text of a document": request(said({"type": "document", "source": {"type": "text", "data": "a canary"}})),
    "content of a document": request(said({"type": "document", "source": {"type": "content", "content": "canary"}})),
    "blocks of a document": request(
        said({"type": "document", "source": {"type": "content", "content": [text("canary")]}})
    ),
    "URL of an image": request(said({"type": "image", "source": {"type": "url", "url": "https://canary.example"}})),
    "image that is no base64": request(said({"type": "image", "source": {"type": "base64", "data": "a canary!"}})),
    "image whose base64 has blanks": request(said({"type": "image", "source": {"type": "base64", "data": "a canary"}})),
    "search result": request(said({"type": "search_result", "source": "s", "title": "canary", "content": [text("a")]})),
    "input of a tool": asked(call(input={"to": "canary"})),
    "type in an input": asked(call(input={"type": "canary"})),
    "key in an input": asked(call(input={"canary": 1})),
    "nested input": asked(call(input={"a": [{"name": ["canary"]}]})),
    "input that is text": asked(call(input="canary")),
    "input of a server's tool": asked({"type": "server_tool_use", "id": "s1", "input": {"query": "canary"}}),
    "input of an MCP tool": asked({"type": "mcp_tool_use", "id": "s1", "server_name": "m", "input": {"q": "canary"}}),
    "name of a call": asked(call(name="canary", input={})),
    "id of a call": asked(call(id="canary", input={})),
    "result": result("a canary"),
    "JSON of a result": result('{"a": ["canary"]}'),
    "blocks of a result": result([text("a canary")]),
    "JSON in a block of a result": result([text('{"a": "canary"}')]),
    "id of a result": result("a", tool_use_id="canary"),
    "result of an MCP tool": request(said({"type": "mcp_tool_result", "content": [text("canary")]})),
    "found on the web": asked({"type": "web_search_tool_result", "content": [{**FOUND, "title": "canary"}]}),
    "output of code": asked({"type": "code_execution_tool_result", "content": {"type": "x", "stdout": "canary"}}),
    "thinking without a signature": asked({"type": "thinking", "thinking": "canary"}),
    "thinking with an empty signature": asked({"type": "thinking", "thinking": "canary", "signature": ""}),
    "signature that is text": asked({"type": "thinking", "thinking": "", "signature": "a canary of Anna Schmidt"}),
    "redacted thinking that is text": asked({"type": "redacted_thinking", "data": "canary"}),
    "name of a tool": tool(name="canary"),
    "description of a tool": tool(description="canary"),
    "property of a schema": tool(input_schema={"properties": {"canary": {"type": "string"}}}),
    "description in a schema": tool(input_schema={"properties": {"input": {"description": "canary"}}}),
    "enum of a schema": tool(input_schema={"enum": ["canary"]}),
    "example of a tool": tool(input_examples=[{"type": "canary"}]),
    "type that is no word": tool(type="Canary canary"),
    "domain of a search": request(tools=[{"type": "web_search_20250305", "allowed_domains": ["canary.example"]}]),
    "place of a search": request(tools=[{"type": "web_search_20250305", "user_location": {"city": "canary"}}]),
    "tool_choice": request(tool_choice={"type": "tool", "name": "canary"}),
    "output_format": request(output_format={"type": "json_schema", "schema": {"description": "canary"}}),
    "output_config": request(output_config={"format": {"type": "json_schema", "schema": {"description": "canary"}}}),
    "effort": request(output_config={"effort": "canary"}),
    "stop_sequences": request(stop_sequences=["canary"]),
    "metadata": request(metadata={"who": "canary"}),
    "key of metadata": request(metadata={"canary": "a"}),
    "user_id": request(metadata={"user_id": "canary"}),
    "JSON in user_id": request(metadata={"user_id": '{"device_id": "canary"}'}),
    "context_management": request(
        context_management={"edits": [{"type": "compact_20260112", "instructions": "canary"}]}
    ),
    "display": request(thinking={"type": "enabled", "display": "canary"}),
    "diagnostics": request(diagnostics={"previous_message_id": "canary"}),
    "container": request(container="canary"),
    "skill": request(container={"id": "c", "skills": [{"type": "custom", "skill_id": "canary"}]}),
    "MCP server": request(mcp_servers=[{"type": "url", "name": "m", "url": "https://canary.example/"}]),
    "mark of the prompt cache": request(said(text("a", cache_control={"type": "ephemeral", "ttl": "canary"}))),
    "key in a mark": request(said(text("a", cache_control={"type": "ephemeral", "canary": 1}))),
    "mark of another kind": request(said(text("a", cache_control={"type": "x", "y": "canary"}))),
    "unknown field": request(whatever=[{"x": ["canary"]}]),
    "unknown key": request(canary=1),
}


@pytest.mark.parametrize("place", PLACES)
def test_text_is_found_and_replaced_wherever_it_stands(place: str) -> None:
    body = copy.deepcopy(PLACES[place])
    after = json.dumps(protect(copy.deepcopy(body)), sort_keys=True)
    assert after == json.dumps(json.loads(json.dumps(body).replace(MARK, "X")), sort_keys=True)


PRIVATE = ["4111 1111 1111 1111", "anna.schmidt@acme.test", "DE89 3704 0044 0532 0130 00"]


@pytest.mark.parametrize("value", PRIVATE)
def test_nothing_private_crosses_anywhere(protector: Protector, policy: Policy, value: str) -> None:
    for place, body in PLACES.items():
        private = json.loads(json.dumps(body).replace(MARK, value))
        protector.protect(WIRE.read(private).blocks, policy, PrivacyMode.STANDARD, Placeholders(b"k" * 32))
        assert value not in json.dumps(private), place


def test_structure_is_not_text() -> None:
    body = request(
        said(text("A", cache_control={"type": "ephemeral", "ttl": "1h", "scope": "global"})),
        said({"type": "redacted_thinking", "data": SIGNED}, role="assistant"),
        said({"type": "web_search_tool_result", "tool_use_id": "I", "content": [FOUND]}, role="assistant"),
        tools=[
            {"name": "B", "input_schema": {"type": "object", "required": ["C"]}, "defer_loading": True},
            {"type": "tool_search_tool_bm25_20251119", "name": "D"},
        ],
        thinking={"type": "enabled", "budget_tokens": 2048, "display": "summarized"},
        context_management={"edits": [{"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": 3}}]},
        output_config={"effort": "xhigh"},
        service_tier="auto",
        temperature=0.7,
        stream=True,
    )
    assert set(texts(body)) == {"A", "B", "C", "D", "I", "https://a.example/"}


@pytest.mark.parametrize("found", [True, False])
def test_a_file_in_base64_is_not_searched(found: bool) -> None:
    data = "QUJD" * 9 if not found else "QUJD Anna: 4111 1111 1111 1111"
    source = {"type": "base64", "media_type": "image/png", "data": data}
    assert (data in texts(request(said({"type": "image", "source": source})))) == found


class TestThinking:
    """A signature is valid for the text that the provider wrote, and for no other."""

    BLOCK: Body = {"type": "thinking", "thinking": "Ask [PERSON_7K2PQ] for [EMAIL_ADDRESS_AB12C].", "signature": SIGNED}  # noqa: RUF012

    def test_placeholders_in_it_are_the_providers_own_words(self) -> None:
        found = texts(asked(self.BLOCK))
        assert not any("PERSON" in each or "EMAIL" in each for each in found)
        assert any(each.startswith("Ask ") and len(each) == len(self.BLOCK["thinking"]) for each in found)

    @pytest.mark.parametrize("recognizer", ["names", "email"])
    def test_it_is_left_as_it_is_or_out(self, recognizer: str) -> None:
        block = {**self.BLOCK, "thinking": "Ask the canary."}
        body = protect(asked(block, call(input={"a": "canary"})), recognizer)
        kept = [block] if recognizer == "names" else []
        assert body["messages"][1]["content"] == [*kept, call(input={"a": "X"})]

    def test_a_message_is_never_left_empty(self) -> None:
        body = protect(asked({**self.BLOCK, "thinking": "canary"}))
        assert [each["type"] for each in body["messages"][1]["content"]] == ["text"]

    def test_other_members_of_its_block_are_searched(self) -> None:
        assert "note: canary" in texts(asked({**self.BLOCK, "note": "canary"}))

    @pytest.mark.parametrize(
        "signature", ["4111111111111111", "DE89370400440532013000", "anna@example.org1234A", "Short1"]
    )
    def test_what_is_no_signature_is_text(self, signature: str) -> None:
        assert signature in texts(asked({"type": "thinking", "thinking": "a", "signature": signature}))


@pytest.mark.parametrize(
    ("number", "alone", "named"), [(4111111111111111, True, True), (4711, False, True), (47, False, False)]
)
def test_numbers_that_could_be_somebodys_are_looked_at(number: int, alone: bool, named: bool) -> None:
    assert (f"id: {number}" in texts(asked(call(input={"id": number})))) is named
    assert (f"ids: {number}" in texts(asked(call(input={"ids": [number]})))) is alone
    assert (repr(number) in texts(request(user(title=number)))) is alone


@pytest.mark.parametrize("name", ["max_tokens", "temperature", "top_k"])
def test_a_number_of_the_protocol_stays_a_number_or_is_refused(name: str) -> None:
    body = request(**{name: 4111111111111111})
    (field,) = WIRE.read(body).blocks[-1]
    with pytest.raises(BadRequest) as refusal:
        field.apply([[Span(0, 16, "CREDIT_CARD", Action.PLACEHOLDER, 1.0, "test")]], lambda *_: "[X]")
    assert refusal.value.param == name


class TestBlocks:
    """A block ends where an assistant's turn begins, so that the next turn repeats what crossed before."""

    BODY = request(
        said(text("U1"), text("U2")),
        said({"type": "text", "text": "A1"}, call(id="i", input={"q": "Q"}), role="assistant"),
        said({"type": "tool_result", "tool_use_id": "i", "content": "R"}),
        {"role": "assistant", "content": "A2"},
        user("U3"),
        system=[text("x-anthropic-billing-header: cch=1;"), text("S")],
        tools=[{"name": "T", "description": "D"}],
        metadata={"who": "M"},
        output_config={"effort": "high", "format": {"type": "json_schema", "schema": {"title": "F"}}},
    )

    def test_the_order_is_the_models(self) -> None:
        assert blocks(copy.deepcopy(self.BODY)) == [
            ["T", "D", "S", "F", "U1", "U2"],
            ["A1", "i", "f", "q: Q", "q", "R", "i"],
            ["A2", "U3"],
            ["x-anthropic-billing-header: cch=1;", "who: M", "who"],
        ]

    def test_an_earlier_turn_has_the_same_first_blocks(self) -> None:
        earlier = copy.deepcopy(self.BODY)
        del earlier["messages"][3:]
        assert blocks(earlier)[:-1] == blocks(copy.deepcopy(self.BODY))[:2]

    def test_the_seed_is_the_first_text_of_a_user(self) -> None:
        assert WIRE.read(copy.deepcopy(self.BODY)).seed == "U1\nU2"
        results = request(said({"type": "tool_result", "content": "R"}), user("U"))
        assert WIRE.read(results).seed == "U"

    def test_marks_and_billing_change_no_block_and_no_key(self) -> None:
        mark = {"type": "ephemeral", "ttl": "1h", "note": "N"}
        plain = request(said({"type": "image", "source": {"type": "file", "file_id": "x"}}), system=[text("S")])
        marked = copy.deepcopy(plain)
        marked["system"] = [text("x-anthropic-billing-header: cch=2;"), text("S", cache_control=mark)]
        marked["messages"][0]["content"][0]["cache_control"] = mark
        one, other = WIRE.read(copy.deepcopy(plain)), WIRE.read(copy.deepcopy(marked))
        assert (one.seed, one.opening, one.before_seed) == (other.seed, other.opening, other.before_seed)
        assert blocks(plain)[:-1] == blocks(marked)[:-1]
        assert protect(copy.deepcopy(marked)) == marked

    def test_counting_tokens_has_the_same_blocks(self) -> None:
        body = {name: value for name, value in self.BODY.items() if name != "max_tokens"}
        counted = WIRE.read(copy.deepcopy(body), "/v1/messages/count_tokens")
        assert [[f.texts for f in block] for block in counted.blocks] == [
            [f.texts for f in block] for block in WIRE.read(copy.deepcopy(self.BODY)).blocks
        ]


def test_only_text_that_follows_text_goes_on() -> None:
    image = {"type": "image", "source": {"type": "url", "url": "u"}}
    body = request(said(text("A"), text("B"), image, text("C"), text("D", citations=[CITED]), text("E")))
    assert [f.texts[0] for block in WIRE.read(body).blocks for f in block if getattr(f, "goes_on", False)] == ["B"]


def test_the_gateways_own_fields_are_taken_out() -> None:
    body = request(svc_task="support", svc_policy="strict", svc_privacy_mode="strict", stream=True)
    read = WIRE.read(body)
    assert (read.task, read.policy_id, read.mode) == ("support", "strict", PrivacyMode.STRICT)
    assert (read.stream, read.framing) == (True, "sse")
    assert body == request(stream=True)


@pytest.mark.parametrize(
    ("block", "kinds"),
    [
        ({"type": "image", "source": {"type": "url", "url": "https://a.example/x.png"}}, ("image",)),
        ({"type": "image", "source": {"type": "base64", "data": "QUJD"}}, ("base64", "image")),
        ({"type": "document", "source": {"type": "file", "file_id": "file_1"}}, ("document",)),
        ({"type": "document", "source": {"type": "text", "data": "a"}}, ()),
        ({"type": "document", "source": {"type": "content", "content": [text("a")]}}, ()),
        ({"type": "tool_result", "content": [{"type": "image", "source": {"type": "file"}}]}, ("image",)),
        ({"type": "container_upload", "file_id": "file_1"}, ("container_upload",)),
        ({"type": "hologram"}, ("hologram",)),
        ({"type": 7}, ("unknown",)),
        ({}, ("unknown",)),
        (text(" DATA:text/plain;base64,AA"), ("data",)),
        (text("the data: a, b"), ()),
    ],
)
def test_attachments_are_named(block: Body, kinds: tuple[str, ...]) -> None:
    assert WIRE.read(request(said(block))).attachments == kinds


REFUSED: dict[str, tuple[Body, str | None]] = {
    "no model": ({"messages": [user()]}, "model"),
    "no messages": ({"model": "m"}, "messages"),
    "empty messages": ({"model": "m", "messages": []}, "messages"),
    "message that is text": ({"model": "m", "messages": ["canary"]}, "messages[0]"),
    "unknown role": (request(user(), {"role": "canary", "content": ""}), "messages[1].role"),
    "content that is a number": (request(user(4711)), "messages[0].content"),
    "block that is text": (request(user(["canary"])), "messages[0].content"),
    "block in a result": (result([4711]), "messages[0].content.content"),
    "system that is a number": (request(system=4711), "system"),
    "stream that is text": (request(stream="canary"), "stream"),
    "max_tokens that is text": (request(max_tokens="canary"), "max_tokens"),
    "secret for another server": (request(mcp_servers=[{"authorization_token": "canary"}]), "mcp_servers"),
    "policy that is a list": (request(svc_policy=["canary"]), "svc_policy"),
    "field of ours in capitals": (request(SVC_POLICY="canary"), None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_protocol_does_not_allow_is_refused(name: str) -> None:
    body, param = REFUSED[name]
    with pytest.raises((BadRequest, Unprocessable)) as refusal:
        WIRE.read(copy.deepcopy(body))
    assert refusal.value.param == param
    assert "canary" not in refusal.value.message
    assert "4711" not in refusal.value.message
