"""Database files that are deleted, replaced, locked or full: no write succeeds then, and none that did is lost."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from gateway.errors import Unavailable
from gateway.store import Repositories
from gateway.store.errors import StoreError
from gateway.store.sqlite import Store, connection, writer
from tests.conftest import ROOT
from tests.gateway.store.support import add, names

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there, an open file cannot be deleted")

# Adds keys until it is killed, and says which are durable.
WRITER = """
import sys
from pathlib import Path
from gateway.store.sqlite import Store
from tests.gateway.store.support import add

store = Store.open(Path(sys.argv[1]))
for number in range(100_000):
    print(store.submit(add(f"key-{number}")).result(), flush=True)
"""


def killed(path: Path) -> list[str]:
    """Kills a process that writes. Returns the keys that it said were durable."""
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline().strip() for _ in range(40)]
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read().split()
    return said


def stored(path: Path) -> list[str]:
    store = Store.open(path)
    try:
        return store.read_now(names)
    finally:
        store.close()


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    shutil.copy(path, f"{path}.copy")
    Path(f"{path}.copy").replace(path)


@pytest.mark.parametrize("change", [remove, replace])
@pytest.mark.parametrize("file", ["gateway.db", "gateway.db-wal", "gateway.db-shm"])
async def test_nothing_is_written_to_files_that_changed(
    store: Store, path: Path, change: Callable[[Path], None], file: str
) -> None:
    await store.write(add("before"))
    store.check()
    change(path.with_name(file))
    with pytest.raises(Unavailable):
        await store.write(add("after"))
    with pytest.raises(Unavailable, match=file):
        store.check()


async def test_commits_in_a_log_that_is_deleted_are_in_the_database_at_the_next_start(
    store: Store, path: Path, tmp_path: Path
) -> None:
    await store.write(add("before"))
    path.with_name("gateway.db-wal").unlink()
    with pytest.raises(Unavailable):
        await store.write(add("refused"))
    assert "before" in stored(Path(shutil.copy(path, tmp_path / "killed.db")))


async def test_a_database_that_another_process_uses_with_a_new_log_is_left_alone(store: Store, path: Path) -> None:
    store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for number in range(200):
        await store.write(add(f"old-{number}"))
    for name in ("gateway.db-wal", "gateway.db-shm"):
        path.with_name(name).unlink()
    said = killed(path)
    with pytest.raises(Unavailable, match="replaced"):
        store.check()
    with pytest.raises(Unavailable):
        # As large as what has SQLite move the log into the database within the commit.
        await store.write(add("refused" * 1_000_000))
    store.close()
    assert set(said) <= set(stored(path))
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)


@pytest.mark.parametrize("damage", [0, 1])
def test_a_damaged_database_is_refused_after_its_log_was_deleted(path: Path, damage: int) -> None:
    Store.open(path).close()
    assert [file.name for file in path.parent.iterdir()] == ["gateway.db"], "nothing is left beside it"
    path.with_name("gateway.db-shm").touch()
    if damage:
        with path.open("r+b") as file:
            file.seek(-4096, os.SEEK_END)
            file.write(b"\xff" * 4096)
        with pytest.raises(StoreError, match="wal was deleted; restore"):
            Store.open(path)
    else:
        assert stored(path) == []


async def test_a_commit_to_a_log_that_is_deleted_during_it_does_not_succeed(store: Store, path: Path) -> None:
    def delete_at_commit(statement: str) -> None:
        if statement == "COMMIT":
            path.with_name("gateway.db-wal").unlink(missing_ok=True)

    store._db.conn.set_trace_callback(delete_at_commit)
    with pytest.raises(Unavailable):
        await store.write(add("key"))


async def test_a_locked_database_is_unavailable_and_awaited_for_long_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Transactions queued after one that waited in vain wait less. Other failures have no such effect."""
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.05)
    monkeypatch.setattr(writer, "_BUSY_MS", 50)
    monkeypatch.setattr(writer, "_BUSY_AGAIN_MS", 20)
    store = Store.open(path)

    def fails(_: Repositories) -> None:
        raise Unavailable("Not now.")

    async def patience() -> int:
        return int(await store.write(lambda _: store._db.conn.execute("PRAGMA busy_timeout").fetchone()[0]))

    with pytest.raises(Unavailable):
        await store.write(fails)
    assert await patience() == 50
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable):
            await store.write(add("locked"))
        other.execute("ROLLBACK")
    assert [await patience(), await patience()] == [20, 50]
    await store.write(add("after"))
    assert await store.read(names) == ["after"]
    store.close()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("mount") is None,
    reason="needs to mount a file system",
)
async def test_a_full_disk_is_unavailable_and_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=False).returncode:  # noqa: ASYNC221
        pytest.skip("may not mount a file system")
    try:
        store = Store.open(folder / "gateway.db")
        written: list[str] = []
        with pytest.raises(Unavailable):
            for number in range(1000):
                name = await store.write(add(f"{number:06}-" + "x" * 4000))
                written.append(name)
        assert written
        with pytest.raises(Unavailable):
            store.check()
        assert await store.read(names) == written
        store.close()
        assert stored(folder / "gateway.db") == written
    finally:
        subprocess.run(["umount", "-l", folder], check=True)  # noqa: ASYNC221


@pytest.mark.slow
@pytest.mark.parametrize("copied", [False, True], ids=["in place", "copied folder"])
def test_commits_before_a_crash_are_there_at_the_next_start(path: Path, tmp_path: Path, *, copied: bool) -> None:
    said = killed(path)
    if copied:
        path = shutil.copytree(path.parent, tmp_path / "copy") / path.name
    assert set(said) <= set(stored(path))
