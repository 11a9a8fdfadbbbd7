"""Law 3: the receipt is durable before the protected bytes leave, and nothing that is kept or said holds more."""

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import everything, operator
from tests.e2e.server import OPERATOR_KEY, Running, gateway
from tests.e2e.upstream import Recorded, Reply, Upstream, completion, echo

CANARIES = {
    "mail": "canary.law-three@acme.test",
    "card": "4111 1111 1111 1111",
    "iban": "GB82 WEST 1234 5698 7654 32",
    "name": "Canaria Lawthreesdottir",
    "key": "sk-" + "proj-" + "canarylawthree0123456789" * 2,
}
TEXT = (
    f"My name is {CANARIES['name']}, write to {CANARIES['mail']}, card {CANARIES['card']}, "
    f"IBAN {CANARIES['iban']}, API key {CANARIES['key']}."
)


@pytest.fixture(scope="module")
def own(gateways: Gateways) -> Running:
    key = "upstream-key-of-the-tests"
    return gateways(*gateways.with_upstream, web=True, upstream_key=key, log_level="debug")


def _chat(text: str = TEXT, **more: object) -> dict[str, object]:
    return {"model": "configured-upstream", "messages": [{"role": "user", "content": text}], **more}


def test_the_receipt_is_in_the_database_when_the_request_arrives(own: Running, upstream: Upstream) -> None:
    """The upstream itself looks into the database, over a connection of its own, while it is asked."""
    counts: list[int] = []

    def looks(request: Recorded) -> Reply:
        with closing(sqlite3.connect(own.data / "gateway.db")) as database:
            tables = [row[0] for row in database.execute("select name from sqlite_master where type='table'")]
            name = next(table for table in tables if "receipt" in table)
            counts.append(database.execute(f"select count(*) from [{name}]").fetchone()[0])
        return echo(request)

    with own.client() as client:
        before = client.get("/v1/receipts").json()["total"]
        upstream.answer = looks
        answer = client.post("/v1/chat/completions", json=_chat()).json()
        assert counts == [counts[0]]
        assert counts[0] > before
        stored = client.get(f"/v1/receipts/{answer['svc']['request_id']}").json()
        receipt = answer["svc"]["receipt"]
        assert {k: v for k, v in stored.items() if k != "outcome"} == receipt
        assert stored["outcome"]["outcome"] == "answered"
        assert client.get(f"/v1/receipts/{receipt['request_id']}/verify").json()["valid"] is True


def test_no_canary_is_kept_or_said_anywhere(own: Running, upstream: Upstream) -> None:
    said: list[bytes] = []
    secrets = [value.encode() for value in CANARIES.values()]
    secrets += [value.replace(" ", "").encode() for value in CANARIES.values()]
    tokens: list[str] = []
    with own.client() as client:

        def call(method: str, path: str, **more: object) -> httpx.Response:
            answer = client.request(method, path, **more)  # type: ignore[arg-type]
            if answer.status_code >= 400 or any(
                part in path for part in ("/receipts", "/analyze", "/policies", "/findings")
            ):
                said.append(answer.content + str(dict(answer.headers)).encode())
            return answer

        assert TEXT in call("POST", "/v1/chat/completions", json=_chat()).json()["choices"][0]["message"]["content"]
        call("POST", "/v1/chat/completions", json=_chat() | {"model": "svc-demo"})
        call("POST", "/v1/analyze", json={"text": TEXT, "task": TEXT})
        session = call("POST", "/v1/protect", json={"text": TEXT, "task": TEXT}).json()
        tokens.append(session["session"]["session_token"])
        opened = call(
            "POST",
            "/v1/reconstruct",
            json={
                "text": session["protected_text"],
                "session": {k: session["session"][k] for k in ("session_id", "session_token")},
            },
        )
        assert opened.json()["text"] == TEXT
        found = call("GET", f"/v1/requests/{session['request_id']}/findings").json()
        assert {each["reason"] for each in found["findings"]} >= {"pattern", "checked_pattern"}
        call("GET", "/v1/receipts")
        for value in CANARIES.values():
            for path in ("/v1/protect", "/v1/analyze", "/v1/explain", "/v1/reconstruct", "/v1/chat/completions"):
                call("POST", path, content=value)
                call("POST", path, json={value: value})
                call("POST", path, json={"text": [value], "messages": value, "model": value})
                call("POST", path, json={"text": 1, "messages": [{"role": value}], "model": "svc-demo"})
                call("POST", path, json={"text": "x", "policy_id": value, "privacy_mode": value})
                call("POST", path, json={"text": "x", "session": {"session_id": value, "session_token": value}})
                call("GET", path, params={"q": value})
            assert call("POST", "/v1/receipt-search", json={"value": value}).json()["total"] >= 3
            call("POST", "/v1/receipt-search", json={"value": [value], value: value})
            call("POST", "/v1/receipt-search", json={"value": value * 300}, params={"limit": value})
            call("GET", f"/v1/receipts/{value}")
            call("GET", f"/v1/policies/{value}")
            call("GET", f"/v1/{value}")
            call("POST", "/v1/chat/completions", json=_chat() | {"model": value})
            call("POST", "/v1/chat/completions", json=_chat() | {"svc_policy": value})
            call("GET", "/v1/receipts", params={"limit": value, "offset": value})
            call("GET", "/v1/receipts", headers={"authorization": f"Bearer {value}"})
        upstream.answer = lambda _: Reply(json.dumps({"error": "boom"}).encode(), 500)
        call("POST", "/v1/chat/completions", json=_chat())
        upstream.answer = lambda _: completion({"role": "assistant", "content": "no"})
    with operator(own) as web:
        said.append(everything(web))
    kept = b"".join(path.read_bytes() for path in own.data.iterdir() if path.is_file())
    log = own.output().encode()
    for secret in [
        *secrets,
        *(token.encode() for token in tokens),
        OPERATOR_KEY.encode(),
        b"upstream-key-of-the-tests",
    ]:
        assert secret not in kept
        assert secret not in log
        assert not [text[max(0, text.find(secret) - 700) :][:900] for text in said if secret in text]


