"""Policies, receipts, usage and limits through a running server: every field does what the interface says of it."""

import os
import sqlite3
import tomllib
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.e2e import preloaded
from tests.e2e.api_keys import new_key
from tests.e2e.conftest import Gateways
from tests.e2e.server import PLAIN, Running, gateway
from tests.e2e.test_native_text import ok, refused
from tests.gateway.receipts.verifier import check_inclusion, check_receipt

TEXT = "My name is Wilhelmina Oxenfoord. Write to w.oxenfoord@acme.test."
CHAT = {"model": "svc-demo", "messages": [{"role": "user", "content": TEXT}]}


def test_policies_are_read_in_pages_and_by_name(running: Running) -> None:
    with running.client(new_key(running, "reader of policies")) as client:
        every = ok(client.get("/v1/policies"))
        assert (every["object"], every["limit"], every["offset"]) == ("list", 50, 0)
        assert every["total"] == len(every["data"]) >= 6
        pages = [ok(client.get("/v1/policies", params={"limit": 2, "offset": n}))["data"] for n in range(0, 6, 2)]
        assert [each for page in pages for each in page] == every["data"][:6]
        beyond = ok(client.get("/v1/policies", params={"offset": every["total"]}))
        assert (beyond["data"], beyond["total"]) == ([], every["total"])
        hashed = set()
        for policy in every["data"]:
            assert ok(client.get(f"/v1/policies/{policy['id']}")) == policy
            resolved = {name: value for name, value in policy.items() if name != "hash"}
            # Lists that are not empty are for operators, and the hash is over them, too.
            if resolved.keys() >= {"allow", "deny", "patterns"}:
                assert sha256(rfc8785.dumps(resolved)).hexdigest() == policy["hash"]
                hashed.add(policy["id"])
            assert policy["version"] >= 1
            assert policy["rules"]
        assert hashed >= {"default", "strict", "secrets-only"}
        assert {policy["builtin"] for policy in every["data"][:6]} == {True}


def test_a_policy_is_never_changed(running: Running) -> None:
    document: dict[str, Any] = {"id": "versions", "title": "Versions", "extends": "default", "description": "One."}
    document["deny"] = [{"terms": ["Project Nightingale"], "type": "PROJECT"}]
    with running.client() as client:
        first = client.post("/v1/policies", json=document)
        assert ok(first, 201)["version"] == 1
        assert first.headers["location"] == "/v1/policies/versions"
        assert ok(client.get(first.headers["location"])) == first.json()
        # To say the same again makes nothing new.
        assert ok(client.post("/v1/policies", json=document), 201) == first.json()
        protected = ok(
            client.post("/v1/protect", json={"text": f"{TEXT} project nightingale", "policy_id": "versions"})
        )
        assert "nightingale" not in protected["protected_text"]
        used = protected["receipt"]
        second = ok(client.post("/v1/policies", json=document | {"description": "Two."}), 201)
        assert second["version"] == 2
        assert second["hash"] != first.json()["hash"]
        assert ok(client.get("/v1/policies/versions")) == second
        assert used["policy"] == {name: first.json()[name] for name in ("id", "version", "hash")}
        # The document that an older receipt names can still be shown, under its own name only.
        named = used["policy"]
        assert ok(client.get(f"/v1/policies/{named['id']}", params={"hash": named["hash"]})) == first.json()
        assert ok(client.get("/v1/policies/versions", params={"hash": second["hash"]})) == second
        refused(client.get("/v1/policies/default", params={"hash": named["hash"]}), 404, "policy_not_found")
        checks = ok(client.get(f"/v1/receipts/{used['request_id']}/verify"))["checks"]
        assert {"name": "policy", "ok": True} in checks


