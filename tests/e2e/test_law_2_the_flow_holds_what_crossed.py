"""Law 2: what an operator sees, and what a dump or a HAR stores, is what the upstream saw and sent."""

import json
import time
from pathlib import Path

from tests.e2e.mitmweb import everything, operator
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Upstream

CANARY = "canary.law-two@acme.test"


def _exchange(running: Running) -> str:
    with running.client() as client:
        body = {"model": "configured-upstream", "messages": [{"role": "user", "content": f"mail {CANARY}"}]}
        answer = client.post("/v1/chat/completions", json=body)
        assert CANARY in answer.text
        client.post("/v1/protect", json={"text": CANARY})
        client.post("/v1/chat/completions", json=body | {"model": "svc-demo"})
        client.post("/v1/chat/completions", json=body | {"messages": [{"role": CANARY}]})
        client.get(f"/v1/nowhere?{CANARY}")
    return str(answer.headers["x-svc-request-id"])


def test_mitmweb_shows_the_crossing_and_no_more(running: Running, upstream: Upstream) -> None:
    request_id = _exchange(running)
    sent = upstream.recorded[-1]
    with operator(running) as client:
        flow = next(f for f in client.get("/flows").json() if request_id in (f.get("comment") or ""))
        shown = client.get(f"/flows/{flow['id']}/request/content.data").content
        answered = client.get(f"/flows/{flow['id']}/response/content.data").content
        seen = everything(client)
    assert shown == sent.body
    assert json.loads(answered)["choices"][0]["message"]["content"] == sent.json["messages"][0]["content"]
    assert flow["request"]["host"] == "localhost"
    for secret in (b"canary.law-two", OPERATOR_KEY.encode(), b"upstream-key-of-the-tests"):
        assert secret not in seen


def test_a_dump_and_a_har_hold_no_more(running: Running, upstream: Upstream, tmp_path: Path) -> None:
    _exchange(running)
    with operator(running) as client:
        for command, file in (("save.file", "flows.mitm"), ("save.har", "flows.har")):
            target = tmp_path / file
            answer = client.post(f"/commands/{command}", json={"arguments": ["@all", str(target)]})
            assert answer.status_code == 200, answer.text
            stored = target.read_bytes()
            assert b"[EMAIL_ADDRESS_" in stored
            for secret in (b"canary.law-two", OPERATOR_KEY.encode(), b"upstream-key-of-the-tests"):
                assert secret not in stored


def test_while_the_upstream_thinks_nothing_private_is_shown(running: Running, upstream: Upstream) -> None:
    """The flow of an unanswered request holds no credential and no plain text either."""
    import threading

    release = threading.Event()
    default = upstream.answer

    def slow(request: object) -> object:
        release.wait(10)
        return default(request)  # type: ignore[arg-type]

    upstream.answer = slow  # type: ignore[assignment]
    thread = threading.Thread(target=_exchange, args=(running,))
    thread.start()
    try:
        with operator(running) as client:
            deadline = time.monotonic() + 10
            while not upstream.recorded and time.monotonic() < deadline:
                time.sleep(0.02)
            seen = everything(client)
    finally:
        release.set()
        thread.join(20)
    for secret in (b"canary.law-two", OPERATOR_KEY.encode(), b"upstream-key-of-the-tests"):
        assert secret not in seen


def test_options_that_break_a_law_cannot_be_set(running: Running) -> None:
    with operator(running) as client:
        for options in (
            {"stream_large_bodies": "1"},
            {"store_streamed_bodies": True},
            {"allow_hosts": []},
            {"mode": ["regular"]},
            {"http2": True},
            {"scripts": ["/tmp/any.py"]},
        ):
            assert client.put("/options", json=options).status_code == 400