def test_the_id_of_an_error_leads_to_its_receipt(tmp_path: Path) -> None:
    """An upstream that cannot be reached: the answer is made below the hooks, and still names its receipt."""
    with gateway(tmp_path, "--upstream", "http://127.0.0.1:9/v1") as running, running.client() as client:
        answer = client.post("/v1/chat/completions", json=_chat())
        assert answer.status_code == 502
        request_id = answer.json()["request_id"]
        receipt = client.get(f"/v1/receipts/{request_id}")
        assert receipt.status_code == 200
        assert receipt.json()["outcome"]["outcome"] == "upstream_error"


def test_nothing_is_sent_without_a_store(tmp_path: Path, upstream: Upstream) -> None:
    """A database that cannot be written is a refusal."""
    with gateway(tmp_path, "--upstream", f"{upstream.url}/v1") as running, running.client() as client:
        assert client.post("/v1/chat/completions", json=_chat()).status_code == 200
        upstream.recorded.clear()
        holder = sqlite3.connect(running.data / "gateway.db", isolation_level=None, check_same_thread=False)
        holder.execute("begin exclusive")
        try:
            results: list[int] = []

            def ask() -> None:
                with running.client() as other:
                    other.timeout = 60
                    results.append(other.post("/v1/chat/completions", json=_chat()).status_code)

            thread = threading.Thread(target=ask)
            thread.start()
            thread.join(1.5)
            assert not upstream.recorded
            thread.join(45)
            assert results == [503]
            assert not upstream.recorded
        finally:
            holder.execute("rollback")
            holder.close()
        assert client.post("/v1/chat/completions", json=_chat()).status_code == 200


@pytest.mark.parametrize("file", ["gateway.db", "gateway.db-wal"])
def test_nothing_is_sent_with_a_file_of_the_store_deleted(tmp_path: Path, upstream: Upstream, file: str) -> None:
    """And the receipts that were given out before are there again after a crash, if only the log was deleted."""
    with gateway(tmp_path, "--upstream", f"{upstream.url}/v1") as running, running.client() as client:
        given = [client.post("/v1/chat/completions", json=_chat()) for _ in range(3)]
        assert [answer.status_code for answer in given] == [200, 200, 200]
        upstream.recorded.clear()
        (running.data / file).unlink()
        assert client.post("/v1/chat/completions", json=_chat()).status_code == 503
        assert client.get("/healthz").status_code == 503
        assert not upstream.recorded
        running.process.kill()
        running.process.wait(30)
    if file == "gateway.db-wal":
        with gateway(tmp_path, "--upstream", f"{upstream.url}/v1") as running, running.client() as client:
            for answer in given:
                request_id = answer.json()["svc"]["request_id"]
                assert client.get(f"/v1/receipts/{request_id}/verify").json()["valid"]