def test_a_policy_in_toml_is_that_in_json(running: Running) -> None:
    text = 'id = "of-toml"\ntitle = "Of TOML"\nextends = "default"\n[[deny]]\ntype = "PROJECT"\nterms = ["Aurora"]\n'
    with running.client() as client:
        for kind in ("application/toml", "Application/TOML; charset=utf-8"):
            made = client.post("/v1/policies", content=text, headers={"content-type": kind})
            assert ok(made, 201)["version"] == 1
        assert ok(client.post("/v1/policies", json=tomllib.loads(text)), 201) == made.json()
        for content, kind, status, code, param in (
            (text, "text/plain", 415, "unsupported_media_type", "Content-Type"),
            (text, "application/json", 400, "invalid_json", None),
            ('{"id": "of-toml"}', "application/toml", 422, "validation_error", None),
            ("id = Zebulon", "application/toml", 422, "validation_error", None),
            (text + "Zebulon = 1979-05-27\n", "application/toml", 422, "validation_error", "deny.0.Zebulon"),
            ("a = " + "[" * 5000, "application/toml", 422, "validation_error", None),
            ("#" * 70_000, "application/toml", 413, "body_too_large", None),
            (" ", "application/toml", 400, "invalid_json", None),
        ):
            answer = client.post("/v1/policies", content=content, headers={"content-type": kind})
            refused(answer, status, code)
            assert answer.json()["error"]["param"] == param
            assert "Zebulon" not in answer.json()["error"]["message"] or param
        # Nothing else is read as TOML.
        answer = client.post("/v1/protect", content=f'text = "{TEXT}"', headers={"content-type": "application/toml"})
        refused(answer, 415, "unsupported_media_type")


def test_a_retired_policy_is_refused_and_its_receipts_still_verify(running: Running) -> None:
    document = {"id": "retiring", "title": "Retiring", "extends": "default"}
    chat = CHAT | {"svc_policy": "retiring"}
    with running.client() as client, running.client(new_key(running, "a client")) as other:
        made = ok(client.post("/v1/policies", json=document), 201)
        receipt = ok(client.post("/v1/chat/completions", json=chat))["svc"]["receipt"]
        assert receipt["policy"] == (ref := {name: made[name] for name in ("id", "version", "hash")})
        refused(other.delete("/v1/policies/retiring"), 403, "forbidden")
        for builtin in ("default", "strict"):
            refused(client.delete(f"/v1/policies/{builtin}"), 409, "conflict")
        gone = ok(client.delete("/v1/policies/retiring"))
        assert gone == ref | {"retired": True, "request_id": gone["request_id"]}
        for path, body, param in (
            ("chat/completions", chat, "svc_policy"),
            ("protect", {"text": TEXT, "policy_id": "retiring"}, "policy_id"),
        ):
            answer = other.post(f"/v1/{path}", json=body)
            refused(answer, 404, "policy_retired")
            assert answer.json()["error"]["param"] == param
        refused(other.get("/v1/policies/retiring"), 404, "policy_retired")
        refused(client.delete("/v1/policies/retiring"), 404, "policy_retired")
        refused(client.delete("/v1/policies/quagmire"), 404, "policy_not_found")
        assert ok(client.get("/v1/policies/retiring", params={"hash": made["hash"]})) == made
        assert ok(client.get(f"/v1/receipts/{receipt['request_id']}/verify"))["valid"]
        again = ok(client.post("/v1/policies", json=document), 201)
        assert (again["version"], ok(other.post("/v1/chat/completions", json=chat))["svc"]["policy"]["version"]) == (
            2,
            2,
        )
        client.delete("/v1/policies/retiring")
    lines = running.output()
    assert f"policy retiring@1 is installed by key_environment, hash {made['hash']}" in lines
    assert "policy retiring is retired up to version 1 by key_environment" in lines


def test_receipts_are_listed_newest_first(running: Running) -> None:
    with running.client() as operator, running.client(new_key(running, "lister")) as client:
        made = [ok(client.post("/v1/protect", json={"text": TEXT}))["request_id"] for _ in range(5)]
        assert ok(client.post("/v1/chat/completions", json=CHAT))["svc"]["receipt"]["operation"] == "chat"
        page = ok(client.get("/v1/receipts", params={"limit": 3, "offset": 1}))
        assert (page["total"], page["limit"], page["offset"]) == (6, 3, 1)
        assert [each["request_id"] for each in page["data"]] == made[:1:-1]
        assert [each["request_id"] for each in ok(client.get("/v1/receipts"))["data"]][1:] == made[::-1]
        every = ok(operator.get("/v1/receipts", params={"limit": 500}))
        assert set(made) < {each["request_id"] for each in every["data"]}
        sequences = [each["sequence"] for each in every["data"]]
        assert sequences == sorted(sequences, reverse=True)
        for path in ("", "/verify", "/anchor-payload"):
            foreign = ok(operator.post("/v1/protect", json={"text": TEXT}))["request_id"]
            refused(client.get(f"/v1/receipts/{foreign}{path}"), 404, "receipt_not_found")
            assert operator.get(f"/v1/receipts/{made[0]}{path}").status_code == 200


