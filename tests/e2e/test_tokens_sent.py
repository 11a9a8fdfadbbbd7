"""`usage` counts the tokens that were sent to upstreams: those of requests that really were."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.server import Running, free_port, gateway
from tests.e2e.upstream import Reply, Upstream

TEXT = "Charge 4111 1111 1111 1111 and write to anna.schmidt@acme.test, please, today."
NATIVE: dict[str, Any] = {
    "/v1/protect": {"text": TEXT},
    "/v1/analyze": {"text": TEXT},
    "/v1/shard": {"text": f"{TEXT} And one more. {TEXT}"},
    "/v1/playground/run": {"text": TEXT},
}


BLOCKED = [{"role": "user", "content": f"{TEXT} The CVV is 123."}]


def chat(model: str, **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": TEXT}], **more}


@pytest.fixture
def served(tmp_path: Path, upstream: Upstream) -> Iterator[Running]:
    settings = tmp_path / "gateway.toml"
    table = '[upstreams.{}]\nbase_url = "{}/v1"\nmodels = ["{}-1"]\n'
    urls = {"answering": upstream.url, "refusing": f"http://127.0.0.1:{free_port()}"}
    settings.write_text("streaming = true\n" + "".join(table.format(name, url, name) for name, url in urls.items()))
    with gateway(tmp_path, "--config", str(settings), environment={"SVC_DETECTION": "patterns"}) as running:
        yield running


def usage(client: httpx.Client, outcomes: int) -> Any:
    """Waits until the meters have this many outcomes, and returns them."""
    while sum((meters := client.get("/v1/usage").json())["outcomes"].values()) < outcomes:
        time.sleep(0.05)
    return meters


def test_only_what_was_sent_counts(served: Running, upstream: Upstream) -> None:
    with served.client() as client:
        for path, body in NATIVE.items():
            assert client.post(path, json=body).status_code == 200
        assert client.post("/v1/chat/completions", json=chat("svc-demo")).status_code == 200
        assert (
            client.post(
                "/v1/chat/completions", json={"model": "answering-1", "svc_policy": "pci", "messages": BLOCKED}
            ).status_code
            == 403
        )
        assert client.post("/v1/chat/completions", json=chat("answering-1", n="x")).status_code == 400
        assert client.post("/v1/chat/completions", json=chat("refusing-1")).status_code == 502
        used = usage(client, 5)
        assert used["tokens"]["external"] == 0
        assert used["tokens"]["input"] > 100
        assert not upstream.recorded

        events = (
            b'data: {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
        )
        answers = (
            Reply(json.dumps({"choices": []}).encode()),
            Reply(b'{"error": {"message": "no"}}', 500),
            Reply(b"", 302, {"location": "http://elsewhere.test/"}),
            Reply(b"not JSON"),
            Reply(events, headers={"content-type": "text/event-stream"}),
        )
        sent = 0
        for number, reply in enumerate(answers, 1):
            upstream.answer = lambda _, reply=reply: reply
            stream = {"stream": True} if b"data:" in reply.body else {}
            answer = client.post("/v1/chat/completions", json=chat("answering-1", **stream))
            used = usage(client, 5 + number)
            receipt = client.get(f"/v1/receipts/{answer.headers['x-svc-request-id']}").json()
            assert receipt["outcome"]["tokens_sent"] == receipt["tokens"]["external"] > 10
            sent += receipt["tokens"]["external"]
            assert used["tokens"]["external"] == sent
        assert used["days"][0]["tokens"]["external"] == sent
        assert len(upstream.recorded) == len(answers)
