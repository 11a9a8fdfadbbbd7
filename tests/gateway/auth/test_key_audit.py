"""The audit of keys, against a clock of the test's own."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.auth import key_audit
from gateway.auth.api_keys import KeyRing
from gateway.auth.key_audit import KeyAudit, read_uses
from gateway.errors import Unavailable
from gateway.models import Scope
from gateway.store import Store, open_store


class Clock:
    now = datetime(2026, 1, 2, 3, 4, 59, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


async def uses(store: Store) -> list[tuple[object, ...]]:
    found, total = await store.read(lambda stored: read_uses(stored, 50, 0))
    assert total == len(found)
    return [tuple(use.values()) for use in found]


async def test_uses_are_counted_by_minute_and_written_in_groups(store: Store) -> None:
    _, record = await KeyRing(store).create("laptop", Scope.CLIENT)
    clock = Clock()
    audit = KeyAudit(store, clock=clock)
    for _ in range(3):
        audit.note((record.key_id, ""), "protect", "answered")
    audit.note(("", ""), "protect", "unauthorized")
    audit.note((None, ""), "protect", "unauthorized")
    assert await uses(store) == []
    await audit.write()
    clock.now += timedelta(seconds=1)
    audit.note(("key_environment", ""), "usage", "answered")
    await audit.write()
    audit.note(("key_environment", ""), "usage", "answered")
    await audit.write()
    page, total = await store.read(lambda stored: read_uses(stored, 1, 2))
    assert ([use["label"] for use in page], total) == (["laptop"], 3)
    assert await uses(store) == [
        ("2026-01-02T03:05:00Z", "key_environment", None, None, "usage", "answered", 2, None),
        ("2026-01-02T03:04:00Z", None, None, None, "protect", "unauthorized", 1, None),
        ("2026-01-02T03:04:00Z", record.key_id, "laptop", None, "protect", "answered", 3, None),
    ]


async def test_an_entry_has_the_credential_and_its_last_request(store: Store) -> None:
    audit = KeyAudit(store, clock=Clock())
    for credential, request_id in (("cred_a", "req_1"), ("cred_b", "req_2"), ("cred_a", "req_3")):
        audit.note(("proxy_a", credential), "messages", "forwarded", request_id)
    await audit.write()
    audit.note(("proxy_a", "cred_b"), "messages", "forwarded", "req_4")
    await audit.write()
    who = ("2026-01-02T03:04:00Z", "proxy_a", None)
    assert await uses(store) == [
        (*who, "cred_a", "messages", "forwarded", 2, "req_3"),
        (*who, "cred_b", "messages", "forwarded", 2, "req_4"),
    ]


async def test_uses_that_could_not_be_written_are_written_later(data_dir: Path) -> None:
    store = open_store(data_dir)
    audit = KeyAudit(store, clock=Clock())
    audit.note(("key_a", ""), "protect", "answered", "req_1")
    store.close()
    with pytest.raises(Unavailable):
        await audit.write()
    audit.note(("key_a", ""), "protect", "answered", "req_2")
    audit._store = open_store(data_dir)
    await audit.write()
    assert [use[-2:] for use in await uses(audit._store)] == [(2, "req_2")]
    audit._store.close()


async def test_old_uses_are_forgotten_and_so_are_the_oldest_of_too_many(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_audit, "_MOST_ROWS", 3)
    clock = Clock()
    audit = KeyAudit(store, clock=clock)
    for _ in range(3):
        audit.note(("key_a", ""), "protect", "answered")
        await audit.write()
        clock.now += timedelta(days=40)
    await audit.forget()
    assert [use[0] for use in await uses(store)] == ["2026-03-23T03:04:00Z", "2026-02-11T03:04:00Z"]
    for _ in range(5):
        clock.now += timedelta(minutes=1)
        audit.note(("key_a", ""), "protect", "answered")
    await audit.write()
    await audit.forget()
    assert [use[0][11:16] for use in await uses(store)] == ["03:09", "03:08", "03:07"]  # type: ignore[index]


def test_memory_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_audit, "_MOST_UNWRITTEN", 8)
    audit = KeyAudit(store, clock=Clock())
    for number in range(100):
        audit.note((f"key_{number}", ""), "protect", "answered")
        audit.note(("key_0", ""), "protect", "answered")
    assert len(audit._unwritten) == 8
    assert max(audit._unwritten.values()) == 101
