"""A client's key at every endpoint: it reads no list of a policy, and nothing that counts the requests of others."""

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import rfc8785

from tests.e2e.api_keys import new_key
from tests.e2e.mitmweb import wait_for
from tests.e2e.server import Running
from tests.e2e.test_key_limits import CHAT
from tests.e2e.upstream import Upstream
from tests.openapi import native

SECRETS = ("Nightingale", "press@acme.test", "KESTREL-[0-9]{4}")
POLICY = {
    "id": "of-the-house",
    "title": "House",
    "description": "Ours.",
    "extends": "default",
    "deny": [{"type": "PROJECT", "terms": [SECRETS[0]]}],
    "allow": [{"values": [SECRETS[1]]}],
    "patterns": [{"name": "kestrel", "type": "KESTREL", "regex": SECRETS[2], "score": 0.9}],
}
# Members that tell how long the log is, or how much others send.
COUNTS = {
    "sequence",
    "salt",
    "previous_hash",
    "log",
    "size",
    "tree_size",
    "leaf_index",
    "inclusion",
    "checkpoint",
    "detail",
}
TEXT = {"text": "Write to anna@acme.test. " * 40, "policy_id": POLICY["id"]}
BODIES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("analyze", "explain", "protect", "shard", "playground"), TEXT),
    "chat": {**CHAT, "svc_policy": POLICY["id"]},
    "create_policy": POLICY,
}
OPEN = {"healthz", "readyz", "livez"}
OPERATORS_ONLY = {"create_policy", "retire_policy", "find_receipts", "key_audit", "metrics", "playground", "usage"}


def names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from names(member)
    elif isinstance(value, list):
        for item in value:
            yield from names(item)


def digest(record: dict[str, Any], **more: Any) -> str:
    """The hash of a record as docs/receipt-format.md has it."""
    body = {name: value for name, value in record.items() if name not in {"hash", "signature"}}
    return sha256(rfc8785.dumps(body | more)).hexdigest()


def test_the_hash_of_a_receipt_confirms_no_position(running: Running) -> None:
    with running.client() as operator, running.client(new_key(running, "a client")) as client:
        asked = client.post("/v1/chat/completions", json=CHAT | {"model": "svc-demo"})
        path = f"/v1/receipts/{asked.headers['x-svc-request-id']}"
        whole = wait_for(lambda: next((reply for reply in [operator.get(path).json()] if "outcome" in reply), None))
        shown = client.get(path).json()
        hidden = {"salt", "sequence", "previous_hash"}
    pairs = [(whole.pop("outcome"), shown.pop("outcome")), (whole, shown)]
    for complete, known in pairs:
        assert digest(complete) == known["hash"]
        assert complete.keys() - known.keys() == hidden
        assert digest(known, **{name: complete[name] for name in hidden}) == known["hash"]
        assert digest(known, **{name: complete[name] for name in hidden - {"salt"}}) != known["hash"]
    assert len({complete["salt"] for complete, _ in pairs}) == 2


def test_nothing_changes_when_others_send_something(running: Running) -> None:
    with running.client() as operator, running.client(new_key(running, "a client")) as client:
        path = f"/v1/receipts/{client.post('/v1/protect', json={'text': 'Mail anna@acme.test'}).json()['request_id']}"
        views = ("", "/verify", "/anchor-payload")
        before = [client.get(path + view).json() for view in views]
        for _ in range(300):
            assert operator.post("/v1/analyze", json={"text": "Nothing."}).status_code == 200
        assert [client.get(path + view).json() for view in views] == before
    assert [check["name"] for check in before[1]["checks"]] == ["hash", "signature", "filing", "policy", "log"]


def test_every_endpoint(running: Running, upstream: Upstream) -> None:
    with running.client() as operator, running.client(new_key(running, "a client")) as client:
        assert operator.post("/v1/policies", json=POLICY).status_code == 201
        foreign = operator.post("/v1/protect", json=TEXT).json()["request_id"]
        done = client.post("/v1/protect", json=TEXT).json()
        session = {name: done["session"][name] for name in ("session_id", "session_token")}
        bodies = {
            **BODIES,
            "reconstruct": {"text": done["protected_text"], "session": session},
            "extend_session": {"session": session, "session_ttl_seconds": 600},
            "revoke_session": {"session": session},
        }
        places = {"request_id": done["request_id"], "policy_id": POLICY["id"], "model": "svc-demo"}
        document = client.get("/openapi.json").json()
        asked = set()
        for path, methods in native(document).items():
            for method, operation in methods.items():
                name = operation["operationId"]
                answer = client.request(method, path.format(**places), json=bodies.get(name))
                assert answer.status_code == (403 if name in OPERATORS_ONLY else 200), (name, answer.text)
                asked.add(name)
                if name in OPEN:
                    continue
                assert COUNTS.isdisjoint(names(answer.json())), name
                seen = answer.text + str(answer.headers)
                assert not any(secret in seen for secret in SECRETS), name
                assert foreign not in seen, name
        assert asked >= {*bodies, *OPERATORS_ONLY, "policies", "receipts", "verify", "anchor"}
        newest = operator.get(f"/v1/policies/{POLICY['id']}").json()
        assert all(newest[name] for name in ("deny", "allow", "patterns"))
        older = client.get(f"/v1/policies/{POLICY['id']}", params={"hash": newest["hash"]}).json()
        assert older == {name: each for name, each in newest.items() if name not in {"deny", "allow", "patterns"}}


def test_the_headers_of_an_answer_hold_no_number_of_the_log(running: Running, upstream: Upstream) -> None:
    with running.client() as operator, running.client(new_key(running, "a client")) as client:
        answer = client.post("/v1/chat/completions", json=CHAT)
        receipt = operator.get(f"/v1/receipts/{answer.headers['x-svc-request-id']}").json()
        assert answer.headers["x-svc-receipt"] == receipt["hash"]
        assert answer.json()["svc"]["receipt"]["hash"] == receipt["hash"]
        assert str(receipt["sequence"]) not in {value for name, value in answer.headers.items() if "svc" in name}


def test_a_client_without_a_key_sees_no_more(running: Running) -> None:
    with running.stranger() as client:
        assert client.get("/healthz").json().keys() == {"status", "version"}
        for path, methods in client.get("/openapi.json").json()["paths"].items():
            for method, operation in methods.items():
                if operation["operationId"] not in OPEN:
                    place = re.sub(r"{\w+}", "x", path)
                    for headers in ({}, {"authorization": "Bearer svck_of-nobody"}):
                        assert client.request(method, place, headers=headers).status_code == 401
