"""The main job with clients as they are: the openai SDK through the base URL and through HTTPS_PROXY, and httpx."""

import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme

from tests.e2e.server import OPERATOR_KEY, PLAIN, Running
from tests.e2e.upstream import Recorded, Reply, Upstream, completion
from tests.lazy import Lazy

openai = Lazy("openai")

LETTER = (
    "Dear Wilhelmina Oxenfoord,\nplease write to w.oxenfoord@acme.test or call +49 30 901820.\n"
    "IBAN DE89 3704 0044 0532 0130 00, card 4111 1111 1111 1111.\nBest regards,\nTheodor Quackenbush"
)
MESSAGES = [{"role": "user", "content": LETTER}]
PRIVATE = ("Oxenfoord", "w.oxenfoord", "901820", "3704 0044", "4111 1111", "Quackenbush")


@pytest.fixture
def sdk(running: Running) -> Iterator[Any]:
    with httpx.Client(trust_env=False, verify=PLAIN) as client:
        yield openai.OpenAI(base_url=f"{running.url}/v1", api_key=OPERATOR_KEY, http_client=client, max_retries=0)


def test_the_sdk_through_the_base_url(sdk: Any, upstream: Upstream) -> None:
    answer = sdk.chat.completions.create(model="configured-upstream", messages=[{"role": "user", "content": LETTER}])
    assert answer.choices[0].message.content == LETTER
    assert answer.usage is not None
    assert answer.usage.total_tokens == 18
    sent = upstream.recorded[-1]
    assert not [word for word in PRIVATE if word.encode() in upstream.seen]
    assert sent.path == "/v1/chat/completions"
    assert sent.header("authorization") == "Bearer upstream-key-of-the-tests"
    assert OPERATOR_KEY.encode() not in upstream.seen
    note = answer.model_extra["svc"]
    assert note["receipt"]["entity_counts"]["EMAIL_ADDRESS"] == 1
    assert note["receipt"]["operation"] == "chat"


def test_the_sdk_through_https_proxy(running: Running, tls_upstream: Upstream) -> None:
    """No change but the environment: the proxy decrypts, protects and restores; the client's own key crosses."""
    with running.proxied() as client:
        api = openai.OpenAI(
            base_url=f"{tls_upstream.url}/v1", api_key="the-clients-own-key", http_client=client, max_retries=0
        )
        answer = api.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": LETTER}])
    assert answer.choices[0].message.content == LETTER
    assert not [word for word in PRIVATE if word.encode() in tls_upstream.seen]
    assert tls_upstream.recorded[-1].header("authorization") == "Bearer the-clients-own-key"
    assert tls_upstream.recorded[-1].json["model"] == "gpt-x"


def test_the_demo_answers_with_the_words_of_the_request(sdk: Any) -> None:
    answer = sdk.chat.completions.create(
        model="svc-demo",
        messages=[{"role": "user", "content": "Draft a reply to Wilhelmina Oxenfoord, w.oxenfoord@acme.test"}],
    )
    assert "w.oxenfoord@acme.test" in (answer.choices[0].message.content or "")


