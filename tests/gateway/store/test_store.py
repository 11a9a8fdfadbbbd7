"""The store by its public face: durability, isolation of failures, reading what was written, closing."""

import asyncio
import sqlite3
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlite_utils

from gateway.errors import Unavailable
from gateway.store import Store, StoreError
from gateway.store.writer import SUBMIT_LIMIT, WRITE_LIMIT

TABLE = "CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, size INTEGER)"


def add(name: str, size: int = 0):  # type: ignore[no-untyped-def]
    def work(db: sqlite_utils.Database) -> str:
        db.conn.execute("INSERT INTO notes VALUES (?, ?)", [name, size])
        return name

    return work


def names(db: sqlite_utils.Database) -> list[str]:
    return [name for (name,) in db.conn.execute("SELECT name FROM notes ORDER BY rowid")]


@pytest.fixture
def path(data_dir: Path) -> Path:
    return data_dir / "gateway.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store.open(path)
    store.submit(lambda db: db.conn.execute(TABLE) and None).result()
    yield store
    store.close()


class Gate:
    """Holds the writer inside a piece of work, so that what comes after lies in one queue."""

    def __init__(self, store: Store) -> None:
        self._entered, self._open = threading.Event(), threading.Event()
        self.done = store.submit(self._wait)
        self._entered.wait(10)

    def _wait(self, db: sqlite_utils.Database) -> None:
        self._entered.set()
        self._open.wait(10)

    def open(self) -> None:
        self._open.set()


async def test_a_write_returns_what_its_work_returns_and_others_see_it(store: Store, path: Path) -> None:
    assert await store.write(add("a")) == "a"
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM notes").fetchall() == [("a",)]
    other.close()


async def test_a_read_sees_everything_submitted_before_it(store: Store) -> None:
    for number in range(20):
        store.submit(add(str(number)))
        assert len(await store.read(names)) == number + 1


async def test_work_that_fails_is_undone_alone(store: Store) -> None:
    def half(db: sqlite_utils.Database) -> None:
        db.conn.execute("INSERT INTO notes VALUES ('half', 1)")
        raise LookupError("not found")

    gate = Gate(store)
    results = [store.submit(work) for work in (add("a"), half, add("a"), add("b"))]
    gate.open()
    assert results[0].result() == "a"
    with pytest.raises(LookupError):
        results[1].result()
    with pytest.raises(sqlite3.IntegrityError):
        results[2].result()
    assert results[3].result() == "b"
    assert await store.read(names) == ["a", "b"]


@pytest.mark.parametrize("end", [asyncio.CancelledError, StopIteration, SystemExit, KeyboardInterrupt])
async def test_work_that_is_ended_from_outside_takes_nothing_with_it(store: Store, end: type[BaseException]) -> None:
    def ended(db: sqlite_utils.Database) -> None:
        add("lost")(db)
        raise end

    gate = Gate(store)
    waiting = asyncio.gather(
        store.write(add("before")), store.write(ended), store.write(add("after")), return_exceptions=True
    )
    await asyncio.sleep(0)
    gate.open()
    before, error, after = await asyncio.wait_for(waiting, 10)
    assert (before, after) == ("before", "after")
    assert isinstance(error, RuntimeError)
    assert await store.read(names) == ["before", "after"]


async def test_what_waits_shares_one_transaction(store: Store) -> None:
    commits: list[int] = []
    store.before_commit(lambda db: commits.append(1))
    gate = Gate(store)
    waiting = [asyncio.create_task(store.write(add(str(number)))) for number in range(50)]
    await asyncio.sleep(0)
    gate.open()
    assert await asyncio.gather(*waiting) == [str(number) for number in range(50)]
    # One for the gate, one for all the rest.
    assert len(commits) == 2


