"""Limits of a key in a running gateway: each wire gets the refusal in its own shape, without the key."""

import time
from typing import Any

import httpx
import pytest

from tests.e2e.api_keys import keys, new_key
from tests.e2e.server import PLAIN, Running
from tests.e2e.upstream import Reply, Upstream

CHAT = {"model": "gpt-5", "messages": [{"role": "user", "content": "Mail anna@acme.test"}]}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "Mail anna@acme.test"}]}]}
# The path, the header of the key, the body, and further headers.
CALLS: dict[str, tuple[str, str, dict[str, Any], dict[str, str]]] = {
    "openai": ("/v1/chat/completions", "x-api-key", CHAT, {}),
    "anthropic": ("/v1/messages", "x-api-key", {**CHAT, "max_tokens": 9}, {"anthropic-version": "2023-06-01"}),
    "gemini": ("/v1beta/models/gemini-9:generateContent", "x-goog-api-key", GEMINI, {}),
}


def call(running: Running, wire: str, key: str) -> httpx.Response:
    path, header, body, more = CALLS[wire]
    answer = httpx.post(
        running.url + path, json=body, headers={header: key, **more}, trust_env=False, verify=PLAIN, timeout=30
    )
    assert key not in answer.text + str(answer.headers)
    return answer


def error(wire: str, answer: httpx.Response) -> tuple[int, str]:
    """The status, and the gateway's code where the wire's clients find it."""
    said = answer.json()
    match wire:
        case "openai":
            code = said["error"]["code"]
        case "anthropic":
            assert said["type"] == "error"
            code = said["error"]["details"]["error_code"]
        case _:
            assert said["error"]["code"] == answer.status_code
            code = said["error"]["details"][0]["metadata"]["code"]
    return answer.status_code, code


@pytest.mark.parametrize("wire", CALLS)
def test_each_wire_gets_refusals_in_its_own_shape(running: Running, upstream: Upstream, wire: str) -> None:
    scoped = new_key(running, "limited", "--scope", "analyze")
    assert error(wire, call(running, wire, scoped)) == (403, "scope_not_permitted")
    used = new_key(running, "limited", "--quota", "requests=1/month")
    call(running, wire, used)
    answer = call(running, wire, used)
    assert error(wire, answer) == (429, "quota_exceeded")
    assert int(answer.headers["retry-after"]) > 0
    assert all("anna" not in str(each.body) for each in upstream.recorded)


def test_models_and_policies_of_a_key(running: Running, upstream: Upstream) -> None:
    key = new_key(running, "limited", "--model", "gpt-*", "--policy", "pci", "--policy", "gdpr")
    with running.client(key) as client:
        done = client.post("/v1/chat/completions", json=CHAT)
        assert done.json()["svc"]["policy"]["id"] == "pci"
        upstream.recorded.clear()
        for change, code, param in (
            ({"model": "o3"}, "model_not_permitted", "model"),
            ({"models": ["gpt-5", "o3"]}, "model_not_permitted", "model"),
            ({"models": "o3"}, "model_not_permitted", "model"),
            ({"fallbacks": ["o3"]}, "model_not_permitted", "model"),
            ({"fallbacks": [{"model": "o3"}]}, "model_not_permitted", "model"),
            ({"fallbacks": [{"gpt-5": ["o3"]}]}, "model_not_permitted", "model"),
            ({"svc_policy": "secrets-only"}, "policy_not_permitted", "svc_policy"),
        ):
            refused = client.post("/v1/chat/completions", json={**CHAT, **change})
            assert refused.status_code == 403
            assert (refused.json()["error"]["code"], refused.json()["error"]["param"]) == (code, param)
        assert not upstream.recorded
        assert client.post("/v1/protect", json={"text": "A", "policy_id": "gdpr"}).json()["policy"]["id"] == "gdpr"
        for path in ("analyze", "protect", "shard"):
            refused = client.post(f"/v1/{path}", json={"text": "A", "policy_id": "default"})
            assert (refused.status_code, refused.json()["error"]["param"]) == (403, "policy_id")


