"""Corrections by the person that they disturb: in a request, and by the commands `allow` and `deny`."""

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.cli.health_checks import check_corrections, check_ports
from gateway.config.loading import load_settings
from gateway.corrections.stored import POLL_SECONDS
from tests.e2e.api_keys import keys
from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import everything, operator
from tests.e2e.server import Running
from tests.e2e.test_full_disk import others
from tests.e2e.upstream import Recorded, Reply, Upstream, completion

ROOT = Path(__file__).resolve().parents[2]
MAIL, OTHER, BIRD = "canary.allowed@acme.test", "canary.hidden@acme.test", "Canarybird Ninefold"
SECRET = "ghp_" + "canaryToken4711" * 2 + "A1b2C3"
TEXT = f"Write to {MAIL} and {OTHER} about {BIRD}; the token is {SECRET}."
GIVEN: dict[str, Any] = {"svc_allow": [MAIL, SECRET], "svc_deny": [{"type": "PROJECT", "value": BIRD.upper()}]}


@pytest.fixture(scope="module")
def server(gateways: Gateways) -> Running:
    key = "upstream-key-of-the-tests"
    return gateways(
        *gateways.with_upstream, web=True, detection="patterns", upstream_key=key, log_level="debug", streaming="true"
    )


def chat(**more: Any) -> dict[str, Any]:
    return {"model": "configured-upstream", "messages": [{"role": "user", "content": TEXT}], **more}


