"""The SQLite store beyond the interfaces: its files, its settings, its limits."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import Unavailable
from gateway.store import StoreError
from gateway.store.sqlite import ReadOnlyStore, Store
from tests.gateway.store.support import Gate, add, names


def delete_keys(stored: Any) -> None:
    stored.db.conn.execute("DELETE FROM keys")


def delete_keys_all_the_same(stored: Any) -> None:
    stored.db.conn.execute("PRAGMA query_only = OFF")
    delete_keys(stored)


async def test_a_full_disk_or_an_ended_transaction_leaves_the_store_working(store: Store) -> None:
    def no_more(stored: Any) -> None:
        (pages,) = stored.db.conn.execute("PRAGMA page_count").fetchone()
        stored.db.conn.execute(f"PRAGMA max_page_count = {pages + 2}")

    def roll_back(stored: Any) -> None:
        stored.db.conn.execute("ROLLBACK")

    await store.write(no_more)
    for work in (add("x" * 1_000_000), roll_back):
        with pytest.raises(Unavailable):
            await store.write(work)
    await store.write(add("small"))
    assert await store.read(names) == ["small"]


def test_the_log_says_when_the_store_writes_again(store: Store, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    store.submit(add("before")).result()
    aside = path.with_name("aside")
    path.rename(aside)
    for number in range(3):
        with pytest.raises(Unavailable):
            store.submit(add(f"meanwhile {number}")).result()
    assert caplog.messages == ["the store could not commit: gateway.db was deleted. Restart the gateway."]
    aside.rename(path)
    for name in ("after", "later"):
        store.submit(add(name)).result()
    assert caplog.messages[1:] == ["the store writes again"]


async def test_readers_cannot_write(store: Store) -> None:
    with pytest.raises(Unavailable):
        await store.read(delete_keys)
    with pytest.raises(Unavailable):
        store.read_now(delete_keys_all_the_same)


async def test_all_files_are_for_the_owner_alone(path: Path) -> None:
    path.touch(mode=0o644)  # noqa: ASYNC240
    store = Store.open(path)
    await store.write(lambda _: None)
    files = sorted(file for file in path.parent.iterdir())
    assert [file.name for file in files] == ["gateway.db", "gateway.db-shm", "gateway.db-wal"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    store.close()


async def test_the_switches_that_the_promises_rest_on(store: Store) -> None:
    def switches(stored: Any) -> dict[str, object]:
        wanted = ("journal_mode", "synchronous", "secure_delete", "foreign_keys", "busy_timeout")
        return {name: stored.db.conn.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted}

    assert await store.write(switches) == {
        "journal_mode": "wal",
        "synchronous": 2,
        "secure_delete": 1,
        "foreign_keys": 1,
        "busy_timeout": 10_000,
    }


async def test_deleted_rows_leave_the_files_once_readers_let_go(store: Store, path: Path) -> None:
    canary = "canary-" + "7f3a" * 8

    def is_there() -> bool:
        return any(canary.encode() in file.read_bytes() for file in path.parent.iterdir())

    await store.write(add(canary))
    reading = sqlite3.connect(path, isolation_level=None)
    reading.execute("BEGIN")
    assert reading.execute("SELECT count(*) FROM keys").fetchone() == (1,)
    await store.write(delete_keys)
    store.erase_deleted_soon()
    # No write waits for the reader.
    assert await store.write(add("b")) == "b"
    assert is_there()
    reading.close()
    async with asyncio.timeout(10):
        while is_there():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\x00" + b"\x01" * 4000])
def test_a_file_that_is_no_database_is_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for unusable in (path, path / "gateway.db"):
        with pytest.raises(StoreError, match="data_dir"):
            Store.open(unusable)
    assert path.read_bytes() == content


def test_a_copy_is_of_what_is_committed(store: Store, path: Path, tmp_path: Path) -> None:
    store.submit(add("before")).result()
    gate = Gate(store)
    store.submit(add("after"))
    with ReadOnlyStore.open(path) as reader:
        reader.copy_to(tmp_path / "gateway.db")
        with pytest.raises(FileExistsError):
            reader.copy_to(tmp_path / "gateway.db")
    gate.open()
    with ReadOnlyStore.open(tmp_path / "gateway.db") as copy:
        assert copy.read(names) == ["before"]
    assert (tmp_path / "gateway.db").stat().st_mode & 0o777 == 0o600


def test_a_damaged_database_is_not_copied(store: Store, path: Path, tmp_path: Path) -> None:
    store.submit(add("x" * 100_000)).result()
    store.close()
    content = path.read_bytes()
    path.write_bytes(content[:20_000] + bytes(range(256)) * 16 + content[24_096:])
    with ReadOnlyStore.open(path) as reader, pytest.raises(Unavailable, match=r"damaged|cannot be copied"):
        reader.copy_to(tmp_path / "gateway.db")