def test_the_receipts_of_a_value_are_found(running: Running) -> None:
    text = "My name is Theodora Quillfeather. Write to t.quillfeather@acme.test. Her card is 5555 5555 5555 4444."
    chat = {"model": "svc-demo", "messages": [{"role": "user", "content": text}]}
    with running.client() as operator, running.client(new_key(running, "sender")) as client:
        made = [ok(client.post("/v1/protect", json={"text": text}))["request_id"]]
        made.append(ok(client.post("/v1/chat/completions", json=chat))["svc"]["request_id"])
        made.append(ok(client.post("/v1/shard", json={"text": text}))["request_id"])
        ok(client.post("/v1/protect", json={"text": TEXT}))

        def find(value: str, **page: int) -> Any:
            return ok(operator.post("/v1/receipt-search", json={"value": value}, params=page))

        for value in ("theodora  QUILLFEATHER", "T.Quillfeather@acme.test", "5555-5555-5555-4444"):
            found = find(value)
            assert [each["request_id"] for each in found["data"]] == made[::-1]
            assert value not in str(found)
        assert found["data"][1]["outcome"]["outcome"] == "answered"
        assert ok(operator.get(f"/v1/receipts/{made[1]}/verify"))["valid"]
        page = find("Theodora Quillfeather", limit=1, offset=1)
        assert [each["request_id"] for each in page["data"]] == [made[1]]
        assert (page["total"], page["limit"], page["offset"]) == (3, 1, 1)
        assert find("nobody.knows@acme.test")["data"] == []
        refused(client.post("/v1/receipt-search", json={"value": "Theodora Quillfeather"}), 403, "forbidden")
        for wrong in ("", "x" * 4097, None, ["x"]):
            refused(operator.post("/v1/receipt-search", json={"value": wrong}), 422, "validation_error")


def test_a_receipt_with_its_outcome_is_verified(running: Running) -> None:
    with running.client() as client:
        note = ok(client.post("/v1/chat/completions", json=CHAT))["svc"]
        receipt = ok(client.get(f"/v1/receipts/{note['request_id']}"))
        outcome = receipt["outcome"]
        assert (outcome["outcome"], outcome["receipt_hash"]) == ("answered", receipt["hash"])
        assert outcome["tokens"]["input"] > 0
        assert outcome["guard"]["action"] == note["guard"]["action"]
        verification = ok(client.get(f"/v1/receipts/{note['request_id']}/verify"))
        assert verification["valid"] is True
        names = {check["name"] for check in verification["checks"]}
        common = {"hash", "signature", "filing", "head", "checkpoint", "policy"}
        common |= {"outcome_hash", "outcome_signature", "outcome_receipt"}
        # A short log is read whole. Whether it is short here depends on the tests before.
        assert names in (common | {"chain", "tree"}, common | {"inclusion"})
        assert verification["log"]["size"] >= outcome["sequence"]
        anchor = ok(client.get(f"/v1/receipts/{note['request_id']}/anchor-payload"))
        text, _, _ = anchor["checkpoint"].partition("\n\n")
        assert sha256(f"{text}\n".encode()).hexdigest() == anchor["payload_hash"]
        assert (anchor["receipt_hash"], anchor["outcome_hash"]) == (receipt["hash"], outcome["hash"])
        assert (anchor["algorithm"], anchor["submitted"]) == ("sha-256", False)
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(anchor["public_key"]))
        check_receipt(receipt, [key])
        check_inclusion(receipt, anchor, [key])


