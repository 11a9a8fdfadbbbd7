"""Files that are deleted, replaced, locked or full: nothing is written then, and nothing that was is lost."""

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
from gateway.store.sqlite import SqliteStore, connection, writer
from gateway.store.sqlite.database_files import link_of, restore_wal, wal_of
from tests.conftest import ROOT
from tests.gateway.store.support import add, names

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there, an open file cannot be deleted")

# Adds keys until it is killed, and says which are durable.
WRITER = """
import sys
from pathlib import Path
from gateway.store.sqlite import SqliteStore
from tests.gateway.store.support import add

store = SqliteStore.open(Path(sys.argv[1]))
for number in range(100_000):
    print(store.submit(add(f"key-{number}")).result(), flush=True)
"""


def killed(path: Path, meanwhile: Callable[[], None], count: int = 40) -> list[str]:
    """Kills a process that writes, right after `meanwhile`. Returns what it said was durable."""
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline().strip() for _ in range(count)]
        meanwhile()
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read().split()
    return said


def stored(path: Path) -> list[str]:
    store = SqliteStore.open(path)
    try:
        return store.read_now(names)
    finally:
        store.close()


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    shutil.copy(path, f"{path}.copy")
    Path(f"{path}.copy").replace(path)


def make_read_only(path: Path) -> None:
    path.chmod(0o400)


@pytest.mark.parametrize("change", [remove, replace, make_read_only])
@pytest.mark.parametrize("file", ["gateway.db", "gateway.db-wal", "gateway.db-shm"])
async def test_nothing_is_written_to_files_that_changed(
    store: SqliteStore, path: Path, change: Callable[[Path], None], file: str
) -> None:
    await store.write(add("before"))
    store.check()
    change(path.with_name(file))
    with pytest.raises(Unavailable):
        await store.write(add("after"))
    with pytest.raises(Unavailable, match=file):
        store.check()


async def test_a_file_that_may_be_written_to_again_is(store: SqliteStore, path: Path) -> None:
    make_read_only(path)
    with pytest.raises(Unavailable):
        await store.write(add("meanwhile"))
    path.chmod(0o600)  # noqa: ASYNC240
    assert await store.write(add("after")) == "after"


async def test_a_commit_to_a_log_that_is_deleted_during_it_does_not_succeed(store: SqliteStore, path: Path) -> None:
    files = store._writer._files
    real = files.check

    def deleted_after_the_first() -> None:
        real()
        wal_of(path).unlink(missing_ok=True)

    files.check = deleted_after_the_first  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        await store.write(add("key"))


async def test_a_locked_database_is_unavailable(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.05)
    store = SqliteStore.open(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable):
            await store.write(add("locked"))
        other.execute("ROLLBACK")
    assert await store.write(add("after")) == "after"
    assert await store.read(names) == ["after"]
    store.close()


async def test_a_lock_is_awaited_for_long_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is queued behind a transaction that waited in vain does not wait as long. Other failures do not count."""
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.05)
    monkeypatch.setattr(writer, "_BUSY_MS", 50)
    monkeypatch.setattr(writer, "_BUSY_AGAIN_MS", 20)
    store = SqliteStore.open(path)

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
        store = SqliteStore.open(folder / "gateway.db")
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
@pytest.mark.parametrize("also", [(), ("gateway.db-shm",)], ids=["log", "log and index"])
def test_a_log_that_is_deleted_before_a_crash_is_restored(path: Path, also: tuple[str, ...]) -> None:
    def delete() -> None:
        for name in ("gateway.db-wal", *also):
            path.with_name(name).unlink()

    said = killed(path, delete)
    assert not wal_of(path).exists()
    assert set(said) <= set(stored(path))
    assert not link_of(path).exists()


@pytest.mark.slow
def test_a_log_that_was_emptied_by_another_program_after_a_crash_is_not_replayed(path: Path) -> None:
    said = killed(path, lambda: None)
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE keys SET label = 'changed afterwards'")
        other.commit()
    assert not wal_of(path).exists()
    found = SqliteStore.open(path)
    labels = found.read_now(lambda stored: {row.key_id: row.label for row in stored.keys.all()})
    found.close()
    assert set(said) <= labels.keys()
    assert set(labels.values()) == {"changed afterwards"}


@pytest.mark.slow
def test_a_log_of_another_database_is_set_aside(path: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.db"
    SqliteStore.open(backup).close()
    killed(path, lambda: wal_of(path).unlink(), count=400)
    shutil.copyfile(backup, path)
    assert stored(path) == []
    assert link_of(path).with_name("gateway.db.wal-link.unused").exists()
    assert not link_of(path).exists()


@pytest.mark.slow
def test_a_copied_folder_opens(path: Path, tmp_path: Path) -> None:
    said = killed(path, lambda: None)
    shutil.copytree(path.parent, tmp_path / "copy")
    assert set(said) <= set(stored(tmp_path / "copy" / "gateway.db"))
    assert sorted(file.name for file in (tmp_path / "copy").iterdir()) == ["gateway.db"]


async def test_a_process_that_starts_meanwhile_puts_a_deleted_log_back(store: SqliteStore, path: Path) -> None:
    await store.write(add("before"))
    wal_of(path).unlink()
    with pytest.raises(Unavailable):
        await store.write(add("refused"))
    other = SqliteStore.open(path)
    assert await other.write(add("other")) == "other"
    assert await store.write(add("after")) == "after"
    assert other.read_now(names) == store.read_now(names)
    assert {"before", "other", "after"} <= set(store.read_now(names))
    other.close()


async def test_a_second_name_that_is_deleted_is_made_again(store: SqliteStore, path: Path) -> None:
    link_of(path).unlink()
    await store.write(add("key"))
    assert link_of(path).samefile(wal_of(path))


def test_nothing_is_left_beside_a_closed_database(path: Path) -> None:
    SqliteStore.open(path).close()
    assert [file.name for file in path.parent.iterdir()] == ["gateway.db"]


def test_where_files_have_one_name_the_store_works_with_a_warning(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    store = SqliteStore.open(path)
    assert store.submit(add("key")).result() == "key"
    store.close()
    assert caplog.text.count("must not be deleted") == 1


def test_restoring_does_nothing_without_a_second_name(tmp_path: Path) -> None:
    restore_wal(tmp_path / "gateway.db")
    assert list(tmp_path.iterdir()) == []
