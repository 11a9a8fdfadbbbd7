"""Analyze, protect, reconstruct and chat through a running server: every field does what the interface says of it."""

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.e2e.api_keys import new_key
from tests.e2e.server import PLAIN, Running
from tests.e2e.upstream import Upstream

# Beyond the basic plane before what is found: offsets in UTF-16 or bytes would be others.
TEXT = (
    "😀 Please summarise: my name is Wilhelmina Oxenfoord, mail w.oxenfoord@acme.test, the card is 4111 1111 1111 1111."
)
MAIL = "w.oxenfoord@acme.test"


def ok(answer: httpx.Response, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def refused(answer: httpx.Response, status: int, code: str) -> Any:
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
    assert "oxenfoord" not in answer.text.lower()
    return answer.json()["error"]


def stored(running: Running) -> tuple[int, int]:
    with closing(sqlite3.connect(running.data / "gateway.db")) as conn:
        count = "SELECT (SELECT count(*) FROM vault_sessions), (SELECT count(*) FROM receipts WHERE kind = 'receipt')"
        sessions, receipts = conn.execute(count).fetchone()
        return sessions, receipts


def grant(answer: dict[str, Any]) -> dict[str, str]:
    return {name: answer["session"][name] for name in ("session_id", "session_token")}


def test_health(running: Running) -> None:
    for headers in ({}, {"authorization": "Bearer nobody"}):
        answer = ok(httpx.get(f"{running.url}/healthz", headers=headers, trust_env=False, verify=PLAIN))
        assert answer["status"] == "ok"
        assert re.fullmatch(r"\d+\.\d+\.\d+.*", answer["version"])


def test_analyze_returns_positions_and_stores_nothing(running: Running) -> None:
    with running.client() as client:
        before = stored(running)
        answer = client.post("/v1/analyze", json={"text": TEXT, "task": "draft a reply"})
        done = ok(answer)
        assert stored(running) == before
        assert "oxenfoord" not in answer.text.lower()
        found = {entity["type"]: TEXT[entity["start"] : entity["end"]] for entity in done["entities"]}
        assert found["EMAIL_ADDRESS"] == MAIL
        assert found["PERSON"] == "Wilhelmina Oxenfoord"
        assert found["CREDIT_CARD"] == "4111 1111 1111 1111"
        assert [entity["start"] for entity in done["entities"]] == sorted(e["start"] for e in done["entities"])
        assert {entity["action"] for entity in done["entities"]} <= {"placeholder", "keep"}
        assert done["risk"]["level"] in {"medium", "high", "critical"}
        assert 0 < done["risk"]["score"] <= 100
        assert done["risk"]["reasons"]
        assert done["route"]["decision"] == "protected"
        assert {"draft", "summarise"} & set(done["task_categories"])
        assert done["policy"] == {name: done["policy"][name] for name in ("id", "version", "hash")}
        refused(client.get(f"/v1/receipts/{done['request_id']}"), 404, "receipt_not_found")
        nothing = ok(client.post("/v1/analyze", json={"text": "The sun rises in the east."}))
        assert (nothing["risk"]["level"], nothing["route"]["decision"]) == ("none", "direct")
        assert nothing["entities"] == []


def test_explain_marks_the_text_with_reasons_and_stores_nothing(running: Running) -> None:
    with running.client() as client:
        before = stored(running)
        done = ok(client.post("/v1/explain", json={"text": TEXT}))
        assert stored(running) == before
        found = {one["type"]: one for one in done["findings"]}
        assert found["CREDIT_CARD"]["reason"] == "checked_pattern"
        assert found["EMAIL_ADDRESS"]["settings"][0] == "rules.EMAIL_ADDRESS"
        assert re.search(rf"\[\d:{re.escape(MAIL)}\]", done["marked_text"])
        refused(client.get(f"/v1/receipts/{done['request_id']}"), 404, "receipt_not_found")
        refused(client.post("/v1/explain", json={"text": ""}), 422, "validation_error")


def test_policy_and_mode_are_obeyed(running: Running) -> None:
    text = "The meeting is in Bonn. Born 1980-02-29, CVV: 123."
    with running.client() as client:
        actions = {}
        for policy in ("default", "pci", "hipaa-safe-harbor"):
            done = ok(client.post("/v1/analyze", json={"text": text, "policy_id": policy}))
            assert done["policy"]["id"] == policy
            actions[policy] = [(each["type"], each["action"]) for each in done["entities"]]
        assert len({str(each) for each in actions.values()}) == 3
        modes = [
            ok(client.post("/v1/protect", json={"text": text, "privacy_mode": mode}))["transformations"]
            for mode in ("standard", "strict")
        ]
        assert len(modes[0]) <= len(modes[1])
        error = refused(client.post("/v1/protect", json={"text": text, "policy_id": "pci"}), 403, "blocked_by_policy")
        assert "CVV" in error["message"]


def test_protect_says_what_became_of_each_finding(running: Running) -> None:
    with running.client() as client:
        answer = client.post("/v1/protect", json={"text": TEXT, "task": "summarise"})
        done = ok(answer)
        assert "oxenfoord" not in answer.text.lower()
        assert len(done["transformations"]) == 3
        for each in done["transformations"]:
            assert done["protected_text"][each["protected_start"] : each["protected_end"]] == each["placeholder"]
            assert each["placeholder"].startswith(f"[{each['type']}_")
            assert each["action"] == "placeholder"
            assert 0 < each["score"] <= 1
        first = min(done["transformations"], key=lambda each: each["start"])
        assert done["protected_text"][: first["protected_start"]] == TEXT[: first["start"]]
        receipt = done["receipt"]
        assert receipt["request_id"] == done["request_id"]
        assert (receipt["operation"], receipt["policy"]) == ("protect", done["policy"])
        assert receipt["entity_counts"] == {"PERSON": 1, "EMAIL_ADDRESS": 1, "CREDIT_CARD": 1}
        assert receipt["transformation_counts"] == {"placeholder": 3}
        assert (receipt["route"], receipt["risk_level"]) == (done["route"]["decision"], done["risk"]["level"])
        assert ok(client.get(f"/v1/receipts/{done['request_id']}")) == receipt


@pytest.mark.parametrize("seconds", [60, 86400, None])
def test_a_session_lives_as_long_as_was_asked(running: Running, seconds: int | None) -> None:
    body = {"text": MAIL} | ({} if seconds is None else {"session_ttl_seconds": seconds})
    with running.client() as client:
        before = datetime.now(UTC)
        expires_at = datetime.fromisoformat(ok(client.post("/v1/protect", json=body))["session"]["expires_at"])
    lifetime = timedelta(seconds=seconds or 3600)
    assert before - timedelta(seconds=2) <= expires_at - lifetime <= datetime.now(UTC) + timedelta(seconds=2)


def test_a_session_is_continued(running: Running) -> None:
    with running.client() as client:
        first = ok(client.post("/v1/protect", json={"text": f"Write to {MAIL}."}))
        sessions = stored(running)[0]
        body = {"text": f"{MAIL} and 4111 1111 1111 1111", "session": grant(first)}
        second = ok(client.post("/v1/protect", json=body))
        assert stored(running)[0] == sessions
        assert second["session"] == first["session"]
        (placeholder,) = (each["placeholder"] for each in first["transformations"])
        assert second["protected_text"].startswith(placeholder)
        both = f"{first['protected_text']}\n{second['protected_text']}"
        opened = ok(client.post("/v1/reconstruct", json={"text": both, "session": grant(first)}))
        assert opened["text"] == f"Write to {MAIL}.\n{body['text']}"
        assert (opened["resolved"], opened["unresolved"]) == (3, [])


def test_reconstruct_goes_through_any_json(running: Running) -> None:
    with running.client() as client:
        done = ok(client.post("/v1/protect", json={"text": TEXT}))
        mail = next(each["placeholder"] for each in done["transformations"] if each["type"] == "EMAIL_ADDRESS")
        forged = "[EMAIL_ADDRESS_00000]"
        numbers: list[Any] = [0, -1.5, 2**53, True, None]
        content = {"to": [mail, {"deep": f"<{mail}>"}], "numbers": numbers, "none": forged, "empty": ["", {}, []]}
        opened = ok(client.post("/v1/reconstruct", json={"content": content, "session": grant(done)}))
        wanted = content | {"to": [MAIL, {"deep": opened["content"]["to"][1]["deep"]}]}
        assert opened["content"] == wanted
        assert MAIL in opened["content"]["to"][1]["deep"]
        assert (opened["resolved"], opened["unresolved"]) == (2, [forged])
        assert "text" not in opened
        assert opened["receipt"]["operation"] == "reconstruct"
        for plain in (mail, [mail], None, 7):
            body = {"content": plain, "session": grant(done)}
            wanted_plain = {mail: MAIL}.get(plain, plain) if isinstance(plain, str) else plain
            got = ok(client.post("/v1/reconstruct", json=body))["content"]
            assert got == ([MAIL] if isinstance(plain, list) else wanted_plain)


def test_a_session_opens_for_its_owner_with_its_token_in_its_time(running: Running) -> None:
    with running.client() as client, running.client(new_key(running, "somebody else")) as other:
        done = ok(client.post("/v1/protect", json={"text": TEXT}))
        text, own = done["protected_text"], grant(done)
        wrong = (
            own | {"session_token": own["session_token"][:-1]},
            own | {"session_id": "vs_" + "0" * 32},
            {"session_id": own["session_token"], "session_token": own["session_id"]},
        )
        answers = [client.post("/v1/reconstruct", json={"text": text, "session": each}) for each in wrong]
        answers.append(other.post("/v1/reconstruct", json={"text": text, "session": own}))
        answers.append(other.post("/v1/protect", json={"text": text, "session": own}))
        errors = [refused(answer, 404, "session_not_found") for answer in answers]
        assert len({str(error) for error in errors}) == 1
        assert ok(client.post("/v1/reconstruct", json={"text": text, "session": own}))["text"] == TEXT
        with closing(sqlite3.connect(running.data / "gateway.db")) as conn, conn:
            conn.execute("UPDATE vault_sessions SET expires_at = 1.0 WHERE session_id = ?", [own["session_id"]])
        for path in ("reconstruct", "protect"):
            error = refused(client.post(f"/v1/{path}", json={"text": text, "session": own}), 410, "session_expired")
            assert error["param"] == "session"
        # For other clients it is as if it had never existed.
        refused(other.post("/v1/reconstruct", json={"text": text, "session": own}), 404, "session_not_found")


def test_the_models_are_listed(running: Running) -> None:
    with running.client() as client:
        listed = ok(client.get("/v1/models"))
        assert listed["object"] == "list"
        names = {model["id"]: model for model in listed["data"]}
        assert {"svc-demo", "configured-upstream"} <= names.keys()
        assert all(model["object"] == "model" and model["created"] > 0 for model in listed["data"])
        assert names["svc-demo"]["owned_by"] == "svc"
        # Clients of that protocol add queries of their own.
        assert ok(client.get("/v1/models?api-version=2024-10-21")) == listed
        for name, told in names.items():
            assert ok(client.get(f"/v1/models/{name}?api-version=2024-10-21")) == told
        assert ok(client.get("/v1/models/org/a-model:tag"))["owned_by"] == "configured-upstream"


@pytest.mark.parametrize("model", ["svc-demo", "configured-upstream"])
def test_the_extensions_of_chat(running: Running, upstream: Upstream, model: str) -> None:
    body = {
        "model": model,
        "messages": [{"role": "user", "content": f"Write to {MAIL} in Bonn."}],
        "svc_task": "draft",
        "svc_policy": "strict",
        "svc_privacy_mode": "strict",
    }
    with running.client() as client:
        answer = client.post("/v1/chat/completions", json=body)
        done = ok(answer)
        note = done["svc"]
        assert note.keys() == {"request_id", "receipt", "route", "guard", "policy"}
        assert note["policy"]["id"] == "strict"
        assert note["receipt"]["policy"] == note["policy"]
        assert note["request_id"] == note["receipt"]["request_id"] == answer.headers["x-svc-request-id"]
        assert note["route"]["decision"] == note["receipt"]["route"]
        assert note["guard"]["action"] in {"pass", "flag"}
        assert MAIL in done["choices"][0]["message"]["content"]
        assert done["choices"][0]["finish_reason"] == "stop"
        assert ok(client.get(f"/v1/receipts/{note['request_id']}"))["hash"] == note["receipt"]["hash"]
        for sent in upstream.recorded:
            assert not [name for name in sent.json if name.startswith("svc_")]
        assert MAIL.encode() not in upstream.seen
        blocked = body | {"svc_policy": "pci", "messages": [{"role": "user", "content": "CVV: 123"}]}
        refused(client.post("/v1/chat/completions", json=blocked), 403, "blocked_by_policy")


def test_what_the_demo_refuses_has_a_receipt_that_says_so(running: Running) -> None:
    body = {"model": "svc-demo", "messages": [{"role": "user", "content": MAIL}], "max_tokens": 0}
    with running.client() as client:
        error = refused(client.post("/v1/chat/completions", json=body), 400, "invalid_request")
        assert error["param"] == "max_tokens"
        newest = ok(client.get("/v1/receipts", params={"limit": 1}))["data"][0]
        assert newest["outcome"]["outcome"] == "refused"
        assert newest["outcome"]["code"] == "invalid_request"


DETAILS = "My name is Wilhelmina Oxenfoord. Write to w.oxenfoord@acme.test. The card is 4111 1111 1111 1111."


def test_shard_and_a_synthesis_that_mixes_the_parts(running: Running) -> None:
    text = "\n\n".join(f"Part {n}. {DETAILS} More follows about the matter number {n}." for n in range(12))
    with running.client() as client:
        done = client.post("/v1/shard", json={"text": text, "max_compartments": 4}).json()
        parts = [each["protected_text"] for each in done["compartments"]]
        assert 2 <= len(parts) <= 4
        assert "oxenfoord" not in "".join(parts).lower()
        mixed = "\n".join(reversed(parts))
        opened = client.post("/v1/reconstruct", json={"text": mixed, "session": grant(done)}).json()
        assert opened["text"].count("w.oxenfoord@acme.test") == 12
        assert opened["unresolved"] == []
        error = refused(client.post("/v1/shard", json={"text": "One."}), 422, "validation_error")
        assert error["param"] == "text"


def test_playground_is_deterministic(running: Running) -> None:
    with running.client() as client:
        runs = [client.post("/v1/playground/run", json={"text": DETAILS, "task": "draft a reply"}).json() for _ in "ab"]
        assert runs[0]["reconstructed_text"] == runs[1]["reconstructed_text"]
        assert "oxenfoord" not in (runs[0]["protected_text"] + runs[0]["protected_answer"]).lower()
        assert "w.oxenfoord@acme.test" in runs[0]["reconstructed_text"]
        assert runs[0]["receipt"]["operation"] == "playground"