def command(running: Running, value: str, *words: str) -> Any:
    """Runs a command of lists as an operator does, with a value on its standard input."""
    argv = [sys.executable, str(ROOT / "run_proxy.py"), *words, "--json", "--data-dir", str(running.data)]
    done = subprocess.run(argv, input=value.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"canary" not in done.stdout.lower()
    return json.loads(done.stdout)


def streamed(request: Recorded) -> Reply:
    """Says the last message in pieces of seven characters."""
    said = request.json["messages"][-1]["content"]
    whole = json.loads(bytes(completion({"role": "assistant"}).body))  # type: ignore[arg-type]
    events = [
        {**whole, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": piece}}]}
        for piece in (said[at : at + 7] for at in range(0, len(said), 7))
    ]
    events[-1]["choices"][0]["finish_reason"] = "stop"
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    return Reply(body.encode(), headers={"content-type": "text/event-stream"})


def test_a_request_corrects_what_is_hidden(server: Running, upstream: Upstream) -> None:
    with server.client() as client:
        answer = client.post("/v1/chat/completions", json=chat(**GIVEN)).json()
    assert MAIL.encode() in upstream.seen
    assert not any(word in upstream.seen for word in (OTHER.encode(), BIRD.encode(), SECRET.encode(), b"svc_"))
    assert answer["choices"][0]["message"]["content"] == TEXT
    note, receipt = answer["svc"], answer["svc"]["receipt"]
    assert note["guard"]["action"] == "pass", "what the caller allowed is nothing new"
    counts = {"allow": {"asked": 2, "applied": 1, "stored": 0}, "deny": {"asked": 1, "applied": 1, "stored": 0}}
    assert note["corrections"] == counts
    assert {kind: {**of, "digest": receipt["corrections"][kind]["digest"]} for kind, of in counts.items()} == receipt[
        "corrections"
    ]
    assert receipt["entity_counts"] == {"API_KEY": 1, "CUSTOM": 1, "EMAIL_ADDRESS": 1}


def test_a_streamed_answer_is_restored_with_corrections(server: Running, upstream: Upstream) -> None:
    upstream.answer = streamed
    with server.client() as client:
        body = client.post("/v1/chat/completions", json=chat(**GIVEN, stream=True)).text
    events = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: {")]
    assert "".join(each["choices"][0]["delta"].get("content", "") for each in events if each["choices"]) == TEXT
    (note,) = [each["svc"] for each in events if "svc" in each]
    assert note["corrections"]["allow"]["applied"] == 1
    assert MAIL.encode() in upstream.seen


@pytest.mark.parametrize("headers", [{}, {"x-svc-key": "KEY"}])
def test_on_the_proxy_they_need_a_gateway_key(server: Running, tls_upstream: Upstream, headers: dict[str, str]) -> None:
    if headers:
        headers = {"x-svc-key": keys(server, "create", "of the proxy")["key"]}
    with server.proxied(tls_upstream.url, authorization="Bearer of-the-provider", **headers) as client:
        answers = [
            client.post("/v1/chat/completions", json=chat(**GIVEN)),
            client.post("/v1/anything", json={"messages": [{"content": TEXT}], **GIVEN}),
        ]
    assert [answer.status_code for answer in answers] == [200, 200]
    for seen in tls_upstream.recorded:
        assert (MAIL.encode() in seen.body) == bool(headers)
        assert (BIRD.encode() in seen.body) != bool(headers)
        assert not any(word in seen.body for word in (OTHER.encode(), SECRET.encode(), b"svc_"))


def test_native_operations_take_corrections(server: Running) -> None:
    with server.client() as client:
        found = client.post("/v1/analyze", json={"text": TEXT, **GIVEN}).json()
        protected = client.post("/v1/protect", json={"text": TEXT, **GIVEN}).json()
        explained = client.post("/v1/explain", json={"text": TEXT, **GIVEN}).json()
        played = client.post("/v1/playground/run", json={"text": TEXT, **GIVEN}).json()
        long = client.post("/v1/shard", json={"text": f"{TEXT}\n\n" * 4, **GIVEN}).json()
    kept = [one["start"] for one in found["entities"] if one["action"] == "keep"]
    assert kept == [TEXT.index(MAIL)]
    assert found["corrections"]["deny"] == {"asked": 1, "applied": 1, "stored": 0}
    by_reason = {(one["reason"], one["kept"]) for one in explained["findings"]}
    assert (
        by_reason >= {("correction", None), ("pattern", "correction")} or ("checked_pattern", "correction") in by_reason
    )
    for text in (protected["protected_text"], played["protected_text"], long["compartments"][0]["protected_text"]):
        assert MAIL in text
        assert not any(word in text for word in (OTHER, BIRD, SECRET))
    for receipt in (protected["receipt"], played["receipt"], long["receipt"]):
        assert receipt["corrections"]["allow"]["applied"] == 1


def test_stored_lists_hold_from_the_next_request_on(server: Running, upstream: Upstream) -> None:
    def seen(key: str) -> tuple[bool, bool]:
        upstream.recorded.clear()
        with server.client(key) as client:
            assert client.post("/v1/chat/completions", json=chat()).status_code == 200
        assert SECRET.encode() not in upstream.seen
        return MAIL.encode() in upstream.seen, BIRD.encode() in upstream.seen

    (one, other) = (keys(server, "create", label) for label in ("one", "other"))
    assert seen(one["key"]) == (False, True)
    assert command(server, f"{MAIL}\n{SECRET}\n", "allow", "add", "-", "--for", one["key_id"])["added"] == 2
    assert command(server, BIRD, "deny", "add", "-", "--type", "PROJECT")["added"] == 1
    assert (seen(one["key"]), seen(other["key"])) == ((True, False), (False, False))
    assert command(server, "", "allow", "list")["total"] == 2
    assert command(server, MAIL, "allow", "remove", "-", "--for", one["key_id"])["removed"] == 1
    assert command(server, BIRD.lower(), "deny", "remove", "-")["removed"] == 1
    assert seen(one["key"]) == (False, True)


RESET, ROTATE, ADD = ("allow", "reset"), ("keys", "rotate", "installation"), ("deny", "add", "-", "--type", "PROJECT")


@pytest.mark.parametrize("order", [(RESET, ADD, ROTATE), (RESET, ROTATE, ADD), (ROTATE, RESET, ADD), (ADD, RESET, ADD)])
def test_a_running_gateway_reads_lists_that_were_made_after_a_new_installation_key(
    server: Running, upstream: Upstream, order: tuple[tuple[str, ...], ...]
) -> None:
    """The commands run with no request in between."""
    for words in order:
        command(server, BIRD, *words)
    with server.client() as client:
        assert client.post("/v1/chat/completions", json=chat()).status_code == 200
    assert BIRD.encode() not in upstream.seen


def test_altered_lists_make_the_gateway_unready_with_one_line_each(gateways: Gateways, upstream: Upstream) -> None:
    running = gateways(*gateways.with_upstream, log_json="true", web=False)
    own = load_settings(None, data_dir=running.data, gateway_port=running.port, proxy=False, web=False)
    before = others(running)
    command(running, BIRD, *ADD)
    assert [check.ok for check in (*check_corrections(own), *check_ports(own))] == [True, True]
    with closing(sqlite3.connect(running.data / "gateway.db")) as database, database:
        database.execute("DELETE FROM corrections")
        database.execute("UPDATE corrections_head SET revision = revision + 1")
    time.sleep(2 * POLL_SECONDS)
    with running.client() as client:
        for _ in range(3):
            calls = client.post("/v1/chat/completions", json=chat()), client.get("/readyz"), client.get("/healthz")
            assert {(call.status_code, call.json()["error"]["code"]) for call in calls} == {(503, "corrections_broken")}
        assert not upstream.recorded
        assert "\nprivacy_gateway_ready 0.0\n" in client.get("/metrics").text
        lists, port = *check_corrections(own), *check_ports(own)
        assert ("do not verify" in lists.detail, lists.ok, port.ok) == (True, False, False)
        assert "503 corrections_broken" in port.detail
        command(running, "", *RESET)
        assert client.get("/readyz").status_code == 200
        assert client.post("/v1/chat/completions", json=chat()).status_code == 200
    (failed, ended) = others(running)[len(before) :]
    assert failed == (
        "error",
        "the allow and deny lists do not verify, so every request is refused: corrections_broken",
    )
    assert ended == ("info", "the allow and deny lists verify")


def test_no_corrected_value_is_kept_or_said(server: Running, upstream: Upstream) -> None:
    """Runs after the above, with their refusals. Only flows of requests that were sent have what was sent in clear."""
    said: list[bytes] = []
    with server.client() as client:
        for given in (
            {"svc_allow": [MAIL, 7]},
            {"svc_allow": {MAIL: BIRD}},
            {"svc_allow": [MAIL * 20]},
            {"svc_deny": [{"type": BIRD, "value": OTHER}]},
            {"svc_deny": [{"type": "PROJECT", "value": BIRD, OTHER: 1}]},
            {"svc_allow": [""], "svc_deny": GIVEN["svc_deny"]},
        ):
            for path, body in (("chat/completions", chat()), ("analyze", {"text": "x"}), ("protect", {"text": "x"})):
                answer: httpx.Response = client.post(f"/v1/{path}", json={**body, **given})
                assert answer.status_code == 422
                # The name of an unknown member may be a value.
                assert (answer.json()["error"]["param"] or "svc_").startswith("svc_")
                said.append(answer.content)
        said.append(client.get("/v1/receipts", params={"limit": 500}).content)
    with operator(server) as web:
        flows = everything(web)
    kept = b"".join(path.read_bytes() for path in server.data.iterdir() if path.is_file())
    for value in (MAIL, OTHER, BIRD, BIRD.upper(), SECRET, "Canarybird", "Ninefold", "canaryToken"):
        for place in (kept, server.output().encode(), *said, *([flows] if value in {OTHER, SECRET} else [])):
            assert value.encode() not in place
