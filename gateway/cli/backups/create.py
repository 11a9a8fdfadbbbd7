"""Copies what belongs together while gateways run, and writes it to a file once the copy verifies."""

import errno
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from gateway.cli.backups.archive import BESIDE, Manifest, is_archive, write_archive
from gateway.config.locations import bundle_of, private_key_of
from gateway.config.settings import Settings
from gateway.errors import Conflict, Unavailable
from gateway.receipt_log.audit import audit
from gateway.receipt_log.checkpoint_file import locked, read_checkpoint
from gateway.receipt_log.log_walk import Progress
from gateway.receipt_log.signing_key import kept_signer
from gateway.receipts.verify import Verification
from gateway.store import FILE, ReadOnlyStore, open_read_only


def back_up(
    store: ReadOnlyStore, settings: Settings, path: Path, progress: Progress, *, certs: bool, replace: bool
) -> Manifest:
    """Writes a backup to a file, whose folder also holds the copy until then.

    Raises Conflict if there is a file that is not to be replaced, Unavailable (`receipt_log_broken`, or if the database
    cannot be copied), SettingsError, OSError.
    """
    if not path.parent.is_dir():
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if path.exists() and not (replace and path.is_file() and is_archive(path)):
        hint = "Name another file" + ("; only a backup is replaced." if replace else ", or add --replace.")
        raise Conflict(f"{path} exists. {hint}", param="file")
    with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
        files = _copy(store, settings, Path(folder), certs=certs)
        found = verify_folder(Path(folder), settings, progress)
        if not found.valid:
            message = "Nothing is backed up, because the receipt log is broken. `receipts verify` says where."
            raise Unavailable(message, code="receipt_log_broken")
        return write_archive(path, files, found.log.size)


def verify_folder(folder: Path, settings: Settings, progress: Progress) -> Verification:
    """Verifies the log of a copied data folder with the key there, or that of the settings."""
    with open_read_only(folder) as copy:
        signer = kept_signer(copy, folder, settings.signing_key)
        return audit(copy, signer, read_checkpoint(folder), progress)


def _copy(store: ReadOnlyStore, settings: Settings, folder: Path, *, certs: bool) -> dict[str, Path]:
    """Copies the files into a folder. Returns each by its name in the archive."""
    files = {}
    # The lock keeps the signing key from being replaced. The remembered checkpoint comes before the log, which has to
    # extend it.
    with locked(settings.data_dir):
        for name in BESIDE:
            if (settings.data_dir / name).exists():
                files[f"data/{name}"] = _copied(settings.data_dir / name, folder)
        store.copy_to(folder / FILE)
        files[f"data/{FILE}"] = folder / FILE
    if certs:
        if not private_key_of(settings.certs_dir).is_file():
            raise Conflict("There is no certificate authority in certs_dir. Leave out --certs, or name its folder.")
        bundle = bundle_of(settings.certs_dir)
        for file in (*sorted(settings.certs_dir.glob("mitmproxy-*")), *([bundle] if bundle.is_file() else [])):
            files[f"certs/{file.name}"] = _copied(file, folder)
    return files


def _copied(file: Path, folder: Path) -> Path:
    # Without its mode: the folder is closed, and the archive has modes of its own.
    return Path(shutil.copyfile(file, folder / file.name))