def test_a_key_permits_every_model_that_a_call_to_gemini_names(running: Running, tls_upstream: Upstream) -> None:
    headers = {"x-svc-key": new_key(running, "limited", "--model", "gemini-9"), "x-goog-api-key": "the-providers-key"}
    tls_upstream.answer = lambda _: Reply(b'{"totalTokens": 3}')
    with running.proxied(tls_upstream.url) as client:

        def status(method: str, body: dict[str, Any]) -> int:
            return client.post(f"/v1beta/models/gemini-9:{method}", json=body, headers=headers).status_code

        tls_upstream.recorded.clear()
        part = {"parts": [{"text": "Mail anna@acme.test"}]}
        for other in ("models/gemini-ultra", "gemini-ultra", "tunedModels/gemini-9", 9):
            for name in ("generateContentRequest", "generate_content_request"):
                assert status("countTokens", {name: {**GEMINI, "model": other}}) == 403
            assert status("countTokens", {**GEMINI, "model": other}) == 403
            assert status("batchEmbedContents", {"requests": [{"model": other, "content": part}]}) == 403
        assert not tls_upstream.recorded
        for same in ("models/gemini-9", "gemini-9"):
            assert status("countTokens", {"generateContentRequest": {**GEMINI, "model": same}}) == 200


def test_scopes_of_native_calls(running: Running) -> None:
    calls = {
        "analyze": [("POST", "/v1/analyze"), ("POST", "/v1/explain")],
        "protect": [
            ("POST", "/v1/protect"),
            ("POST", "/v1/shard"),
            ("POST", "/v1/sessions/extend"),
            ("POST", "/v1/sessions/revoke"),
        ],
        "reconstruct": [("POST", "/v1/reconstruct")],
        "receipts:read": [
            ("GET", f"/v1/receipts{rest}") for rest in ("", "/req_1", "/req_1/verify", "/req_1/anchor-payload")
        ],
        "chat": [("POST", "/v1/chat/completions"), ("POST", "/v1/responses"), ("POST", "/v1/embeddings")],
    }
    for scope in calls:
        with running.client(new_key(running, "limited", "--scope", scope)) as client:
            for needed, places in calls.items():
                for method, path in places:
                    answer = client.request(method, path, json={} if method == "POST" else None)
                    is_refused = answer.status_code == 403 and answer.json()["error"]["code"] == "scope_not_permitted"
                    assert is_refused == (needed != scope), path
            for path in ("/v1/models", "/v1/policies", "/v1/payments/x402"):
                assert client.get(path).status_code == 200
            assert client.get("/v1/usage").status_code == 403


def test_characters_of_every_call_count(running: Running) -> None:
    key = new_key(running, "limited", "--quota", "characters=100/day")
    with running.client(key) as client:
        assert client.post("/v1/analyze", json={"text": "a" * 50}).status_code == 200
        assert client.post("/v1/protect", json={"text": "a" * 51}).status_code == 429
        assert client.post("/v1/protect", json={"text": "a" * 50}).status_code == 200
        assert client.post("/v1/chat/completions", json={**CHAT, "model": "svc-demo"}).status_code == 429


def test_the_proxy_heeds_the_key_that_a_client_sends(running: Running, tls_upstream: Upstream) -> None:
    with running.proxied(tls_upstream.url) as client:
        for words, method, path, code in (
            (("--scope", "protect"), "POST", "/v1/chat/completions", "scope_not_permitted"),
            (("--scope", "protect"), "GET", "/v1/models", "scope_not_permitted"),
            (("--scope", "protect"), "POST", "/v1/unknown", "scope_not_permitted"),
            (("--model", "o3"), "POST", "/v1/chat/completions", "model_not_permitted"),
            (("--model", "gpt-*"), "POST", "/openai/deployments/o3/chat/completions", "model_not_permitted"),
        ):
            headers = {"x-svc-key": new_key(running, "limited", *words), "authorization": "Bearer the-provider's-key"}
            refused = client.request(method, path, json=CHAT if method == "POST" else None, headers=headers)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, code)
    assert not tls_upstream.recorded


