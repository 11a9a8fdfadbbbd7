"""Keys: shown once, stored as hashes, known in memory, and changes by others noticed."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from gateway.auth.api_keys import KeyRecord, KeyRing, users_of
from gateway.auth.key_permissions import grant_of
from gateway.errors import NotFound, Unauthorized, Unavailable, Unprocessable
from gateway.models import Caller, Scope
from gateway.store import Store, open_store
from gateway.workers.steady_clock import SteadyClock


@pytest.fixture
def other_store(data_dir: Path, store: Store) -> Iterator[Store]:
    """As another process would have it."""
    other = open_store(data_dir)
    yield other
    other.close()


@pytest.fixture
async def ring(store: Store) -> KeyRing:
    ring = KeyRing(store, poll_seconds=0.0)
    await ring.load()
    return ring


def assert_refused(ring: KeyRing, *secrets: str) -> None:
    for secret in secrets:
        with pytest.raises(Unauthorized):
            ring.authenticate(secret)


async def test_a_new_key_opens_at_once_and_says_who_it_is(ring: KeyRing) -> None:
    assert ring.empty
    secret, record = await ring.create("laptop", Scope.CLIENT)
    assert secret.startswith("svck_")
    assert len(secret) == len("svck_") + 43
    assert ring.authenticate(secret) == Caller(record.key_id, Scope.CLIENT, label="laptop")
    assert not ring.empty
    other, operator = await ring.create("console", Scope.OPERATOR)
    assert ring.authenticate(other).scope is Scope.OPERATOR
    assert await ring.list() == (record, operator)


async def test_a_secret_is_shown_before_its_key_exists(ring: KeyRing) -> None:
    shown: list[str] = []

    def show(secret: str) -> None:
        assert_refused(ring, secret)
        shown.append(secret)
        if len(shown) > 1:
            raise OSError

    secret, _ = await ring.create("laptop", Scope.CLIENT, show=show)
    assert shown == [secret]
    with pytest.raises(OSError):
        await ring.create("desk", Scope.CLIENT, show=show)
    assert len(await ring.list()) == 1


async def test_any_other_secret_opens_nothing(ring: KeyRing) -> None:
    secret, record = await ring.create("laptop", Scope.CLIENT)
    ring.add_static("static-" + "x" * 32, Scope.OPERATOR)
    said = set()
    close = (secret[:-1], secret + "x", secret.upper(), " " + secret, "x" * 1_000_000, "\ud800", "\x00")
    for wrong in ("", "svck_", *close, record.key_id, sha256(secret.encode()).hexdigest()):
        with pytest.raises(Unauthorized) as refused:
            ring.authenticate(wrong)
        said.add(refused.value.message)
    assert len(said) == 1


async def test_a_revoked_key_opens_nothing_from_then_on(ring: KeyRing) -> None:
    ring.add_static("static-" + "x" * 32, Scope.OPERATOR)
    assert ring.empty
    secret, record = await ring.create("laptop", Scope.CLIENT)
    kept, other = await ring.create("desk", Scope.CLIENT)
    revoked = await ring.revoke(record.key_id)
    assert revoked.revoked_at is not None
    assert not revoked.active
    assert_refused(ring, secret)
    assert ring.authenticate(kept)
    assert await ring.revoke(record.key_id) == revoked
    assert [one.active for one in await ring.list()] == [False, True]
    await ring.revoke(other.key_id)
    assert ring.empty


@pytest.mark.parametrize("key_id", ["key_0000000000000000", "", "key_\ud800", "' OR 1=1 --"])
async def test_only_a_key_that_exists_can_be_revoked(ring: KeyRing, key_id: str) -> None:
    secret, _ = await ring.create("laptop", Scope.CLIENT)
    with pytest.raises(NotFound):
        await ring.revoke(key_id)
    assert ring.authenticate(secret)


async def test_a_static_key_opens_and_is_in_no_list(ring: KeyRing, other_store: Store) -> None:
    secret = "static-" + "x" * 32
    ring.add_static(secret, Scope.OPERATOR)
    assert ring.authenticate(secret) == Caller("key_environment", Scope.OPERATOR, label="environment")
    assert await ring.list() == ()
    await ring.load()
    assert ring.authenticate(secret)
    assert_refused(KeyRing(other_store), secret)
    with pytest.raises(ValueError, match="empty"):
        ring.add_static("", Scope.OPERATOR)


async def test_a_key_of_another_process_opens_at_once(store: Store, other_store: Store) -> None:
    """However short the time is since the ring last looked, and even if it was never loaded."""
    ring, others = KeyRing(store, poll_seconds=3600), KeyRing(other_store)
    for number in range(5):
        secret, record = await others.create(f"new {number}", Scope.CLIENT)
        assert ring.authenticate(secret).key_id == record.key_id
        assert_refused(ring, "svck_unknown")


async def test_a_revocation_by_another_process_is_noticed_within_the_time_to_poll(
    store: Store, other_store: Store
) -> None:
    ring, others = KeyRing(store, poll_seconds=0.1), KeyRing(other_store)
    await ring.load()
    secret, record = await others.create("laptop", Scope.CLIENT)
    ring.authenticate(secret)
    await others.revoke(record.key_id)
    async with asyncio.timeout(2):
        while not ring.empty:
            with contextlib.suppress(Unauthorized):
                ring.authenticate(secret)
            await asyncio.sleep(0.02)
    assert_refused(ring, secret)


async def test_no_key_opens_while_the_store_cannot_say_whether_it_was_revoked(data_dir: Path) -> None:
    store = open_store(data_dir)
    ring = KeyRing(store, poll_seconds=0.0)
    secret, _ = await ring.create("laptop", Scope.CLIENT)
    store.close()
    with pytest.raises(Unavailable):
        ring.authenticate(secret)


async def test_no_secret_is_in_the_files_a_repr_or_the_log(
    ring: KeyRing, store: Store, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        secret, record = await ring.create("laptop", Scope.CLIENT)
        ring.authenticate(secret)
    for text in (repr(ring), repr(record), caplog.text):
        assert secret not in text
    files = b"".join(file.read_bytes() for file in data_dir.iterdir())  # noqa: ASYNC240
    assert record.key_id.encode() in files
    assert secret.removeprefix("svck_").encode() not in files


@pytest.mark.parametrize("label", ["", "x" * 65, "two\nlines", "bell\x07", "\ud800", "svck_" + "x" * 30])
async def test_a_label_is_short_printable_and_no_key(ring: KeyRing, label: str) -> None:
    with pytest.raises(Unprocessable) as refused:
        await ring.create(label, Scope.CLIENT)
    assert refused.value.param == "label"
    assert await ring.list() == ()


async def test_a_key_expires_for_good(store: Store) -> None:
    wall, tick = [time.time()], [0.0]
    ring = KeyRing(store, clock=SteadyClock(lambda: wall[0], monotonic=lambda: tick[0]))
    secret, record = await ring.create("laptop", Scope.CLIENT, lifetime=timedelta(hours=1))
    assert record.expires_at is not None
    # A second may begin between the two times.
    assert timedelta(hours=1) <= record.expires_at - record.created_at <= timedelta(hours=1, seconds=1)
    assert await ring.list() == (record,)
    assert ring.authenticate(secret).key_id == record.key_id
    for moved in (3600, -7200):
        wall[0] += moved
        with pytest.raises(Unauthorized) as refused:
            ring.authenticate(secret)
        assert refused.value.code == "key_expired"
        assert secret not in refused.value.message


async def test_a_restart_with_a_clock_set_back_does_not_bring_an_expired_key_back(store: Store) -> None:
    secret, _ = await KeyRing(store).create("laptop", Scope.CLIENT, lifetime=timedelta(hours=1))
    await store.write(lambda stored: stored.sessions.note_time(time.time() + 3601))
    ring = KeyRing(store)
    await ring.load()
    with pytest.raises(Unauthorized, match="expired"):
        ring.authenticate(secret)


async def test_lifetimes_count_from_the_latest_time_where_the_clock_was_ahead(store: Store) -> None:
    """The gateway continues from there, so that a key for an hour from now would never open."""
    await store.write(lambda stored: stored.sessions.note_time(time.time() + 86400))
    ring = KeyRing(store)
    await ring.load()
    old, made = await ring.create("laptop", Scope.CLIENT, lifetime=timedelta(hours=1))
    assert ring.authenticate(old).key_id == made.key_id
    new, record = await ring.rotate(made.key_id, timedelta(hours=1), timedelta(hours=2))
    assert await ring.list() == (record,)
    assert ring.authenticate(old) == ring.authenticate(new)


async def test_a_rotated_key_is_the_same_caller_and_the_old_secret_ends(store: Store) -> None:
    wall, tick = [time.time()], [0.0]
    ring = KeyRing(store, clock=SteadyClock(lambda: wall[0], monotonic=lambda: tick[0]))
    scope, grant = grant_of(["chat"])
    old, made = await ring.create("laptop", scope, grant)
    new, record = await ring.rotate(made.key_id, timedelta(hours=24))
    assert new != old
    assert record.previous_until is not None
    assert replace(record, previous_until=None) == made
    assert await ring.list() == (record,)
    assert (
        ring.authenticate(old)
        == ring.authenticate(new)
        == Caller(made.key_id, Scope.CLIENT, grant=grant, label="laptop")
    )
    wall[0] += 24 * 3600
    with pytest.raises(Unauthorized, match="expired"):
        ring.authenticate(old)
    assert ring.authenticate(new)


async def test_secrets_overlap_through_several_rotations_and_end_with_the_key(ring: KeyRing) -> None:
    first, made = await ring.create("laptop", Scope.CLIENT)
    second, _ = await ring.rotate(made.key_id, timedelta(hours=2))
    third, record = await ring.rotate(made.key_id, timedelta(hours=1))
    assert all(ring.authenticate(secret).key_id == made.key_id for secret in (first, second, third))
    listed = (await ring.list())[0]
    assert listed.previous_until == record.previous_until, "the first ends no later than the second"
    fourth, _ = await ring.rotate(made.key_id, timedelta())
    assert ring.authenticate(fourth).key_id == made.key_id
    assert_refused(ring, first, second, third)
    await ring.revoke(made.key_id)
    assert_refused(ring, first, second, third, fourth)
    with pytest.raises(NotFound):
        await ring.rotate(made.key_id, timedelta())


async def test_rotation_prolongs_a_key_but_not_its_old_secret(ring: KeyRing, store: Store) -> None:
    _, made = await ring.create("laptop", Scope.CLIENT, lifetime=timedelta(hours=1))
    _, record = await ring.rotate(made.key_id, timedelta(days=9), timedelta(days=90))
    assert record.previous_until == made.expires_at
    assert record.expires_at is not None
    assert record.expires_at > record.created_at + timedelta(days=89)
    _, ended = await ring.create("desk", Scope.CLIENT, lifetime=timedelta())
    with pytest.raises(Unprocessable):
        await ring.rotate(ended.key_id, timedelta())
    secret, _ = await ring.rotate(ended.key_id, timedelta(), timedelta(hours=1))
    assert ring.authenticate(secret).key_id == ended.key_id


async def test_a_policy_is_used_by_the_keys_that_permit_no_other(ring: KeyRing) -> None:
    def made(*policies: str, lifetime: timedelta | None = None) -> Coroutine[object, object, tuple[str, KeyRecord]]:
        return ring.create("laptop", Scope.CLIENT, grant_of(policies=policies)[1], lifetime)

    _, only = await made("acme")
    for policies, lifetime in ((("acme", "default"), None), (("default",), None), ((), None), (("acme",), timedelta())):
        await made(*policies, lifetime=lifetime)
    _, revoked = await made("acme")
    await ring.revoke(revoked.key_id)
    assert await users_of("acme", ring, "default") == [f"the key `{only.key_id}`"]
    assert await users_of("strict", ring, "strict") == ["the setting `default_policy`"]
