"""Requests with text that were refused: each leaves a receipt with numbers, and none of its text."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.api.app import create_app
from gateway.config.settings import Settings
from gateway.container import Container
from gateway.errors import GatewayError, TooManyRequests, Unauthorized
from gateway.exchange.messages import Call, Listener, NativeResponse
from gateway.exchange.records import Records
from gateway.ids import new_request_id
from gateway.models import Caller, PolicyRef, Scope
from gateway.server.dispatcher import Dispatcher
from gateway.usage import usage
from tests.exchanges import opened
from tests.tables import table

CASES = table(__file__)

OPERATOR = Caller("key_operator", Scope.OPERATOR)
TEXT = "My name is Anna Schmidt, write to anna@acme.test, card 4111 1111 1111 1111."
JSON = (b"content-type", b"application/json")


@pytest.fixture
async def container(tmp_path: Path) -> AsyncIterator[Container]:
    settings = Settings(data_dir=tmp_path, detection="patterns", rate_limit_per_minute=4)
    async with await Container.start(settings) as started:
        await started.policies.create(
            {"id": "no-cards", "title": "t", "extends": "default", "rules": {"CREDIT_CARD": {"action": "block"}}}
        )
        yield started


@pytest.fixture
def dispatcher(container: Container) -> Dispatcher:
    return Dispatcher(container, create_app(container))


def chat(**members: Any) -> Call:
    content = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": TEXT}], **members})
    return Call(
        new_request_id(),
        Listener.PROXY,
        "POST",
        "https://api.openai.com",
        "/v1/chat/completions",
        (JSON, (b"authorization", b"Bearer of-a-provider")),
        content,
    )


async def native(container: Container, path: str, body: dict[str, Any], scope: Scope = Scope.CLIENT) -> Call:
    key, _ = await container.keys.create("anna", scope)
    fields = (JSON, (b"x-svc-key", key.encode()))
    return Call(new_request_id(), Listener.GATEWAY, "POST", "http://h:1", path, fields, orjson.dumps(body))


async def refused(dispatcher: Dispatcher, call: Call) -> GatewayError:
    with pytest.raises(GatewayError) as raised:
        await opened(dispatcher, call)
    return raised.value


async def receipt(container: Container, request_id: str) -> dict[str, Any]:
    found = (await container.receipts.get(request_id, OPERATOR)).as_dict()
    verified = await container.receipts.verify(request_id, OPERATOR)
    assert verified.valid
    for part in ("Anna", "acme.test", "4111 1111"):
        assert part not in str(found)
    return found


async def total(container: Container) -> int:
    return (await container.receipts.list(OPERATOR, 1, 0))[1]


async def test_a_request_that_the_policy_blocks(dispatcher: Dispatcher, container: Container) -> None:
    call = chat(svc_policy="no-cards")
    error = await refused(dispatcher, call)
    found = await receipt(container, call.request_id)
    assert error.receipt is not None
    assert error.receipt.request_id == call.request_id
    assert (found["route"], found["policy"]["id"], found["operation"]) == ("blocked", "no-cards", "chat")
    assert found["entity_counts"] == {"CREDIT_CARD": 1, "EMAIL_ADDRESS": 1, "PERSON": 1}
    assert found["risk_level"] == "high"
    protected = chat()
    await opened(dispatcher, protected)
    assert (await receipt(container, protected.request_id))["risk_level"] == found["risk_level"]
    assert found["tokens"]["input"] > 0
    assert found["tokens"]["external"] == 0
    assert (found["outcome"]["outcome"], found["outcome"]["code"]) == ("refused", "blocked_by_policy")
    meters = await usage(container.store)
    assert meters["refusals"] == {"blocked_by_policy": 1}
    assert meters["outcomes"] == {"refused": 1}


@pytest.mark.parametrize(("given", "status", "code", "param"), CASES["a_request_that_an_error_ends"])
async def test_a_request_that_an_error_ends(
    dispatcher: Dispatcher, container: Container, given: dict[str, Any], status: int, code: str, param: str | None
) -> None:
    given = {**given}
    call = chat(**given.pop("members", {}))
    if "fields" in given:
        given["fields"] = tuple((name.encode(), value.encode()) for name, value in given["fields"].items())
    if "content" in given:
        given["content"] = given["content"].replace("TEXT", TEXT).encode()
    error = await refused(dispatcher, call._replace(**given))
    found = await receipt(container, call.request_id)
    assert (error.status, error.code, error.param) == (status, code, param)
    assert "anna" not in error.message
    assert (found["outcome"]["outcome"], found["outcome"]["code"], found["route"]) == ("refused", code, "blocked")


async def test_an_error_of_the_gateway_itself(
    dispatcher: Dispatcher, container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError(TEXT)

    monkeypatch.setattr(container.protector, "protect", fail)
    call = chat()
    with pytest.raises(Exception):  # noqa: B017 - whatever the boundary makes of it
        await opened(dispatcher, call)
    assert (await receipt(container, call.request_id))["outcome"]["outcome"] == "refused"


@pytest.mark.parametrize(("operation", "body", "code"), CASES["native_operations"])
async def test_native_operations(
    dispatcher: Dispatcher, container: Container, operation: str, body: dict[str, Any], code: str
) -> None:
    answer = await opened(dispatcher, await native(container, f"/v1/{operation}", {**body, "text": TEXT}))
    assert isinstance(answer, NativeResponse)
    said = orjson.loads(answer.body)
    assert said["error"]["code"] == code
    found = await receipt(container, said["request_id"])
    assert (found["operation"], found["outcome"]["code"]) == (operation, code)
    assert found["risk_level"] == ("high" if code == "blocked_by_policy" else "none")


@pytest.mark.parametrize("operation", ["protect", "shard"])
async def test_a_refusal_has_corrections_and_findings(
    dispatcher: Dispatcher, container: Container, operation: str
) -> None:
    corrections = {"svc_allow": ["anna@acme.test", "of no one"], "svc_deny": [{"type": "PERSON", "value": "write"}]}
    call = await native(container, f"/v1/{operation}", {"text": TEXT, "policy_id": "no-cards", **corrections})
    answer = await opened(dispatcher, call)
    assert isinstance(answer, NativeResponse)
    assert answer.status == 403
    found = (await receipt(container, call.request_id))["corrections"]
    for kind, asked in (("allow", 2), ("deny", 1)):
        digest = found[kind].pop("digest")
        assert found[kind] == {"asked": asked, "applied": 1, "stored": 0}
        assert digest
    said = container.recent_findings.get(container.callers.identify(call.fields), call.request_id)
    assert said.refusal == "blocked_by_policy"
    assert {each.type for each in said.findings} >= {"CREDIT_CARD", "PERSON"}


async def test_a_client_sees_its_own_refusals_only(dispatcher: Dispatcher, container: Container) -> None:
    call = await native(container, "/v1/protect", {"text": TEXT, "policy_id": "no-cards"})
    await opened(dispatcher, call)
    owner = container.callers.identify(call.fields)
    assert (await container.receipts.list(owner, 10, 0))[1] == 1
    assert (await container.receipts.list(Caller("key_other", Scope.CLIENT), 10, 0))[1] == 0


async def test_requests_that_leave_no_record(dispatcher: Dispatcher, container: Container) -> None:
    """Neither a request without text nor an unauthenticated one leaves a record."""
    await refused(dispatcher, chat()._replace(content=b""))
    error = await refused(dispatcher, chat()._replace(listener=Listener.GATEWAY, fields=(JSON,)))
    assert (error.status, error.code) == (401, "unauthorized")
    await opened(dispatcher, await native(container, "/v1/policies", {"id": "x"}, Scope.OPERATOR))
    assert await total(container) == 0


async def test_requests_beyond_the_rate_leave_one_record_a_minute(dispatcher: Dispatcher, container: Container) -> None:
    call = await native(container, "/v1/protect", {"text": "No private text here."})
    for _ in range(4):
        await opened(dispatcher, call._replace(request_id=new_request_id()))
    assert await total(container) == 4
    for _ in range(3):
        answer = await opened(dispatcher, call._replace(request_id=new_request_id()))
        assert isinstance(answer, NativeResponse)
        assert answer.status == 429
    assert await total(container) == 5
    assert (await usage(container.store))["refusals"] == {"rate_limited": 1}


async def test_each_minute_and_each_key_has_a_record(container: Container) -> None:
    now = 0.0
    records = Records(
        container.receipts,
        container.value_digests,
        lambda: PolicyRef("default", 1, "a1" * 32),
        engine_version="1",
        clock=lambda: now,
    )
    counts = []
    for now, name in ((0.0, "key_a"), (30.0, "key_a"), (31.0, "key_b"), (60.0, "key_a")):  # noqa: B007
        who = Caller(name, Scope.CLIENT)
        await records.refused(TooManyRequests("slower"), new_request_id(), "chat", lambda who=who: who)
        counts.append(await total(container))
    assert counts == [1, 1, 2, 3]


async def test_the_error_of_the_request_comes_before_that_of_the_log(
    dispatcher: Dispatcher, container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise Unauthorized("whatever a log that cannot be written raises")

    monkeypatch.setattr(container.receipts, "append", fail)
    error = await refused(dispatcher, chat(svc_policy="no-cards"))
    assert (error.code, error.receipt) == ("blocked_by_policy", None)
