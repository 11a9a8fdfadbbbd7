"""The dispatcher of both listeners: calls that are forwarded or refused, and an outcome for every exchange."""

import asyncio
import contextlib
import pickle
import threading
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from gateway.api.app import create_app
from gateway.auth.key_audit import read_uses
from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import Forbidden, GatewayError
from gateway.exchange.messages import Call, ForwardedRequest, Listener, NativeResponse
from gateway.models import Caller, Scope
from gateway.server.dispatcher import Dispatcher
from gateway.usage import usage
from tests.exchanges import opened

OPERATOR = Caller("test", Scope.OPERATOR)
HOST = "https://api.openai.com:443"


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    """With the model of names, as it is by default."""
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("dispatcher"))
    async with await Container.start(settings) as running:
        yield running


@pytest.fixture
def dispatcher(container: Container) -> Dispatcher:
    return Dispatcher(container, create_app(container))


def call(request_id: str, body: dict[str, Any], **more: Any) -> Call:
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": "Write to anna@acme.test"}], **body}
    given: dict[str, Any] = {"fields": ((b"content-type", b"application/json"),), **more}
    return Call(request_id, Listener.PROXY, "POST", HOST, "/v1/chat/completions", content=orjson.dumps(body), **given)


async def test_headers_are_searched_by_the_model_of_names_too(dispatcher: Dispatcher) -> None:
    fields = ((b"x-title", b"Maria Kowalska"), (b"user-agent", b"tool 1.0"))
    entered = await opened(dispatcher, call("req_0b", {}, fields=fields))
    assert isinstance(entered, ForwardedRequest)
    names = {name for name, _ in entered.headers}
    assert b"user-agent" in names
    assert b"x-title" not in names
    dispatcher.fail("req_0b", "failed")


async def test_an_answer_is_restored_once(dispatcher: Dispatcher, container: Container) -> None:
    entered = await opened(dispatcher, call("req_0c", {}))
    assert isinstance(entered, ForwardedRequest)
    (placeholder,) = entered.placeholders
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": f"Done: {placeholder}"}}]}
    restored, outcome_told, verdict = await dispatcher.close("req_0c", 200, orjson.dumps(answer))
    assert orjson.loads(restored)["choices"][0]["message"]["content"] == "Done: anna@acme.test"
    assert verdict is not None
    assert outcome_told == "answered"
    # It is over: the same answer once more opens nothing, and the outcome stays.
    again, *_ = await dispatcher.close("req_0c", 200, orjson.dumps(answer))
    assert again == orjson.dumps(answer)
    dispatcher.fail("req_0c", "failed")
    assert await outcome(container, "req_0c") == "answered"


async def test_an_answer_in_json_stays_json(dispatcher: Dispatcher) -> None:
    """The content, a part of it and a refusal; what goes around a document, as a fence does, makes it text."""
    address = "71 Cherry Court\nSOUTHAMPTON\nSO53 5PD\nUnited Kingdom"
    asked = [{"role": "user", "content": f"As JSON, please. My new address is {address}"}]
    entered = await opened(dispatcher, call("req_11", {"messages": asked, "response_format": {"type": "json_object"}}))
    assert isinstance(entered, ForwardedRequest)
    (placeholder,) = entered.placeholders
    document = f'{{"address": ["{placeholder}"], "n": 1.50}}'
    contents = (document, [{"type": "text", "text": document}], f"```json\n{document}\n```")
    messages = [{"role": "assistant", "content": content, "refusal": document} for content in contents]
    answer = {"choices": [{"index": index, "message": message} for index, message in enumerate(messages)]}
    left, *_ = await dispatcher.close("req_11", 200, orjson.dumps(answer))
    whole, parts, fenced = (choice["message"] for choice in orjson.loads(left)["choices"])
    for text in (whole["content"], whole["refusal"], parts["content"][0]["text"]):
        assert orjson.loads(text) == {"address": [address], "n": 1.5}
        assert text.endswith('"], "n": 1.50}')
    assert address in fenced["content"]


@pytest.mark.parametrize("path", ["/v1/responses", "/api/chat"])
async def test_keys_are_restored_in_their_places(dispatcher: Dispatcher, path: str) -> None:
    own = {"first": "one", "anna@acme.test": {"to": "anna@acme.test"}, "last": ["anna@acme.test"]}
    content = orjson.dumps({"model": "gpt-5", "input": "Hello", "metadata": own, **own})
    fields = ((b"content-type", b"application/json"),)
    request_id = f"req_{len(path):x}d"
    entered = await opened(dispatcher, Call(request_id, Listener.PROXY, "POST", HOST, path, fields, content))
    assert isinstance(entered, ForwardedRequest)
    assert b"anna" not in entered.body
    echoed = orjson.loads(entered.body)
    (placeholder,) = entered.placeholders
    taken = {placeholder: 1, "anna@acme.test": 2}
    many = {f"{placeholder} {number}": number for number in range(1000)}
    said = echoed["metadata"]
    answer = {"id": "it_1", "metadata": said, "data": {**said}, "taken": taken, "many": many}
    restored = orjson.loads((await dispatcher.close(request_id, 200, orjson.dumps(answer)))[0])
    for found in (restored["metadata"], restored["data"]):
        assert [*found.items()] == [*own.items()]
    # Two members cannot have one key.
    assert restored["taken"] == taken
    # In a large object, the order is not kept.
    assert restored["many"] == {f"anna@acme.test {number}": number for number in range(1000)}


