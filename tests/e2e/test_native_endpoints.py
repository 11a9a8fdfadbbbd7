"""The native endpoints through a running server: each with what it promises, and the errors it documents."""

import json

import httpx

from tests.e2e.api_keys import new_key
from tests.e2e.server import PLAIN, Running

TEXT = "My name is Wilhelmina Oxenfoord. Write to w.oxenfoord@acme.test. The card is 4111 1111 1111 1111."


def test_shard_and_a_synthesis_that_mixes_the_parts(running: Running) -> None:
    text = "\n\n".join(f"Part {n}. {TEXT} More follows about the matter number {n}." for n in range(12))
    with running.client() as client:
        done = client.post("/v1/shard", json={"text": text, "max_compartments": 4}).json()
        parts = [each["protected_text"] for each in done["compartments"]]
        assert 2 <= len(parts) <= 4
        assert "oxenfoord" not in "".join(parts).lower()
        grant = {name: done["session"][name] for name in ("session_id", "session_token")}
        mixed = "\n".join(reversed(parts))
        opened = client.post("/v1/reconstruct", json={"text": mixed, "session": grant}).json()
        assert opened["text"].count("w.oxenfoord@acme.test") == 12
        assert opened["unresolved"] == []
        refused = client.post("/v1/shard", json={"text": "One."})
        assert refused.status_code == 422
        assert refused.json()["error"]["param"] == "text"


def test_playground_is_deterministic_and_for_operators(running: Running) -> None:
    with running.client() as client, running.client(new_key(running, "player")) as other:
        runs = [client.post("/v1/playground/run", json={"text": TEXT, "task": "draft a reply"}).json() for _ in "ab"]
        assert runs[0]["reconstructed_text"] == runs[1]["reconstructed_text"]
        assert "oxenfoord" not in (runs[0]["protected_text"] + runs[0]["protected_answer"]).lower()
        assert "w.oxenfoord@acme.test" in runs[0]["reconstructed_text"]
        assert runs[0]["receipt"]["operation"] == "playground"
        assert other.post("/v1/playground/run", json={"text": TEXT}).status_code == 403


def test_custom_policies_are_versions(running: Running) -> None:
    document = {"id": "house-rules", "title": "House", "description": "Ours.", "extends": "default"}
    document["deny"] = [{"terms": ["Project Nightingale"], "type": "PROJECT"}]  # type: ignore[assignment]
    with running.client() as client:
        made = client.post("/v1/policies", json=document)
        assert made.status_code == 201, made.text
        assert client.get("/v1/policies/house-rules").json()["hash"] == made.json()["hash"]
        text = {"text": "About project nightingale.", "policy_id": "house-rules"}
        assert "nightingale" not in client.post("/v1/protect", json=text).json()["protected_text"]
        taken = client.post("/v1/policies", json=document | {"id": "strict"})
        assert taken.status_code == 409
        listed = client.get("/v1/policies").json()
        assert {"default", "strict", "house-rules"} <= {each["id"] for each in listed["data"]}


def test_receipts_pages_anchor_usage_and_settlement(running: Running) -> None:
    with running.client() as client, running.client(new_key(running, "reader")) as other:
        mine = other.post("/v1/protect", json={"text": TEXT}).json()["receipt"]
        page = other.get("/v1/receipts", params={"limit": 1}).json()
        assert page["total"] == 1
        assert page["data"][0]["request_id"] == mine["request_id"]
        foreign = client.post("/v1/protect", json={"text": TEXT}).json()["receipt"]["request_id"]
        assert other.get(f"/v1/receipts/{foreign}").status_code == 404
        anchor = other.get(f"/v1/receipts/{mine['request_id']}/anchor-payload").json()
        assert anchor["submitted"] is False
        assert anchor["receipt_hash"] == mine["hash"]
        assert client.get("/v1/usage").status_code == 200
        assert other.get("/v1/usage").status_code == 403
        state = client.get("/v1/payments/x402").json()
        assert (state["enabled"], state["status"]) == (False, "disabled")
        assert state["missing_evidence"]
        for bad in ({"limit": 0}, {"limit": 501}, {"offset": -1}, {"limit": "x"}):
            assert client.get("/v1/receipts", params=bad).status_code == 422


def test_documentation_is_served_without_outside_assets(running: Running) -> None:
    page = httpx.get(f"{running.url}/docs", trust_env=False, verify=PLAIN)
    assert page.status_code == 200
    assert "https://" not in page.text
    assert (
        httpx.get(f"{running.url}/docs/assets/swagger-ui-bundle.js", trust_env=False, verify=PLAIN).status_code == 200
    )
    document = httpx.get(f"{running.url}/openapi.json", trust_env=False, verify=PLAIN).json()
    assert "/v1/protect" in document["paths"]
    assert json.dumps(document)


def test_every_path_needs_a_key_but_the_open_ones(running: Running) -> None:
    document = httpx.get(f"{running.url}/openapi.json", trust_env=False, verify=PLAIN).json()
    for path, methods in document["paths"].items():
        for method in methods:
            answer = httpx.request(
                method, running.url + path.replace("{", "").replace("}", ""), trust_env=False, verify=PLAIN
            )
            assert answer.status_code == (200 if path == "/healthz" else 401), path
            if path != "/healthz":
                assert answer.json()["error"]["code"] == "unauthorized"
