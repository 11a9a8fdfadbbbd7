"""The findings of recent requests: for the key that sent them, on both listeners, without text."""

import json
from typing import Any

import httpx
import pytest

from tests.e2e.api_keys import new_key
from tests.e2e.server import Running
from tests.e2e.upstream import Upstream

MAIL, CARD = "zebulon.quagmire@acme.test", "4111 1111 1111 1111"
CHAT = {"model": "gpt-5", "messages": [{"role": "user", "content": f"Mail {MAIL}, card {CARD}"}]}


def findings(running: Running, key: str, request_id: str) -> httpx.Response:
    with running.client(key) as client:
        return client.get(f"/v1/requests/{request_id}/findings")


def listed(answer: httpx.Response) -> list[Any]:
    assert answer.status_code == 200, answer.text
    for part in (MAIL, "zebulon", "quagmire", CARD, "1111", '"end"', '"length"'):
        assert part not in answer.text
    return [(each["type"], each["pointer"], each["reason"]) for each in answer.json()["findings"]]


def test_a_key_sees_its_own_requests_on_both_listeners(
    running: Running, upstream: Upstream, tls_upstream: Upstream
) -> None:
    key, other = new_key(running, "mine"), new_key(running, "other")
    expected = [
        ("EMAIL_ADDRESS", "/messages/0/content", "pattern"),
        ("CREDIT_CARD", "/messages/0/content", "checked_pattern"),
    ]
    headers = {"x-svc-key": key, "authorization": "Bearer of-the-provider"}
    ids: list[str] = []
    with (
        running.client(key) as client,
        httpx.Client(
            base_url=tls_upstream.url, proxy=running.proxy, verify=running.trust, headers=headers, trust_env=False
        ) as proxied,
    ):
        for sender, server in ((client, upstream), (proxied, tls_upstream)):
            answer = sender.post("/v1/chat/completions", json=CHAT)
            assert answer.status_code == 200, answer.text
            ids.append(answer.headers["x-svc-request-id"])
            found = findings(running, key, ids[-1])
            assert listed(found) == expected
            sent = json.loads(server.recorded[-1].body)["messages"][0]["content"]
            for each in found.json()["findings"]:
                assert sent[each["start"] :].startswith(each["placeholder"])
        done = client.post("/v1/protect", json={"text": f"Mail {MAIL}"}).json()
        ids.append(done["request_id"])
        assert listed(findings(running, key, ids[-1])) == [("EMAIL_ADDRESS", "/text", "pattern")]
        refused = client.post(
            "/v1/chat/completions",
            json={**CHAT, "svc_policy": "pci"} | {"messages": [{"role": "user", "content": "CVV: 123"}]},
        )
        ids.append(refused.json()["request_id"])
        why = findings(running, key, ids[-1])
        assert listed(why) == [("CVV", "/messages/0/content", "policy")]
        assert why.json()["refusal"] == "blocked_by_policy"
    unknown = [findings(running, other, each) for each in ids] + [findings(running, key, "req_0")]
    bodies = [{**answer.json(), "request_id": ""} for answer in unknown]
    assert {answer.status_code for answer in unknown} == {404}
    assert bodies == [bodies[0]] * len(bodies)
    assert bodies[0]["error"]["code"] == "findings_not_found"
    # An operator's key sees its own requests only.
    with running.client() as operator:
        assert operator.get(f"/v1/requests/{ids[0]}/findings").status_code == 404


@pytest.mark.parametrize("words", [[], ["--scope", "chat"]])
def test_any_key_may_ask(running: Running, upstream: Upstream, words: list[str]) -> None:
    key = new_key(running, "asking", *words)
    with running.client(key) as client:
        done = client.post("/v1/chat/completions", json=CHAT)
        assert len(listed(findings(running, key, done.headers["x-svc-request-id"]))) == 2
