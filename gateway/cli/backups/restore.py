"""Puts a backup in the place of an installation that does not run, completely or not at all."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from gateway.cli.backups.archive import BESIDE, Manifest, extract
from gateway.cli.backups.create import verify_folder
from gateway.config.installation_key import FILE as INSTALLATION_KEY
from gateway.config.private_files import check_account, check_private
from gateway.config.settings import Settings, SettingsError
from gateway.errors import Conflict, Unavailable
from gateway.receipt_log.interrupted import FILE as LOCK
from gateway.receipt_log.interrupted import RunLock
from gateway.receipt_log.log_walk import Progress
from gateway.receipt_log.signing_key import FILE as SIGNING_KEY
from gateway.store import FILE, open_store

_DATABASE = (FILE, f"{FILE}-wal", f"{FILE}-shm")


class Restored(NamedTuple):
    """A restored backup. `aside` is the folder of what was there before."""

    manifest: Manifest
    aside: Path | None


def restore(path: Path, settings: Settings, progress: Progress, *, replace: bool) -> Restored:
    """Verifies a backup and puts its files into the folders of the settings.

    What is there already is moved aside if it is to be replaced. Raises BadRequest for a file that is no backup or was
    changed, Conflict if a gateway runs on the folder or it is not empty, Unavailable (`receipt_log_broken`),
    SettingsError, OSError. Nothing is changed then.
    """
    with _folder(settings.data_dir) as lock:
        _check_free(_existing(settings.data_dir, (*_DATABASE, *BESIDE)), replace=replace)
        with TemporaryDirectory(dir=settings.data_dir, prefix="restore-") as staged:
            data, certs = Path(staged, "data"), Path(staged, "certs")
            manifest = extract(path, Path(staged))
            _check_keys(manifest, settings)
            # Brings the tables up to date.
            open_store(data).close()
            found = verify_folder(data, settings, progress)
            if not found.valid:
                failed = ", ".join(check.name for check in found.checks if not check.ok)
                message = f"Nothing is restored, because the receipt log of the backup does not verify: {failed}."
                raise Unavailable(message, code="receipt_log_broken")
            return Restored(manifest, _put_in_place(data, certs, settings, lock, replace=replace))


@contextmanager
def _folder(folder: Path) -> Iterator[RunLock]:
    """Holds the lock that a running gateway holds, in a folder that is made for it if there is none."""
    check_account(folder)
    is_new = not folder.exists()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    has_lock = (folder / LOCK).exists()
    try:
        check_private(folder)
        with closing(RunLock(folder)) as lock:
            if not lock.alone and sys.platform != "win32":
                raise Conflict("A gateway runs on data_dir. Stop it, or name another folder with --data-dir DIR.")
            yield lock
    except BaseException:
        if not has_lock:
            (folder / LOCK).unlink(missing_ok=True)
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


def _existing(folder: Path, names: Iterable[str]) -> list[Path]:
    return [folder / name for name in names if (folder / name).exists()]


def _check_free(existing: list[Path], *, replace: bool) -> None:
    if existing and not replace:
        message = (
            f"{existing[0]} exists. Name another folder with --data-dir DIR or --certs-dir DIR, or add --replace, "
            "which moves aside what is there"
        )
        raise Conflict(f"{message}.")


def _check_keys(manifest: Manifest, settings: Settings) -> None:
    given = {INSTALLATION_KEY: settings.installation_key, SIGNING_KEY: settings.signing_key}
    problems = [
        f"{name.replace('.', '_')}: the backup has no {name}, since the settings provided the key; provide it again"
        for name, key in given.items()
        if key is None and f"data/{name}" not in manifest.files
    ]
    if problems:
        raise SettingsError(*problems)


def _put_in_place(data: Path, certs: Path, settings: Settings, lock: RunLock, *, replace: bool) -> Path | None:
    """Moves the verified files to their places, the database last. Moves all of them back if that fails."""
    authority = sorted(certs.iterdir()) if certs.exists() else []
    old = _existing(settings.data_dir, (*_DATABASE, *BESIDE))
    old += _existing(settings.certs_dir, (file.name for file in authority))
    _check_free(old, replace=replace)
    aside = settings.data_dir / f"replaced-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}"
    moves = [(file, aside / file.name) for file in old]
    moves += [(file, settings.certs_dir / file.name) for file in authority]
    moves += [(file, settings.data_dir / file.name) for file in _existing(data, (*BESIDE, FILE))]
    if authority:
        settings.certs_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside.mkdir(mode=0o700)
    try:
        _move_all(moves)
    finally:
        if not old or not any(aside.iterdir()):
            aside.rmdir()
    # The number is of the log that was there before.
    lock.closed = 0
    for folder in {settings.data_dir, settings.certs_dir} if authority else {settings.data_dir}:
        _sync(folder)
    return aside if old else None


def _move_all(moves: list[tuple[Path, Path]]) -> None:
    done: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            # Certificates may be on another file system.
            shutil.move(source, target)
            done.append((source, target))
    except BaseException:
        for source, target in reversed(done):
            shutil.move(target, source)
        raise


def _sync(folder: Path) -> None:
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