@pytest.mark.parametrize("stops", [False, True])
async def test_a_call_that_came_to_no_answer_is_recorded(
    dispatcher: Dispatcher, container: Container, stops: bool
) -> None:
    request_id = f"req_0d{stops:d}"
    assert isinstance(await opened(dispatcher, call(request_id, {})), ForwardedRequest)
    if stops:
        dispatcher.stop()
    else:
        dispatcher.fail(request_id, "cancelled")
    assert await outcome(container, request_id) == "cancelled"


async def test_a_call_that_is_cancelled_while_its_receipt_is_written_is_recorded_as_that(
    dispatcher: Dispatcher, container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, written, append = asyncio.Event(), threading.Event(), container.receipts.append

    def noted(*given: Any) -> Any:
        begun.set()
        return append(*given)

    monkeypatch.setattr(container.receipts, "append", noted)
    container.store.submit(lambda _: written.wait(60))
    opening = asyncio.create_task(opened(dispatcher, call("req_ca", {})))
    await begun.wait()
    opening.cancel()
    written.set()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert await outcome(container, "req_ca") == "cancelled"


@pytest.mark.parametrize(
    ("request_id", "given"),
    [
        ("req_cb", {}),
        ("req_cc", {"path": "/v1/protect", "content": b'{"text": "Write to anna@acme.test"}'}),
        ("req_cd", {"content": b'{"model": "svc-demo", "messages": [{"role": "user", "content": "anna@acme.test"}]}'}),
    ],
)
async def test_a_call_that_is_cancelled_during_the_search_is_recorded_as_that(
    dispatcher: Dispatcher,
    container: Container,
    monkeypatch: pytest.MonkeyPatch,
    request_id: str,
    given: dict[str, Any],
) -> None:
    begun = asyncio.Event()

    async def search(*_: object, **__: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(container.workers, "run", search)
    secret, _ = await container.keys.create(request_id, Scope.CLIENT)
    fields = ((b"x-svc-key", secret.encode()), (b"content-type", b"application/json"))
    listener = Listener.GATEWAY if given else Listener.PROXY
    opening = asyncio.create_task(
        opened(dispatcher, call(request_id, {}, fields=fields)._replace(**given, listener=listener))
    )
    await begun.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    ((newest,), _) = await container.receipts.list(OPERATOR, 1, 0)
    receipt = newest.as_dict()
    assert (receipt["route"], receipt["tokens"]["external"]) == ("blocked", 0)
    assert receipt["outcome"]["outcome"] == "cancelled"
    assert "code" not in receipt["outcome"]
    await container.key_audit.write()
    uses, _ = await container.store.read(lambda stored: read_uses(stored, 100, 0))
    assert [(use["outcome"], use["count"]) for use in uses if use["label"] == request_id] == [("cancelled", 1)]


async def outcome(container: Container, request_id: str) -> str:
    receipt = (await container.receipts.get(request_id, OPERATOR)).as_dict()
    return str(receipt["outcome"]["outcome"])


async def test_an_edit_needs_a_call_that_was_held(dispatcher: Dispatcher) -> None:
    assert isinstance(await opened(dispatcher, call("req_0e", {})), ForwardedRequest)
    for request_id in ("req_0e", "req_unknown"):
        with pytest.raises(Forbidden) as refused:
            await dispatcher.edit(request_id, b"{}", "")
        assert refused.value.code == "edit_refused"
    dispatcher.fail("req_0e", "failed")


async def test_a_stream_is_restored_for_the_request_that_was_sent(dispatcher: Dispatcher) -> None:
    entered = await opened(dispatcher, call("req_0f", {"stream": True}, editable=True))
    assert isinstance(entered, ForwardedRequest)
    assert entered.plan is not None
    assert entered.plan.guard.context.request == entered.body
    shorter = entered.body.replace(b"Write to", b"Ask")
    edited = await dispatcher.edit("req_0f", shorter, "")
    assert edited.plan is not None
    assert orjson.loads(edited.plan.guard.context.request) == orjson.loads(shorter)
    dispatcher.fail("req_0f", "failed")


@pytest.mark.parametrize("model", ["claude", "vicuna", "alpaca", "mistral-large-latest", "org/Claude-3@2026"])
async def test_a_models_name_is_sent_though_it_is_a_persons_too(dispatcher: Dispatcher, model: str) -> None:
    request_id = f"req_{model.encode().hex()}"
    entered = await opened(dispatcher, call(request_id, {"model": model}))
    assert isinstance(entered, ForwardedRequest)
    assert orjson.loads(entered.body)["model"] == model
    assert b"anna" not in entered.body
    assert entered.plan is None, "the answer is no stream"
    dispatcher.fail(request_id, "failed")


async def test_the_fate_of_other_calls_is_counted(dispatcher: Dispatcher, container: Container) -> None:
    async def sent(
        method: str, path: str, content: bytes = b"", media: bytes = b"application/json", *more: tuple[bytes, bytes]
    ) -> None:
        fields = ((b"content-type", media), *more)
        made = Call(f"req_{len(path):x}", Listener.PROXY, method, HOST, path, fields, content)
        with contextlib.suppress(GatewayError):
            await opened(dispatcher, made)

    before = (await usage(container.store))["other_calls"]
    await sent("GET", "/api/settings")
    await sent("HEAD", "/api/hello")
    await sent("POST", "/v1/traces/ingest", b'{"data": []}')
    await sent("POST", "/api/log", b'{"a": "b"}')
    await sent("POST", "/v1/audio/translations", b"a", b"multipart/form-data")
    await sent("DELETE", "/v1/files")
    await sent("GET", "/v1/realtime", b"", b"", (b"upgrade", b"websocket"))
    after = (await usage(container.store))["other_calls"]
    assert {name: count - before.get(name, 0) for name, count in after.items()} == {
        "passed": 2,
        "dropped": 1,
        "protected": 1,
        "refused": 3,
    }


async def test_a_refusal_by_the_policy_names_its_receipt(dispatcher: Dispatcher, container: Container) -> None:
    """Also for the other process, in which the listeners are, and in a native answer."""
    for name, rule in (("local-mail", "local_types"), ("no-mail", "blocked_types")):
        route = {"route": {rule: ["EMAIL_ADDRESS"]}}
        await container.policies.create({"id": name, "title": "t", "extends": "default", **route})
    with pytest.raises(Forbidden) as refused:
        await opened(dispatcher, call("req_12", {"svc_policy": "local-mail"}))
    receipt = pickle.loads(pickle.dumps(refused.value)).receipt
    assert receipt == (await container.receipts.get("req_12", OPERATOR)).ref
    assert await outcome(container, "req_12") == "refused"
    key, _ = await container.keys.create("bert", Scope.OPERATOR)
    fields = ((b"content-type", b"application/json"), (b"x-svc-key", key.encode()))
    native = call("req_14", {"model": "svc-demo", "svc_policy": "no-mail"}, fields=fields)
    response = await opened(dispatcher, native._replace(listener=Listener.GATEWAY))
    assert isinstance(response, NativeResponse)
    assert response.status == 403
    assert response.receipt is not None
    ended = (await container.receipts.get(response.receipt.request_id, OPERATOR)).as_dict()["outcome"]
    assert (ended["outcome"], ended["code"]) == ("refused", "blocked_by_policy")


async def test_a_native_response_names_its_receipt_and_the_guards_action(
    dispatcher: Dispatcher, container: Container
) -> None:
    key, _ = await container.keys.create("anna", Scope.OPERATOR)
    fields = ((b"content-type", b"application/json"), (b"x-svc-key", key.encode()))
    text = orjson.dumps({"text": "Write to anna@acme.test today.\n\nA second paragraph. And a third sentence."})
    chat = call("req_13", {"model": "svc-demo"}, fields=fields)._replace(listener=Listener.GATEWAY)
    calls = [
        (chat, "pass"),
        (chat._replace(path="/v1/playground/run", content=text), "pass"),
        (chat._replace(path="/v1/protect", content=text), None),
        (chat._replace(path="/v1/shard", content=text), None),
    ]
    for number, (each, guard) in enumerate(calls):
        response = await opened(dispatcher, each._replace(request_id=f"req_13{number}"))
        assert isinstance(response, NativeResponse)
        body = orjson.loads(response.body)
        receipt = body["svc"]["receipt"] if "svc" in body else body["receipt"]
        assert response.receipt is not None
        assert (response.receipt.request_id, response.receipt.sequence) == (receipt["request_id"], receipt["sequence"])
        assert (response.guard["action"] if response.guard is not None else None) == guard
    health = chat._replace(path="/healthz", method="GET", content=b"", fields=())
    for each in (chat._replace(path="/v1/analyze", content=text), health):
        other = await opened(dispatcher, each)
        assert isinstance(other, NativeResponse)
        assert (other.status, other.route, other.receipt, other.guard) == (200, each.path, None, None)
