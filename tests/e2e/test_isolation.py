"""Two clients with keys of their own: each operation on each thing, by its owner, the other client, and an operator."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from tests.e2e.api_keys import keys
from tests.e2e.mitmweb import wait_for
from tests.e2e.server import Running
from tests.e2e.upstream import Recorded, Reply, Upstream

TEXT = "My name is Wilhelmina Oxenfoord, mail w.oxenfoord@acme.test."
POLICY = {"id": "of-the-tests", "title": "Of the tests", "rules": {"PERSON": {"action": "placeholder"}}}


@dataclass
class Owner:
    """A client with a key, and what it owns: a session, a protected text, and the receipt of that."""

    key_id: str
    client: httpx.Client
    session: dict[str, str]
    text: str
    request_id: str


@pytest.fixture(scope="module")
def clients(running: Running) -> Iterator[list[tuple[str, httpx.Client]]]:
    made = [keys(running, "create", label) for label in ("anna", "bert")]
    with running.client(made[0]["key"]) as anna, running.client(made[1]["key"]) as bert:
        yield [(made[0]["key_id"], anna), (made[1]["key_id"], bert)]


@pytest.fixture
def owners(clients: list[tuple[str, httpx.Client]]) -> list[Owner]:
    return [owner(*each) for each in clients]


def owner(key_id: str, client: httpx.Client) -> Owner:
    done = client.post("/v1/protect", json={"text": TEXT}).json()
    session = {name: done["session"][name] for name in ("session_id", "session_token")}
    return Owner(key_id, client, session, done["protected_text"], done["request_id"])


# Each on what an owner has: the method, the path and the body.
type Call = tuple[str, str, dict[str, Any] | None]
OPERATIONS: dict[str, Callable[[Owner], Call]] = {
    "session: reconstruct": lambda of: ("POST", "/v1/reconstruct", {"text": of.text, "session": of.session}),
    "session: continue": lambda of: ("POST", "/v1/protect", {"text": of.text, "session": of.session}),
    "session: extend": lambda of: ("POST", "/v1/sessions/extend", {"session": of.session}),
    "receipt: read": lambda of: ("GET", f"/v1/receipts/{of.request_id}", None),
    "receipt: verify": lambda of: ("GET", f"/v1/receipts/{of.request_id}/verify", None),
    "receipt: anchor": lambda of: ("GET", f"/v1/receipts/{of.request_id}/anchor-payload", None),
    "session: revoke": lambda of: ("POST", "/v1/sessions/revoke", {"session": of.session}),
}


def call(client: httpx.Client, wanted: Call) -> httpx.Response:
    method, path, body = wanted
    return client.request(method, path, json=body)


def said(answer: httpx.Response) -> tuple[int, object]:
    return answer.status_code, {name: value for name, value in answer.json().items() if name != "request_id"}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("caller", "other"), [(0, 1), (1, 0), (0, 0), (1, 1)])
def test_each_operation_is_for_the_owner(owners: list[Owner], operation: str, caller: int, other: int) -> None:
    of, it = OPERATIONS[operation], owners[other]
    answer = call(owners[caller].client, of(it))
    if caller == other:
        assert answer.status_code == 200, answer.text
        return
    # As if it had never existed: the message is that for an id that does not exist.
    nobody = replace(it, session=unknown(it), request_id="req_" + "0" * 32)
    assert said(answer) == said(call(owners[caller].client, of(nobody)))
    assert answer.status_code == 404
    assert "oxenfoord" not in answer.text.lower()


def unknown(of: Owner) -> dict[str, str]:
    return of.session | {"session_id": "vs_" + "0" * 32}


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if name.startswith("session")])
def test_a_wrong_token_is_as_wrong_as_an_unknown_id(owners: list[Owner], operation: str) -> None:
    of, right = OPERATIONS[operation], owners[0]
    wrong = replace(right, session=right.session | {"session_token": "vst_" + "0" * 43})
    nobody = replace(right, session=unknown(right))
    assert said(call(right.client, of(wrong))) == said(call(right.client, of(nobody)))
    assert call(right.client, of(right)).status_code == 200


@pytest.mark.parametrize(("caller", "other"), [(0, 1), (1, 0)])
def test_lists_hold_nothing_of_others(owners: list[Owner], caller: int, other: int) -> None:
    listed = owners[caller].client.get("/v1/receipts", params={"limit": 500}).json()
    ids = {receipt["request_id"] for receipt in listed["data"]}
    assert owners[caller].request_id in ids
    assert owners[other].request_id not in ids
    assert listed["total"] == len(ids)
    assert owners[other].key_id not in json.dumps(listed)


@pytest.mark.parametrize("caller", [0, 1])
@pytest.mark.parametrize(
    "wanted",
    [
        ("POST", "/v1/policies", POLICY),
        ("GET", "/v1/usage", None),
        ("POST", "/v1/playground/run", {"text": "A"}),
        ("POST", "/v1/receipt-search", {"value": "A"}),
    ],
)
def test_what_concerns_all_is_for_operators(owners: list[Owner], running: Running, caller: int, wanted: Call) -> None:
    assert call(owners[caller].client, wanted).status_code == 403
    with running.client() as operator:
        assert call(operator, wanted).status_code in {200, 201}
        # A policy is for everyone to use.
        assert call(owners[caller].client, ("GET", "/v1/policies/default", None)).status_code == 200


def test_what_the_provider_stores_for_another_client_stays_closed(
    running: Running, clients: list[tuple[str, httpx.Client]], upstream: Upstream
) -> None:
    """Both use the gateway's key for the provider, so it tells each what it keeps for the other."""
    stored: list[str] = []

    def keeps(request: Recorded) -> Reply:
        if request.body and "previous_response_id" not in request.json:
            stored.append(request.json["input"])
        part = {"type": "output_text", "text": stored[0], "annotations": []}
        message = {"type": "message", "id": "msg_1", "role": "assistant", "content": [part]}
        return Reply(json.dumps({"id": "resp_stored", "object": "response", "output": [message]}).encode())

    upstream.answer = keeps
    anna, bert = (client for _, client in clients)
    asked = {"model": "configured-upstream", "input": TEXT}
    assert TEXT in anna.post("/v1/responses", json=asked).text
    assert TEXT in anna.get("/v1/responses/resp_stored").text
    later = {"previous_response_id": "resp_stored"}
    for answer in (bert.get("/v1/responses/resp_stored"), bert.post("/v1/responses", json=asked | later)):
        assert answer.status_code == 200
        assert stored[0] in answer.text
        assert "oxenfoord" not in answer.text.lower()


def test_an_operator_reads_every_receipt_but_opens_no_session(running: Running, owners: list[Owner]) -> None:
    with running.client() as operator:
        for name, of in OPERATIONS.items():
            assert call(operator, of(owners[0])).status_code == (404 if name.startswith("session") else 200)


def test_a_revoked_key_ends_what_only_it_could_open(running: Running, owners: list[Owner]) -> None:
    made = keys(running, "create", "soon-revoked")
    with running.client(made["key"]) as client:
        revoked = owner(made["key_id"], client)
        keys(running, "revoke", made["key_id"])
        wait_for(lambda: client.get("/v1/policies").status_code == 401)
        for of in OPERATIONS.values():
            assert call(client, of(revoked)).status_code == 401
    for other in owners:
        assert other.client.get("/v1/receipts").status_code == 200
        assert call(other.client, OPERATIONS["session: reconstruct"](revoked)).status_code == 404
