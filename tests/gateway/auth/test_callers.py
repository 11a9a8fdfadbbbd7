"""Identifies who sent a call, and refuses keys that are not valid."""

from hashlib import sha256

import pytest

from gateway.auth.api_keys import KeyRing
from gateway.auth.callers import Callers
from gateway.auth.credential_digests import CredentialDigests
from gateway.auth.credentials import KeySearch
from gateway.auth.key_permissions import grant_of
from gateway.auth.quotas import Quotas
from gateway.auth.rate_limit import RateLimiter
from gateway.errors import Forbidden, Unauthorized
from gateway.http.types import Field
from gateway.models import Scope
from gateway.store import Store


@pytest.fixture
def ring(store: Store) -> KeyRing:
    return KeyRing(store, poll_seconds=0.0)


@pytest.fixture
def callers(ring: KeyRing, store: Store) -> Callers:
    return Callers(ring, RateLimiter(0), Quotas(store), KeySearch(), b"d" * 32, CredentialDigests(b"k" * 32))


def bearer(secret: str) -> list[Field]:
    return [(b"authorization", f"Bearer {secret}".encode())]


def ours(secret: str) -> list[Field]:
    return [(b"x-svc-key", secret.encode()), (b"authorization", b"Bearer of-the-provider")]


async def test_wrong_keys_are_refused_on_both_listeners_and_a_valid_one_is_accepted_meanwhile(
    ring: KeyRing, callers: Callers
) -> None:
    secret, record = await ring.create("laptop", Scope.CLIENT)
    assert len(secret) >= len("svck_") + 256 / 6
    for number in range(10):
        for identify in (
            lambda wrong: callers.authenticate(bearer(wrong)),
            lambda wrong: callers.authenticate_proxied("/v1/x", ours(wrong)),
        ):
            with pytest.raises(Unauthorized) as refused:
                identify(f"svck_{number}")
            assert refused.value.code == "unauthorized"
    assert callers.authenticate(bearer(secret)).key_id == record.key_id
    assert callers.authenticate_proxied("/v1/x", ours(secret)).key_id == record.key_id


async def test_an_expired_key_is_named_as_such(store: Store, callers: Callers, ring: KeyRing) -> None:
    secret, record = await ring.create("laptop", Scope.CLIENT)
    digest, end = sha256(secret.encode()).digest(), record.created_at.isoformat()
    await store.write(lambda stored: stored.keys.rotate(record.key_id, digest, end, end, end))
    await ring.load()
    for fields, code in ((bearer(secret), "key_expired"), ([], "unauthorized")):
        with pytest.raises(Unauthorized) as refused:
            callers.identify(fields)
        assert refused.value.code == code


async def test_a_proxy_client_needs_the_scope_only_with_a_gateway_key(ring: KeyRing, callers: Callers) -> None:
    scope, grant = grant_of(["protect"])
    secret, _ = await ring.create("laptop", scope, grant)
    with pytest.raises(Forbidden):
        callers.authenticate_proxied("/v1/x", ours(secret))
    assert callers.authenticate_proxied("/v1/x", ours(secret)[1:]).key_id.startswith("proxy_")


async def test_a_call_has_the_id_of_its_key(ring: KeyRing, callers: Callers) -> None:
    secret, record = await ring.create("laptop", Scope.CLIENT)
    digest = CredentialDigests(b"k" * 32).digest(b"of-the-provider")
    assert callers.audited(bearer(secret)) == (record.key_id, "")
    assert callers.audited([], f"/v1beta/models?key={secret}") == (record.key_id, "")
    # Where `key` is a parameter of the call.
    assert callers.audited([], f"/v1/usage?key={secret}") == (None, "")
    assert callers.audited(bearer("svck_wrong")) == ("", "")
    assert callers.audited(bearer("x" * 1000)) == ("", "")
    assert callers.audited([]) == (None, "")
    assert callers.audited(ours(secret)) == callers.audited(ours(secret), proxied=True) == (record.key_id, digest)
    assert callers.audited(ours("svck_wrong"), proxied=True) == ("", digest)
    assert callers.audited(bearer("svck_wrong"), proxied=True) == ("", "")


async def test_a_proxy_client_is_known_by_its_credential(ring: KeyRing, callers: Callers) -> None:
    secret, record = await ring.create("laptop", Scope.CLIENT)
    digest = CredentialDigests(b"k" * 32).digest(b"of-the-provider")
    provider, both = callers.identify_proxied("/v1/x", bearer("of-the-provider")), ours(secret)
    assert callers.audited(bearer("of-the-provider"), proxied=True) == (provider.key_id, provider.credential)
    assert (provider.key_id[:6], provider.credential) == ("proxy_", digest)
    for caller in (callers.identify_proxied("/v1/x", both), callers.identify(both)):
        assert (caller.key_id, caller.label, caller.credential) == (record.key_id, "laptop", digest)
    anonymous = callers.identify_proxied("/v1/x", [])
    signed = [(b"authorization", b"AWS4-HMAC-SHA256 Credential=a, Signature=b")]
    assert callers.audited([], proxied=True) == callers.audited(signed, proxied=True) == (anonymous.key_id, "")
