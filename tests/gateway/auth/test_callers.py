"""Who sent a call, and what happens to whoever sends keys that are not valid."""

import pytest

from gateway.auth.api_keys import KeyRing
from gateway.auth.callers import Callers
from gateway.auth.credentials import KeySearch
from gateway.auth.grants import grant_of
from gateway.auth.quotas import Quotas
from gateway.auth.rate_limit import RateLimiter
from gateway.errors import Forbidden, TooManyRequests, Unauthorized
from gateway.http.types import Field
from gateway.models import Scope
from gateway.store import Store

HERE, THERE = ("192.0.2.1", 1), ("192.0.2.2", 1)


@pytest.fixture
def ring(store: Store) -> KeyRing:
    return KeyRing(store, poll_seconds=0.0)


@pytest.fixture
def callers(ring: KeyRing, store: Store) -> Callers:
    return Callers(ring, RateLimiter(0), Quotas(store), KeySearch(), b"d" * 32)


def bearer(secret: str) -> list[Field]:
    return [(b"authorization", f"Bearer {secret}".encode())]


def ours(secret: str) -> list[Field]:
    return [(b"x-svc-key", secret.encode()), (b"authorization", b"Bearer of-the-provider")]


async def test_guesses_lock_out_the_address_on_both_listeners_and_no_valid_key(ring: KeyRing, callers: Callers) -> None:
    secret, record = await ring.create("laptop", Scope.CLIENT)
    with pytest.raises(Unauthorized):
        callers.authenticate(bearer("svck_first"), client=HERE)
    for number in range(10):
        with pytest.raises(Unauthorized):
            callers.authenticate(bearer(f"svck_a{number}"), client=HERE)
        with pytest.raises(Unauthorized):
            callers.authenticate_proxied("/v1/x", ours(f"svck_b{number}"), client=HERE)
    with pytest.raises(TooManyRequests, match="invalid keys"):
        callers.identify(bearer("svck_other"), client=HERE)
    with pytest.raises(TooManyRequests, match="invalid keys"):
        callers.identify_proxied("/v1/x", ours("svck_other"), client=HERE)
    assert callers.authenticate(bearer(secret), client=HERE).key_id == record.key_id
    assert callers.authenticate_proxied("/v1/x", ours(secret), client=HERE).key_id == record.key_id
    with pytest.raises(Unauthorized):
        callers.identify(bearer("svck_other"), client=THERE)


async def test_keys_that_are_missing_or_expired_are_no_guesses(store: Store, callers: Callers, ring: KeyRing) -> None:
    expired = [(await ring.create("laptop", Scope.CLIENT))[0] for _ in range(2)]
    await store.write(lambda stored: stored.db.conn.execute("UPDATE keys SET expires_at = created_at"))  # type: ignore[attr-defined]
    await ring.load()
    for number in range(60):
        with pytest.raises(Unauthorized) as refused:
            callers.identify(bearer(expired[number % 2]) if number % 3 else [], client=HERE)
        assert refused.value.code == ("key_expired" if number % 3 else "unauthorized")


async def test_a_proxy_client_needs_the_scope_only_with_a_gateway_key(ring: KeyRing, callers: Callers) -> None:
    scope, grant = grant_of(["protect"])
    secret, _ = await ring.create("laptop", scope, grant)
    with pytest.raises(Forbidden):
        callers.authenticate_proxied("/v1/x", ours(secret), client=HERE)
    assert callers.authenticate_proxied("/v1/x", ours(secret)[1:], client=HERE).key_id.startswith("proxy_")


async def test_whose_key_a_call_was_sent_with(ring: KeyRing, callers: Callers) -> None:
    secret, record = await ring.create("laptop", Scope.CLIENT)
    assert callers.key_id(bearer(secret)) == record.key_id
    assert callers.key_id([], f"key={secret}") == record.key_id
    assert callers.key_id(bearer("svck_wrong")) == ""
    assert callers.key_id(bearer("x" * 1000)) == ""
    assert callers.key_id([]) is None
    assert callers.key_id(ours(secret), proxied=True) == record.key_id
    assert callers.key_id(bearer("of-the-provider"), proxied=True) is None
