"""Identifies who sent a call, and refuses keys that are not valid."""

import pytest

from gateway.auth.api_keys import KeyRing
from gateway.auth.callers import Callers
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
    return Callers(ring, RateLimiter(0), Quotas(store), KeySearch(), b"d" * 32)


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
    secret, _ = await ring.create("laptop", Scope.CLIENT)
    await store.write(lambda stored: stored.db.conn.execute("UPDATE keys SET expires_at = created_at"))
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
    assert callers.key_id(bearer(secret)) == record.key_id
    assert callers.key_id([], f"key={secret}") == record.key_id
    assert callers.key_id(bearer("svck_wrong")) == ""
    assert callers.key_id(bearer("x" * 1000)) == ""
    assert callers.key_id([]) is None
    assert callers.key_id(ours(secret), proxied=True) == record.key_id
    assert callers.key_id(bearer("of-the-provider"), proxied=True) is None