def test_tool_calls_are_sent_protected_and_come_back_restored(running: Running, upstream: Upstream) -> None:
    def calls_the_tool(request: Recorded) -> Reply:
        content = request.json["messages"][-1]["content"]
        address = content.split()[-1]
        call: dict[str, Any] = {"id": "call_1", "type": "function"}
        call["function"] = {"name": "send", "arguments": json.dumps({"to": address, "n": 1})}
        return completion({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")

    upstream.answer = calls_the_tool
    messages: list[dict[str, object]] = [{"role": "user", "content": "Send the report to w.oxenfoord@acme.test"}]
    tools = [{"type": "function", "function": {"name": "send", "description": "Mails, e.g. to boss@acme.test"}}]
    body = {"model": "configured-upstream", "messages": messages, "tools": tools}
    with running.client() as client:
        answer = client.post("/v1/chat/completions", json=body).json()
        message = answer["choices"][0]["message"]
        assert json.loads(message["tool_calls"][0]["function"]["arguments"])["to"] == "w.oxenfoord@acme.test"
        messages += [
            message,
            {"role": "tool", "tool_call_id": "call_1", "content": '{"sent": "w.oxenfoord@acme.test"}'},
        ]
        upstream.answer = lambda request: completion(
            {"role": "assistant", "content": request.json["messages"][-1]["content"]}
        )
        second = client.post("/v1/chat/completions", json=body).json()
    assert second["choices"][0]["message"]["content"] == '{"sent": "w.oxenfoord@acme.test"}'
    assert b"acme.test" not in upstream.seen
    first, later = (r.json["messages"] for r in upstream.recorded)
    assert later[: len(first)] == first


def test_own_upstream_credentials_beside_the_gateway_key(running: Running, upstream: Upstream) -> None:
    headers = {"x-svc-key": OPERATOR_KEY, "authorization": "Bearer brought-along"}
    body = {"model": "configured-upstream", "messages": [{"role": "user", "content": "hello"}]}
    answer = httpx.post(f"{running.url}/v1/chat/completions", json=body, headers=headers, trust_env=False, verify=PLAIN)
    assert answer.status_code == 200
    assert upstream.recorded[-1].header("authorization") == "Bearer brought-along"
    assert OPERATOR_KEY.encode() not in upstream.seen


def test_a_host_that_is_not_intercepted_keeps_its_own_certificate(
    running: Running, authority: trustme.CA, tls_upstream: Upstream
) -> None:
    """Only the hosts of the settings are decrypted: another name for the same server is an untouched tunnel."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with httpx.Client(proxy=running.proxy, verify=context, trust_env=False) as client:
        body = {"model": "m", "messages": [{"role": "user", "content": LETTER}]}
        answer = client.post(f"https://127.0.0.1:{tls_upstream.port}/v1/chat/completions", json=body)
    assert answer.status_code == 200
    assert tls_upstream.recorded[-1].json == body


def test_errors_of_the_upstream_reach_the_client(running: Running, upstream: Upstream) -> None:
    def refuses(request: Recorded) -> Reply:
        text = request.json["messages"][-1]["content"]
        return Reply(
            json.dumps({"error": {"message": f"no: {text}", "code": "bad"}}).encode(),
            429,
            {"retry-after": "7", "content-type": "application/json"},
        )

    upstream.answer = refuses
    with running.client() as client:
        body = {"model": "configured-upstream", "messages": [{"role": "user", "content": "mail w.oxenfoord@acme.test"}]}
        answer = client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "7"
    assert answer.json()["error"]["message"] == "no: mail w.oxenfoord@acme.test"


UNREADABLE = {
    "a list": b"[]",
    "a page": b"<html>busy</html>",
    "nothing": b"",
    "the same key twice": b'{"id": "a", "id": "b", "svc": {"guard": {"action": "pass"}}, "choices": []}',
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_no_answer_of_the_gateways(
    running: Running, upstream: Upstream, tls_upstream: Upstream, name: str
) -> None:
    """The gateway vouches for what it hands out on its own port; the proxy passes on what came, unrestored."""
    upstream.answer = tls_upstream.answer = lambda request: Reply(UNREADABLE[name])
    chat = {"model": "configured-upstream", "messages": MESSAGES}
    with running.client() as client:
        answer = client.post("/v1/chat/completions", json=chat)
        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
        receipt = client.get(f"/v1/receipts/{answer.json()['request_id']}").json()
    assert receipt["outcome"]["outcome"] == "unreadable_answer"
    with running.proxied() as client:
        answer = client.post(f"{tls_upstream.url}/v1/chat/completions", json=chat)
    assert (answer.status_code, answer.content) == (200, UNREADABLE[name])


def test_the_proxy_passes_an_answer_without_values_on_unchanged(running: Running, tls_upstream: Upstream) -> None:
    said = b'{\n  "id": "a",\n  "choices": [{"message": {"content": "Gr\\u00fc\\u00dfe"}, "x": 1.50, "y": 1e3}]\n}\n'
    tls_upstream.answer = lambda request: Reply(said)
    with running.proxied() as client:
        answer = client.post(f"{tls_upstream.url}/v1/chat/completions", json={"model": "gpt-x", "messages": MESSAGES})
    assert answer.content == said


def test_an_error_contains_no_forged_note(running: Running, upstream: Upstream) -> None:
    upstream.answer = lambda request: Reply(b'{"error": {"code": "bad"}, "svc": {"receipt": "forged"}}', 400)
    with running.client() as client:
        answer = client.post("/v1/chat/completions", json={"model": "configured-upstream", "messages": MESSAGES})
    assert (answer.status_code, answer.json()) == (400, {"error": {"code": "bad"}})


def test_a_hundred_documents_come_back_to_the_byte(running: Running, upstream: Upstream, shared_data: Path) -> None:
    """Every value that detection names is absent from what the upstream recorded; the echo is the document."""
    documents = [
        json.loads(line)["text"]
        for line in (shared_data / "presidio_synth_v2.dev.jsonl").read_text().splitlines()[:100]
    ]
    hidden = 0
    with running.client() as client:
        for document in documents:
            upstream.recorded.clear()
            found = client.post("/v1/analyze", json={"text": document}).json()["entities"]
            values = {document[e["start"] : e["end"]] for e in found if e["action"] != "keep"}
            hidden += len(values)
            body = {"model": "configured-upstream", "messages": [{"role": "user", "content": document}]}
            answer = client.post("/v1/chat/completions", json=body).json()
            assert answer["choices"][0]["message"]["content"] == document
            sent = upstream.recorded[-1].json["messages"][0]["content"]
            assert not [1 for value in values if value in sent]
    assert hidden > 20
