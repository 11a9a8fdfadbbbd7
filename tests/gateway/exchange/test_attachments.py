"""Attached files are replaced by their protected text, sent as they are, or refused, on every wire that has them."""

import base64
import json
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from typing import Any

import orjson
import pytest

from gateway.attachments.base import Converted, File, Reason, Refused
from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import EditRefused, TooManyRequests, Unavailable, UnsupportedMedia
from gateway.exchange import attachments
from gateway.exchange.attachments import check_decided, let_pass
from gateway.exchange.destination import Destination
from gateway.exchange.state import Exchange
from gateway.models import Caller, Scope, Trust
from gateway.placeholders import RestoreScope
from gateway.wires.base import Body, Wires
from tests.exchanges import protected_exchange
from tests.gateway.attachments.documents import LANGUAGES, MAKERS, portable

WIRES = Wires.discover()
CALLER = Caller("key_anna", Scope.CLIENT)
SAID = LANGUAGES["de"]
PRIVATE = SAID.private
PDF = base64.b64encode(portable(SAID)).decode()
URI = f"data:application/pdf;base64,{PDF}"


def _user(part: Any) -> Body:
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [part]}]}


OCTETS = "data:application/octet-stream;base64,"
ABC = f"{OCTETS}QUJD"
FILE = {"type": "input_file", "filename": "a.pdf", "file_data": URI}
CHAT = _user({"type": "file", "file": {"filename": "a.pdf", "file_data": URI}})
CALLS: dict[str, tuple[str, str, Body, Callable[[Any], str]]] = {
    "chat": ("chat-completions", "", CHAT, lambda body: body["messages"][0]["content"][0]["text"]),
    "mistral": (
        "chat-completions",
        "",
        _user({"type": "document_url", "document_url": URI, "document_name": "a.pdf"}),
        lambda body: body["messages"][0]["content"][0]["text"],
    ),
    "responses": (
        "responses",
        "",
        {"model": "m", "input": [{"role": "user", "content": [FILE]}]},
        lambda body: body["input"][0]["content"][0]["text"],
    ),
    "responses, result of a tool": (
        "responses",
        "",
        {"model": "m", "input": [{"type": "function_call_output", "call_id": "a", "output": [
            {"type": "input_file", "filename": "a.pdf", "file_data": URI}]}]},
        lambda body: body["input"][0]["output"][0]["text"],
    ),
    "anthropic": (
        "anthropic-messages",
        "",
        _user({"type": "document", "title": "a", "cache_control": {"type": "ephemeral"},
               "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}}),
        lambda body: body["messages"][0]["content"][0]["source"]["data"],
    ),
    "anthropic, result of a tool": (
        "anthropic-messages",
        "",
        _user({"type": "tool_result", "tool_use_id": "a", "content": [
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}}]}),
        lambda body: body["messages"][0]["content"][0]["content"][0]["source"]["data"],
    ),
    "gemini": (
        "gemini",
        "/v1beta/models/m:generateContent",
        {"contents": [{"role": "user", "parts": [{"inline_data": {"mime_type": "application/pdf", "data": PDF}}]}]},
        lambda body: body["contents"][0]["parts"][0]["text"],
    ),
    "bedrock": (
        "bedrock-converse",
        "/model/m/converse",
        {"messages": [{"role": "user", "content": [
            {"document": {"name": "a", "format": "pdf", "source": {"bytes": PDF}}}]}]},
        lambda body: body["messages"][0]["content"][0]["document"]["source"]["text"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("files"), detection="patterns")
    async with await Container.start(settings) as running:
        for id, handling in {
            "passes": "pass",
            "refuses": "refuse",
            "some": {"pdf": "pass", "csv": "refuse"},
            "others": {"other": "pass"},
        }.items():
            await running.policies.create({"id": id, "title": id, "extends": "default", "attachments": handling})
        yield running


async def sent(container: Container, call: str | tuple[str, str, Body], **more: Any) -> Exchange:
    id, path, body = (*CALLS[call][:3],) if isinstance(call, str) else call
    wire = WIRES.named(id)
    assert wire is not None
    copied = {**json.loads(json.dumps(body)), **more}
    return await protected_exchange(
        container, wire, copied, CALLER, Destination("m", Trust.LOCAL), path=path, may_stream=True
    )


def recorded(exchange: Exchange) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = orjson.loads(exchange.receipt.record.body).get("attachments", [])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
async def test_a_document_is_sent_as_its_protected_text(container: Container, call: str) -> None:
    exchange = await sent(container, call)
    text = CALLS[call][3](orjson.loads(exchange.body))
    assert text.startswith("Attached file")
    assert text.endswith("(End of the attached file)")
    assert "PDF, 2 pages" in text
    assert "--- Page 2 ---" in text
    assert not any(value.encode() in exchange.body for value in PRIVATE)
    assert PDF.encode() not in exchange.body
    restored = exchange.placeholders.restore(text, rules=RestoreScope("always")).text
    assert all(value in restored for value in PRIVATE)
    digest = sha256(text.encode()).hexdigest()
    assert recorded(exchange) == [{"kind": "pdf", "action": "convert", "pages": 2, "digest": digest}]


@pytest.mark.slow
async def test_the_same_file_is_sent_as_the_same_text(container: Container) -> None:
    assert (await sent(container, "chat")).body == (await sent(container, "chat")).body


@pytest.mark.slow
@pytest.mark.parametrize("ending", MAKERS)
@pytest.mark.parametrize("language", LANGUAGES)
async def test_nothing_private_of_any_document_is_sent(container: Container, language: str, ending: str) -> None:
    said = LANGUAGES[language]
    data = base64.b64encode(MAKERS[ending](said)).decode()
    body = _user({"type": "file", "file": {"filename": f"a.{ending}", "file_data": OCTETS + data}})
    exchange = await sent(container, ("chat-completions", "", body))
    assert not any(value.encode() in exchange.body for value in said.private)
    text = orjson.loads(exchange.body)["messages"][0]["content"][0]["text"]
    restored = exchange.placeholders.restore(text, rules=RestoreScope("always")).text
    assert all(value in restored for value in said.private)


async def test_a_policy_lets_a_file_pass_and_protects_its_name(container: Container) -> None:
    part = {"type": "file", "file": {"filename": "anna.keller@acme.test.pdf", "file_data": URI}}
    exchange = await sent(container, ("chat-completions", "", _user(part)), svc_policy="some")
    assert PDF.encode() in exchange.body
    assert b"anna.keller@acme.test" not in exchange.body
    assert recorded(exchange) == [{"kind": "pdf", "action": "pass", "digest": sha256(PDF.encode()).hexdigest()}]


@pytest.mark.parametrize("call", CALLS)
async def test_every_wire_lets_files_pass(container: Container, call: str) -> None:
    exchange = await sent(container, call, svc_policy="passes")
    assert PDF.encode() in exchange.body
    assert orjson.loads(exchange.body) == {**CALLS[call][2], **({"model": "m"} if "model" in CALLS[call][2] else {})}


@pytest.mark.parametrize(
    ("ending", "policy"),
    [("pdf", "refuses"), ("csv", "some"), ("zip", "default"), ("zip", "some"), ("docm", "default")],
)
async def test_a_policy_refuses_files(container: Container, ending: str, policy: str) -> None:
    part = {"type": "file", "file": {"filename": f"anna.{ending}", "file_data": ABC}}
    with pytest.raises(UnsupportedMedia) as refused:
        await sent(container, ("chat-completions", "", _user(part)), svc_policy=policy)
    assert refused.value.code == "attachment_refused"
    assert "anna" not in refused.value.message


async def test_other_files_pass_by_themselves(container: Container) -> None:
    part = {"type": "file", "file": {"filename": "a.zip", "file_data": ABC}}
    exchange = await sent(container, ("chat-completions", "", _user(part)), svc_policy="others")
    assert recorded(exchange)[0]["kind"] == "other"


@pytest.mark.slow
async def test_a_file_that_cannot_be_converted_is_refused_with_the_reason(container: Container) -> None:
    part = {"type": "file", "file": {"filename": "a.pdf", "file_data": ABC}}
    with pytest.raises(UnsupportedMedia, match=r"An attached file is damaged"):
        await sent(container, ("chat-completions", "", _user(part)))


async def test_what_is_not_base64_is_refused(container: Container) -> None:
    part = {"type": "file", "file": {"filename": "a.pdf", "file_data": f"{OCTETS}A"}}
    with pytest.raises(UnsupportedMedia, match="not in base64"):
        await sent(container, ("chat-completions", "", _user(part)))


async def test_without_the_extra_the_message_names_it(container: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "installed", lambda: False)
    with pytest.raises(UnsupportedMedia, match=r"privacy-gateway\[attachments\]"):
        await sent(container, "chat")


async def test_too_many_files_are_refused(container: Container) -> None:
    body = json.loads(json.dumps(CHAT))
    body["messages"][0]["content"] *= 33
    with pytest.raises(UnsupportedMedia, match="at most 32"):
        await sent(container, ("chat-completions", "", body))


async def test_any_failure_refuses_the_request(container: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(file: File) -> Converted:
        raise RuntimeError("anna")

    monkeypatch.setattr(container.attachments._converter, "convert", fail)
    with pytest.raises((Unavailable, TooManyRequests)) as failed:
        await sent(container, "chat")
    assert "anna" not in failed.value.message


@pytest.mark.parametrize("reason", Reason)
async def test_each_reason_is_said(container: Container, monkeypatch: pytest.MonkeyPatch, reason: Reason) -> None:
    def refuse(file: File) -> Converted:
        raise Refused(reason)

    monkeypatch.setattr(container.attachments._converter, "convert", refuse)
    with pytest.raises(UnsupportedMedia) as refused:
        await sent(container, "chat")
    assert refused.value.message == f"An attached file {reason.value}."


async def test_a_request_with_files_cannot_be_edited(container: Container) -> None:
    exchange = await sent(container, "chat", svc_policy="passes")
    exchange.source = exchange.body
    with pytest.raises(EditRefused, match="attached files"):
        await container.edits.apply(exchange, exchange.body)


def test_calls_that_convert_nothing_refuse_files() -> None:
    wire = WIRES.named("chat-completions")
    assert wire is not None
    with pytest.raises(UnsupportedMedia):
        check_decided(wire.read(json.loads(json.dumps(CHAT))))


def test_only_files_that_the_policy_lets_pass_are_left_as_they_are(container: Container) -> None:
    wire = WIRES.named("chat-completions")
    assert wire is not None
    conversation = wire.read(json.loads(json.dumps(CHAT)))
    assert let_pass(conversation, container.policies.get("default")) == []
    (sent,) = let_pass(conversation, container.policies.get("passes"))
    assert (sent.kind, sent.action, conversation.documents()) == ("pdf", "pass", [])
    assert conversation.attachments == ("data", "file")
    check_decided(conversation)


def test_a_file_is_an_attachment_until_it_is_converted() -> None:
    wire = WIRES.named("chat-completions")
    assert wire is not None
    conversation = wire.read(json.loads(json.dumps(CHAT)))
    assert conversation.attachments == ("data", "file")
    conversation.documents()[0].convert("text")
    assert len(conversation.attachments) == 0
