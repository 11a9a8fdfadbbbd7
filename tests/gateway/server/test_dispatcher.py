"""The entrance both listeners ask: what crosses, what is refused, and that every call that crossed comes to an end."""

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from gateway.api.app import create_app
from gateway.config.settings import load_settings
from gateway.container import Service
from gateway.errors import Forbidden
from gateway.ipc.messages import Answered, Call, Crossing, Listener, Refused
from gateway.models import Caller, Scope
from gateway.server.dispatcher import Dispatcher

OPERATOR = Caller("test", Scope.OPERATOR)
HOST = "https://api.openai.com:443"


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """With the model of names, as it is by default."""
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("entrance"))
    async with await Service.start(settings) as running:
        yield running


@pytest.fixture
def entrance(service: Service) -> Dispatcher:
    return Dispatcher(service, create_app(service))


def call(request_id: str, body: dict[str, Any], **more: Any) -> Call:
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": "Write to anna@acme.test"}], **body}
    given: dict[str, Any] = {"fields": ((b"content-type", b"application/json"),), **more}
    return Call(request_id, Listener.PROXY, "POST", HOST, "/v1/chat/completions", content=orjson.dumps(body), **given)


@pytest.mark.parametrize("model", ["claude", "vicuna", "alpaca", "mistral-large-latest", "org/Claude-3@2026"])
async def test_a_models_name_crosses_though_it_is_a_persons_too(entrance: Dispatcher, model: str) -> None:
    request_id = f"req_{model.encode().hex()}"
    entered = await entrance.enter(call(request_id, {"model": model}))
    assert isinstance(entered, Crossing)
    assert orjson.loads(entered.body)["model"] == model
    assert b"anna" not in entered.body
    entrance.fail(request_id, "failed")


async def test_a_models_name_that_is_an_address_is_refused(entrance: Dispatcher) -> None:
    entered = await entrance.enter(call("req_0a", {"model": "anna@acme.test"}))
    assert isinstance(entered, Refused)
    assert (entered.error.status, entered.error.param) == (400, "model")
    assert "anna" not in entered.error.message


async def test_headers_are_searched_by_the_model_of_names_too(entrance: Dispatcher) -> None:
    fields = ((b"x-title", b"Maria Kowalska"), (b"user-agent", b"tool 1.0"))
    entered = await entrance.enter(call("req_0b", {}, fields=fields))
    assert isinstance(entered, Crossing)
    names = {name for name, _ in entered.headers}
    assert b"user-agent" in names
    assert b"x-title" not in names
    entrance.fail("req_0b", "failed")


async def test_what_came_back_is_restored_once(entrance: Dispatcher, service: Service) -> None:
    entered = await entrance.enter(call("req_0c", {}))
    assert isinstance(entered, Crossing)
    (placeholder,) = entered.placeholders
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": f"Done: {placeholder}"}}]}
    restored = await entrance.leave("req_0c", 200, orjson.dumps(answer), False)
    assert orjson.loads(restored.body)["choices"][0]["message"]["content"] == "Done: anna@acme.test"
    assert restored.guard is not None
    # It is over: the same answer once more opens nothing, and the outcome stays.
    again = await entrance.leave("req_0c", 200, orjson.dumps(answer), False)
    assert again.body == orjson.dumps(answer)
    entrance.fail("req_0c", "failed")
    assert await outcome(service, "req_0c") == "answered"


async def test_an_answer_in_json_stays_json(entrance: Dispatcher) -> None:
    """The content, a part of it and a refusal; what goes around a document, as a fence does, makes it text."""
    address = "71 Cherry Court\nSOUTHAMPTON\nSO53 5PD\nUnited Kingdom"
    asked = [{"role": "user", "content": f"As JSON, please. My new address is {address}"}]
    entered = await entrance.enter(call("req_11", {"messages": asked, "response_format": {"type": "json_object"}}))
    assert isinstance(entered, Crossing)
    (placeholder,) = entered.placeholders
    document = f'{{"address": ["{placeholder}"], "n": 1.50}}'
    contents = (document, [{"type": "text", "text": document}], f"```json\n{document}\n```")
    messages = [{"role": "assistant", "content": content, "refusal": document} for content in contents]
    answer = {"choices": [{"index": index, "message": message} for index, message in enumerate(messages)]}
    left = await entrance.leave("req_11", 200, orjson.dumps(answer), False)
    whole, parts, fenced = (choice["message"] for choice in orjson.loads(left.body)["choices"])
    for text in (whole["content"], whole["refusal"], parts["content"][0]["text"]):
        assert orjson.loads(text) == {"address": [address], "n": 1.5}
        assert text.endswith('"], "n": 1.50}')
    assert address in fenced["content"]


async def test_a_call_that_came_to_no_answer_is_recorded(entrance: Dispatcher, service: Service) -> None:
    assert isinstance(await entrance.enter(call("req_0d", {})), Crossing)
    entrance.fail("req_0d", "cancelled")
    assert await outcome(service, "req_0d") == "cancelled"


async def test_what_is_under_way_when_the_gateway_ends_is_recorded_as_cancelled(
    entrance: Dispatcher, service: Service
) -> None:
    assert isinstance(await entrance.enter(call("req_10", {})), Crossing)
    entrance.close()
    assert await outcome(service, "req_10") == "cancelled"


async def outcome(service: Service, request_id: str) -> str:
    receipt = (await service.receipts.get(request_id, OPERATOR)).as_dict()
    return str(receipt["outcome"]["outcome"])


async def test_an_edit_needs_a_call_that_was_held(entrance: Dispatcher) -> None:
    assert isinstance(await entrance.enter(call("req_0e", {})), Crossing)
    for request_id in ("req_0e", "req_unknown"):
        with pytest.raises(Forbidden) as refused:
            await entrance.amend(request_id, b"{}")
        assert refused.value.code == "edit_refused"
    entrance.fail("req_0e", "failed")


async def test_a_native_call_is_answered(entrance: Dispatcher) -> None:
    entered = await entrance.enter(Call("req_0f", Listener.GATEWAY, "GET", "http://h:1", "/healthz", (), b""))
    assert isinstance(entered, Answered)
    assert (entered.status, entered.route) == (200, "/healthz")


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"path": "/v1/files"}, 404, "unknown_route"),
        ({"path": "/v1/chat%2fcompletions"}, 404, "not_found"),
        ({"path": "/v1/chat/completions?user=anna%40acme.test"}, 404, "unknown_route"),
        ({"fields": ((b"Upgrade", b"websocket"),)}, 400, "upgrade_refused"),
        ({"content": b"{"}, 400, "invalid_json"),
        ({"listener": Listener.GATEWAY}, 401, "unauthorized"),
    ],
)
async def test_what_is_refused(entrance: Dispatcher, changed: dict[str, Any], status: int, code: str) -> None:
    entered = await entrance.enter(call("req_10", {})._replace(**changed))
    assert isinstance(entered, Refused)
    assert (entered.error.status, entered.error.code) == (status, code)