def test_usage_counts_what_is_done(running: Running) -> None:
    with running.client() as client:
        before = ok(client.get("/v1/usage"))
        ok(client.post("/v1/protect", json={"text": TEXT}))
        ok(client.post("/v1/analyze", json={"text": TEXT}))
        note = ok(client.post("/v1/chat/completions", json=CHAT))["svc"]
        # Reading the receipt waits for its outcome.
        ok(client.get(f"/v1/receipts/{note['request_id']}"))
        after = ok(client.get("/v1/usage"))

    def grown(*path: str) -> int:
        old, new = before, after
        for name in path:
            old, new = old.get(name, {}), new[name]
        return new - (old or 0)  # type: ignore[no-any-return]

    assert grown("total_operations") == 2
    assert (grown("operations", "protect"), grown("operations", "chat"), grown("outcomes", "answered")) == (1, 1, 1)
    assert (grown("entities", "PERSON"), grown("transformations", "placeholder")) == (2, 4)
    assert grown("routes", "protected") == 2
    assert min(grown("tokens", name) for name in before["tokens"].keys() - {"external"}) > 0
    assert grown("tokens", "external") == 0
    assert sum(day["total_operations"] for day in after["days"]) == after["total_operations"]


def test_settlement_is_disabled(running: Running) -> None:
    with running.client(new_key(running, "payer")) as client:
        state = ok(client.get("/v1/payments/x402"))
        assert state.keys() == {"enabled", "status", "protocol", "missing_evidence"}
        assert (state["enabled"], state["status"], state["protocol"]) == (False, "disabled", "x402")
        assert all(each["code"] and each["description"] for each in state["missing_evidence"])


@pytest.fixture(scope="module")
def limited(gateways: Gateways) -> Running:
    return gateways(rate_limit_per_minute="4", detection="patterns")


def test_a_key_has_a_rate_and_learns_when_to_retry(limited: Running) -> None:
    keys = [new_key(limited, name) for name in ("hasty", "calm")]
    with limited.client(keys[0]) as hasty, limited.client(keys[1]) as calm:
        answers = [hasty.get("/v1/models") for _ in range(7)]
        assert [answer.status_code for answer in answers] == [200] * 4 + [429] * 3
        for answer in answers[4:]:
            assert 1 <= int(answer.headers["retry-after"]) <= 60
            error = answer.json()["error"]
            assert (error["code"], error["type"]) == ("rate_limited", "rate_limit_error")
        # It holds for every path, for what is not there, and before a body is read.
        for path in ("/v1/protect", "/v1/chat/completions", "/v1/policies", "/v1/nothing"):
            assert hasty.post(path, content=b"no JSON").status_code == 429
        assert calm.get("/v1/models").status_code == 200
        demo = {"model": "svc-demo", "messages": [{"role": "user", "content": "hello"}]}
        answers = [calm.post("/v1/chat/completions", json=demo) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200] * 3 + [429]
        assert hasty.get("/healthz").status_code == 200


def test_the_command_line_sees_what_the_server_does(running: Running) -> None:
    with running.client() as client:
        made = ok(client.post("/v1/protect", json={"text": TEXT}))["receipt"]
    for words, wanted in (
        (("receipts", "show", made["request_id"]), made["hash"]),
        (("receipts", "list", "--limit", "500"), made["hash"]),
        (("usage",), "total_operations"),
        (("receipts", "verify", "--all"), '"valid": true'),
    ):
        done = preloaded.run([*words, "--json", "--data-dir", str(running.data)], os.environ, running.data)
        assert wanted in done.stdout
        assert (done.returncode, done.stderr) == (0, "")


def test_damage_is_reported_by_the_server_too(tmp_path: Path) -> None:
    with gateway(tmp_path) as running, running.client() as client:
        made: list[dict[str, Any]] = [ok(client.post("/v1/protect", json={"text": TEXT}))["receipt"] for _ in range(3)]
        with closing(sqlite3.connect(running.data / "gateway.db")) as conn, conn:
            conn.execute("UPDATE receipts SET body = replace(body, '\"PERSON\":1', '\"PERSON\":0') WHERE sequence = 2")
        for receipt in made:
            done = ok(client.get(f"/v1/receipts/{receipt['request_id']}/verify"))
            assert done["valid"] is False
            chain = next(check for check in done["checks"] if check["name"] == "chain")
            assert chain["detail"].startswith("breaks at sequence 2:")
        with closing(sqlite3.connect(running.data / "gateway.db")) as conn, conn:
            conn.execute("UPDATE receipts SET body = 'no JSON' WHERE sequence = 3")
        shown = ok(client.get(f"/v1/receipts/{made[2]['request_id']}"))
        assert shown["damaged"] is True
        health = httpx.get(f"{running.url}/healthz", trust_env=False, verify=PLAIN)
        assert (health.status_code, health.json()["error"]["code"]) == (503, "receipt_log_broken")
