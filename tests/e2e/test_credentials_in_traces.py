"""Operators see which credential of a provider made which calls, by a keyed digest, and never the credential."""

from collections.abc import Iterator

import pytest

from gateway.auth.credential_digests import CredentialDigests
from tests.e2e.api_keys import keys
from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import everything, operator, wait_for
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.traces import Trace, lines_of, next_lines, pages
from tests.e2e.upstream import Upstream

SECRET = "sk-canary-of-the-provider-4711"
CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture(scope="module")
def served(gateways: Gateways) -> Iterator[Running]:
    yield gateways(*gateways.with_upstream, web=True, log_json="true", log_level="debug")


@pytest.mark.parametrize(
    ("headers", "proxied"),
    [
        ({"authorization": f"Bearer {SECRET}"}, True),
        ({"x-api-key": SECRET}, True),
        ({"api-key": SECRET}, True),
        ({"x-svc-key": OPERATOR_KEY, "authorization": f"Bearer {SECRET}"}, True),
        ({"x-svc-key": OPERATOR_KEY, "authorization": f"Bearer {SECRET}"}, False),
    ],
)
def test_receipt_line_and_audit_have_its_digest(
    served: Running, tls_upstream: Upstream, upstream: Upstream, headers: dict[str, str], proxied: bool
) -> None:
    before = len(lines_of(served))
    with served.proxied(tls_upstream.url, **headers) if proxied else served.stranger(**headers) as client:
        answer = client.post("/v1/chat/completions", json=CHAT)
        refused = client.post("/v1/chat/completions", json={**CHAT, "svc_policy": "no-such-policy"})
    assert (answer.status_code, refused.status_code) == (200, 404)
    digest = CredentialDigests((served.data / "installation.key").read_bytes()).digest(SECRET.encode())
    key_id = "key_environment" if "x-svc-key" in headers else lines_of(served, before)[0]["key_id"]
    assert key_id == "key_environment" or key_id.startswith("proxy_")
    ids = [each.headers["x-svc-request-id"] for each in (answer, refused)]
    who = {"credential": digest, "key_id": key_id}
    for line, request_id in zip(next_lines(served, before, 2), ids, strict=True):
        assert {name: line[name] for name in ("request_id", *who)} == {"request_id": request_id, **who}
    with served.client() as client:
        for request_id in ids:
            receipt = client.get(f"/v1/receipts/{request_id}").json()
            assert {receipt["credential"], receipt["api_key_id"]} == {digest, key_id}

        def audited() -> list[Trace] | None:
            found = [use for use in pages(client, "/v1/keys/audit") if use["request_id"] in ids]
            return found if len(found) == len(ids) else None

        uses = wait_for(audited)
    assert {use["outcome"] for use in uses} == {"forwarded", "policy_not_found"}
    assert all({name: use[name] for name in who} == who for use in uses)
    assert {use["request_id"] for use in keys(served, "audit")} >= set(ids)


def test_it_is_nowhere_itself(served: Running) -> None:
    with operator(served) as web:
        shown = everything(web)
    kept = b"".join(path.read_bytes() for path in served.data.iterdir() if path.is_file())
    assert b"cred_" in kept
    assert SECRET.encode() not in shown + kept + served.output().encode()