async def test_a_commit_that_fails_fails_all_of_its_batch_and_the_next_one_works(store: Store) -> None:
    broken = True

    def hook(db: sqlite_utils.Database) -> None:
        if broken:
            raise sqlite3.OperationalError("disk I/O error at 'canary'")

    gate = Gate(store)
    store.before_commit(hook)
    first, second = store.submit(add("a")), asyncio.create_task(store.write(add("b")))
    await asyncio.sleep(0)
    gate.open()
    for failed in (asyncio.wrap_future(first), second):
        with pytest.raises(Unavailable) as refused:
            await failed
        assert refused.value.code == "store_unavailable"
        assert "canary" not in refused.value.message
    broken = False
    await store.write(add("c"))
    assert await store.read(names) == ["c"]


async def test_a_full_disk_is_unavailable_and_leaves_the_store_working(store: Store) -> None:
    def no_more(db: sqlite_utils.Database) -> None:
        (pages,) = db.conn.execute("PRAGMA page_count").fetchone()
        db.conn.execute(f"PRAGMA max_page_count = {pages + 2}")

    await store.write(no_more)
    with pytest.raises(Unavailable):
        await store.write(add("x" * 1_000_000))
    await store.write(add("small"))
    assert await store.read(names) == ["small"]


async def test_a_store_that_cannot_be_written_to_is_not_well_until_it_can(store: Store) -> None:
    broken = True

    def hook(db: sqlite_utils.Database) -> None:
        if broken:
            raise sqlite3.OperationalError("database or disk is full")

    store.before_commit(hook)
    store.check()
    with pytest.raises(Unavailable):
        await store.write(add("a"))
    for _ in range(3):  # although nobody else writes in between
        with pytest.raises(Unavailable):
            store.check()
        await store.read(names)  # comes after whatever was tried
    broken = False
    with pytest.raises(Unavailable):
        store.check()
    await store.read(names)
    store.check()


async def test_work_that_ends_the_transaction_by_itself_fails_and_harms_nothing(store: Store) -> None:
    with pytest.raises(Unavailable):
        await store.write(lambda db: db.conn.execute("ROLLBACK") and None)
    await store.write(add("after"))
    assert await store.read(names) == ["after"]


async def test_too_many_waiting_are_told_to_come_again_and_follow_ups_still_fit(store: Store) -> None:
    gate = Gate(store)
    results = [store.submit(add(str(number))) for number in range(WRITE_LIMIT)]
    with pytest.raises(Unavailable) as refused:
        await store.write(add("one too many"))
    assert refused.value.code == "overloaded"
    assert refused.value.retry_after
    results += [store.submit(add(str(number))) for number in range(WRITE_LIMIT, SUBMIT_LIMIT)]
    with pytest.raises(Unavailable):
        store.submit(add("one too many"))
    gate.open()
    assert [result.result() for result in results] == [str(number) for number in range(SUBMIT_LIMIT)]


async def test_one_who_stops_waiting_disturbs_nobody(store: Store) -> None:
    gate = Gate(store)
    first, second = asyncio.create_task(store.write(add("a"))), asyncio.create_task(store.write(add("b")))
    await asyncio.sleep(0)
    first.cancel()
    gate.open()
    assert await second == "b"
    assert first.cancelled()
    assert await store.read(names) == ["a", "b"]


async def test_readers_cannot_write(store: Store) -> None:
    with pytest.raises(Unavailable):
        await store.read(lambda db: db.conn.execute("DELETE FROM notes") and None)
    with pytest.raises(Unavailable):
        store.read_now(
            lambda db: db.conn.execute("PRAGMA query_only = OFF; ") and db.conn.execute("DELETE FROM notes") and None
        )


async def test_a_read_keeps_to_one_snapshot(store: Store) -> None:
    loop = asyncio.get_running_loop()

    def twice(db: sqlite_utils.Database) -> tuple[list[str], list[str]]:
        before = names(db)
        asyncio.run_coroutine_threadsafe(store.write(add("meanwhile")), loop).result(10)
        return before, names(db)

    assert await store.read(twice) == ([], [])
    assert await store.read(names) == ["meanwhile"]
    assert store.read_now(names) == ["meanwhile"]