def test_what_a_key_owns_survives_its_rotation(running: Running) -> None:
    made = keys(running, "create", "rotated")
    with running.client(made["key"]) as client:
        done = client.post("/v1/protect", json={"text": "Mail anna@acme.test"}).json()
        rotated = keys(running, "rotate", made["key_id"], "--overlap", "0h")
    grant = {name: done["session"][name] for name in ("session_id", "session_token")}
    with running.client(rotated["key"]) as client:
        restored = client.post("/v1/reconstruct", json={"text": done["protected_text"], "session": grant}).json()
        assert restored["text"] == "Mail anna@acme.test"
        assert client.get(f"/v1/receipts/{done['request_id']}").status_code == 200


def test_what_keys_were_used_for(running: Running, upstream: Upstream, tls_upstream: Upstream) -> None:
    made, other = (keys(running, "create", "audited", "--scope", scope) for scope in ("chat", "protect"))
    context = running.trust
    tls_upstream.answer = lambda _: Reply(b"{}")
    with (
        running.client(made["key"]) as client,
        running.client(other["key"]) as second,
        httpx.Client(base_url=tls_upstream.url, proxy=running.proxy, verify=context, trust_env=False) as proxied,
    ):
        for model in ("gpt-5", "svc-demo"):
            assert client.post("/v1/chat/completions", json={**CHAT, "model": model}).status_code == 200
        client.post("/v1/protect", json={"text": "Mail zebulon@acme.test"})
        client.get("/v1/receipts/zebulon@acme.test")
        second.post("/v1/protect", json={"text": "Mail zebulon@acme.test"})
        second.post("/v1/protect", json={"note": "Mail zebulon@acme.test"})
        second.get("/v1/models")
        proxied.get("/v1/models/zebulon", headers={"x-svc-key": made["key"]})
        proxied.get("/v1/models/zebulon", headers={"x-svc-key": "svck_of-nobody"})
        assert client.get("/v1/keys/audit").status_code == 403

    def found() -> dict[tuple[str | None, str, str], int]:
        with running.client() as operator:
            page = operator.get("/v1/keys/audit", params={"limit": 500})
        assert all(text not in page.text for text in ("zebulon", made["key"], other["key"], "svck_"))
        counts: dict[tuple[str | None, str, str], int] = {}
        for use in page.json()["data"]:
            name = (use["key_id"], use["call"], use["outcome"])
            counts[name] = counts.get(name, 0) + use["count"]
        return counts

    wanted = {
        (made["key_id"], "chat-completions", "forwarded"): 1,
        (made["key_id"], "chat-completions", "answered"): 1,
        (made["key_id"], "protect", "scope_not_permitted"): 1,
        (made["key_id"], "receipt", "scope_not_permitted"): 1,
        (made["key_id"], "key_audit", "forbidden"): 1,
        (made["key_id"], "other", "forwarded"): 1,
        (other["key_id"], "protect", "answered"): 1,
        (other["key_id"], "protect", "validation_error"): 1,
        (other["key_id"], "models", "answered"): 1,
    }
    for _ in range(600):
        counts = found()
        mine = {name: count for name, count in counts.items() if name[0] in {made["key_id"], other["key_id"]}}
        if mine == wanted:
            break
        time.sleep(0.05)
    assert mine == wanted
    assert counts[None, "other", "unauthorized"] >= 1
    shown = keys(running, "audit", "--limit", "500")
    assert {use["label"] for use in shown if use["key_id"] == made["key_id"]} == {"audited"}
