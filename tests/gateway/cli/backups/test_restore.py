"""A restoration is complete or changes nothing: files are verified first, and moved back if one cannot be placed."""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from gateway.receipt_log.interrupted import RunLock
from gateway.receipts.signing import new_key
from tests.gateway.cli.backups.support import attacked, contents, packed
from tests.gateway.cli.support import Command
from tests.gateway.receipt_log.support import raw_rows, sql

pytestmark = pytest.mark.slow


@pytest.fixture
def file(command: Command, days: Path, tmp_path: Path) -> Path:
    (days / "installation.key").write_bytes(b"k" * 32)
    (days / "installation.key").chmod(0o600)
    assert command("backup", tmp_path / "gateway.tar")[0] == 0
    return tmp_path / "gateway.tar"


@pytest.fixture
def other(command: Command, tmp_path: Path) -> Command:
    return Command(tmp_path / "other" / "data", command._capsys)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_a_backup_is_restored_into_a_new_folder(file: Path, other: Command, days: Path) -> None:
    status, done = other.json("restore", file)
    assert (status, done["replaced"], done["data_dir"]) == (0, None, str(other.data_dir))
    assert raw_rows(other.data_dir / "gateway.db") == raw_rows(days / "gateway.db")
    names = {"gateway.db", "gateway.lock", "installation.key", "receipts.checkpoint", "signing.key"}
    assert set(tree(other.data_dir)) == names
    assert all(each.stat().st_mode & 0o077 == 0 for each in (other.data_dir, *other.data_dir.iterdir()))
    assert json.loads((other.data_dir / "gateway.lock").read_bytes()) == {"closed": 0}
    assert other.json("receipts", "verify")[1]["valid"]


def test_what_is_there_is_moved_aside_when_told(file: Path, other: Command) -> None:
    assert other("restore", file)[0] == 0
    before = tree(other.data_dir)
    assert other("restore", file) == (1, "")
    assert "gateway.db exists. Name another folder with --data-dir DIR" in other.errors
    assert tree(other.data_dir) == before
    done = other.json("restore", file, "--replace")[1]
    del before["gateway.lock"]
    assert tree(Path(done["replaced"])) == before
    assert f"The files that were there are in {other.data_dir}" in other("restore", file, "--replace")[1]
    assert other.json("receipts", "verify")[1]["valid"]


def test_a_folder_of_a_gateway_that_runs_is_left_alone(file: Path, command: Command, days: Path) -> None:
    lock = RunLock(days)
    lock.share()
    before = tree(days)
    assert command("restore", file, "--replace") == (1, "")
    assert "A gateway runs on data_dir. Stop it" in command.errors
    lock.close()
    assert tree(days) == before


def broken_log(file: Path, folder: Path) -> bytes:
    """A backup whose digests are right and whose log is not."""
    (folder / "gateway.db").write_bytes(contents(file)["data/gateway.db"])
    sql(folder, "UPDATE receipts SET body = replace(body, '120', '121') WHERE sequence = 3")
    return repacked(file, "data/gateway.db", (folder / "gateway.db").read_bytes())


def another_key(file: Path, folder: Path) -> bytes:
    return repacked(file, "data/signing.key", new_key())


def another_program(file: Path, folder: Path) -> bytes:
    sql(folder, "CREATE TABLE other (id)")
    return repacked(file, "data/gateway.db", (folder / "gateway.db").read_bytes())


def changed(file: Path, folder: Path) -> bytes:
    return attacked(file, {"flip": "data/gateway.db"})


def repacked(file: Path, name: str, content: bytes) -> bytes:
    manifest = json.loads(contents(file)["manifest.json"])
    manifest["files"][name] = {"size": len(content), "sha256": sha256(content).hexdigest()}
    return packed(contents(file) | {"manifest.json": json.dumps(manifest).encode(), name: content})


def without_keys(file: Path, folder: Path) -> bytes:
    names = ["data/signing.key", "data/installation.key"]
    return attacked(
        file, {"unlist": names, "entries": ["manifest.json", "data/gateway.db", "data/receipts.checkpoint"]}
    )


REFUSED: dict[str, tuple[Callable[[Path, Path], bytes], int, str]] = {
    "a changed file": (changed, 1, "has another digest"),
    "a broken log": (broken_log, 1, "the receipt log of the backup does not verify: chain, hash"),
    "another signing key": (another_key, 1, "the receipt log of the backup does not verify"),
    "no keys": (without_keys, 2, "signing_key: the backup has no signing.key"),
    "a database of another program": (another_program, 2, "is not one of this gateway"),
}


@pytest.mark.parametrize(("make", "status", "says"), REFUSED.values(), ids=REFUSED)
def test_a_refused_backup_changes_nothing(
    make: Callable[[Path, Path], bytes], status: int, says: str, file: Path, other: Command, tmp_path: Path
) -> None:
    (tmp_path / "made").mkdir()
    bad = tmp_path / "bad.tar"
    bad.write_bytes(make(file, tmp_path / "made"))
    assert other("restore", bad) == (status, "")
    assert says in other.errors
    assert not other.data_dir.exists()
    assert other("restore", file)[0] == 0
    before = tree(other.data_dir)
    assert other("restore", bad, "--replace") == (status, "")
    assert tree(other.data_dir) == before


@pytest.mark.parametrize("fails_at", range(8))
def test_a_file_that_cannot_be_put_in_place_changes_nothing(
    fails_at: int, file: Path, other: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert other("restore", file)[0] == 0
    before, moved, move = tree(other.data_dir), [], shutil.move

    def fail_once(source: Any, target: Any) -> Any:
        moved.append(source)
        if len(moved) == fails_at + 1:
            raise OSError(28, "No space left on device", str(target))
        return move(source, target)

    monkeypatch.setattr(shutil, "move", fail_once)
    assert other("restore", file, "--replace") == (1, "")
    assert "No space left on device" in other.errors
    assert len(moved) == 2 * fails_at + 1, "each that was moved is moved back"
    assert tree(other.data_dir) == before
    assert [each for each in other.data_dir.iterdir() if each.is_dir()] == []