async def test_closing_writes_what_is_queued(path: Path) -> None:
    store = Store.open(path)
    store.submit(lambda db: db.conn.execute(TABLE) and None)
    results = [store.submit(add(str(number))) for number in range(1000)]
    store.close()
    assert all(result.done() for result in results)
    again = Store.open(path)
    assert len(await again.read(names)) == 1000
    again.close()


async def test_a_closed_store_says_so(path: Path) -> None:
    store = Store.open(path)
    store.close()
    for use in (lambda: store.submit(names), lambda: store.read_now(names)):
        with pytest.raises(Unavailable):
            use()
    for wait in (store.write(names), store.read(names)):
        with pytest.raises(Unavailable):
            await wait


async def test_all_files_are_for_the_owner_alone(path: Path) -> None:
    path.touch(mode=0o644)  # noqa: ASYNC240
    store = Store.open(path)
    await store.write(lambda db: None)
    files = sorted(file for file in path.parent.iterdir())
    assert [file.name for file in files] == ["gateway.db", "gateway.db-shm", "gateway.db-wal"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    store.close()


async def test_the_switches_that_the_promises_rest_on(store: Store) -> None:
    def switches(db: sqlite_utils.Database) -> dict[str, object]:
        wanted = ("journal_mode", "synchronous", "secure_delete", "foreign_keys", "busy_timeout")
        return {name: db.conn.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted}

    assert await store.write(switches) == {
        "journal_mode": "wal",
        "synchronous": 2,
        "secure_delete": 1,
        "foreign_keys": 1,
        "busy_timeout": 10_000,
    }


async def test_deleted_rows_leave_the_files(path: Path) -> None:
    store = Store.open(path)
    canary = "canary-" + "7f3a" * 8
    await store.write(lambda db: db.conn.execute(TABLE) and None)
    await store.write(add(canary))
    assert any(canary.encode() in file.read_bytes() for file in path.parent.iterdir())
    await store.write(lambda db: db.conn.execute("DELETE FROM notes") and None)
    store.checkpoint_soon()
    for _ in range(500):
        if not any(canary.encode() in file.read_bytes() for file in path.parent.iterdir()):
            break
        await asyncio.sleep(0.01)
    assert not any(canary.encode() in file.read_bytes() for file in path.parent.iterdir())
    store.close()


async def test_deleted_rows_leave_the_files_once_readers_let_go(store: Store, path: Path) -> None:
    canary = "canary-" + "7f3a" * 8
    await store.write(add(canary))
    reading = sqlite3.connect(path, isolation_level=None)
    reading.execute("BEGIN")
    assert reading.execute("SELECT count(*) FROM notes").fetchone() == (1,)
    await store.write(lambda db: db.conn.execute("DELETE FROM notes") and None)
    store.checkpoint_soon()
    # Nobody waits for the reader.
    assert await store.write(add("b")) == "b"
    assert any(canary.encode() in file.read_bytes() for file in path.parent.iterdir())
    reading.close()
    for _ in range(1000):
        if not any(canary.encode() in file.read_bytes() for file in path.parent.iterdir()):
            return
        await asyncio.sleep(0.01)
    pytest.fail("the deleted row is still in the files")


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\x00" + b"\x01" * 4000])
def test_a_file_that_is_no_database_is_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError, match="data_dir"):
        Store.open(path)
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_used_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="data_dir"):
        Store.open(tmp_path / "file" / "gateway.db")


def delete(path: Path, instead: bytes | None) -> None:
    path.unlink()
    if instead is not None:
        path.write_bytes(instead)


@pytest.mark.skipif(sys.platform == "win32", reason="there, an open file cannot be deleted")
@pytest.mark.parametrize("instead", [None, b""], ids=["deleted", "replaced"])
async def test_nothing_is_durable_in_a_file_that_was_deleted(store: Store, path: Path, instead: bytes | None) -> None:
    await store.write(add("before"))
    store.check()
    delete(path, instead)
    with pytest.raises(Unavailable):
        await store.write(add("after"))
    with pytest.raises(Unavailable):
        store.check()
