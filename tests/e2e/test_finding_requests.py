"""An operator finds the requests in question: live, in lists, meters and the audit, by the same filters."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.cli.tail import Follower
from gateway.store.rows import ReceiptFilter
from run_proxy import main
from tests.e2e.api_keys import new_key
from tests.e2e.mitmweb import wait_for
from tests.e2e.server import Running, gateway

CHAT = {"model": "svc-demo", "messages": [{"role": "user", "content": "Write to w.oxenfoord@acme.test."}]}


def send(client: httpx.Client) -> list[str]:
    """Sends a chat, a refused chat, and a text to protect; returns their ids."""
    replies = [
        client.post("/v1/chat/completions", json=CHAT),
        client.post("/v1/chat/completions", json={**CHAT, "svc_policy": "no-such-policy"}),
        client.post("/v1/protect", json={"text": "Call +49 30 901820.", "policy_id": "strict"}),
    ]
    assert [reply.status_code for reply in replies] == [200, 404, 200]
    return [reply.headers["x-svc-request-id"] for reply in replies]


def printed(capsys: pytest.CaptureFixture[str], running: Running, *words: str) -> Any:
    """Runs a command next to the gateway, and returns the JSON that it prints."""
    assert main([*words, "--json", "--data-dir", str(running.data), "--certs-dir", str(running.certs)]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_requests_are_found_while_the_gateway_runs_and_after_a_restart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with gateway(tmp_path) as running:
        laptop, desk = new_key(running, "laptop"), new_key(running, "desk")
        refusals = Follower(running.data, ReceiptFilter(outcomes=("refused",)), 0)
        assert refusals.look() == []
        with running.client(laptop) as client:
            chat, refused, protect = send(client)
            hers = client.get("/v1/receipts", params={"key": "desk"}).json()
        with running.client(desk) as client:
            others = send(client)
            own = client.get("/v1/receipts", params={"key": ["laptop", "desk"], "operation": "chat"}).json()
        assert (hers["total"], [each["request_id"] for each in own["data"]]) == (0, [others[1], others[0]])
        seen: dict[str, tuple[str, str, str]] = {}

        def both_refusals() -> bool:
            for each in refusals.look():
                seen[each["request_id"]] = (each["label"], each["outcome"]["code"], each["policy"]["id"])
            return len(seen) == 2

        assert wait_for(both_refusals)
        why = ("policy_not_found", "default")
        assert seen == {refused: ("laptop", *why), others[1]: ("desk", *why)}
        refusals_of = {"key": "laptop", "outcome": "refused"}
        filters: list[tuple[dict[str, str], str]] = [
            (refusals_of, refused),
            ({"key": "laptop", "type": "EMAIL_ADDRESS", "since": "1h"}, chat),
            ({"key": "laptop", "policy": "strict", "operation": "protect"}, protect),
        ]
        with running.client() as operator:
            for query, request_id in filters:
                words = [word for name, value in query.items() for word in (f"--{name}", value)]
                page = operator.get("/v1/receipts", params=query).json()
                assert [each["request_id"] for each in page["data"]] == [request_id]
                assert printed(capsys, running, "receipts", "list", *words)["data"] == page["data"]
                meters = operator.get("/v1/usage", params=query).json()
                assert meters["total_operations"] == 1
                assert printed(capsys, running, "usage", *words) == meters
            uses = wait_for(lambda: operator.get("/v1/keys/audit", params=refusals_of).json()["data"])
            assert [(use["outcome"], use["request_id"]) for use in uses] == [("policy_not_found", refused)]
            of_policy = operator.get("/v1/keys/audit", params={"policy": "strict", "key": "desk"}).json()["data"]
            assert [(use["call"], use["request_id"]) for use in of_policy] == [("protect", others[2])]
    with gateway(tmp_path) as running, running.client(laptop) as client:
        again = send(client)
        (found,) = wait_for(refusals.look)
        assert found["request_id"] == again[1]
