"""The file of the signing key: loaded for a store, never made anew beside existing records, replaced by a rotation."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from pydantic import SecretStr

from gateway.config.durable_files import create, replacing
from gateway.config.settings import SettingsError
from gateway.receipt_log.checkpoint_file import locked, read_checkpoint
from gateway.receipt_log.consistency import has_records, read_history
from gateway.receipts.checkpoint import is_signed_by_another
from gateway.receipts.records import decoded
from gateway.receipts.signing import Signer, Verifier, new_key
from gateway.store import ReadOnlyStore, Store

FILE = "signing.key"
NEXT = "signing.key.next"
"""The key that is about to replace the one in `FILE`."""

_log = logging.getLogger(__name__)

_REMEDY = "restore it from the backup, or start with another `--data-dir DIR`"


def load_signer(data_dir: Path, given: SecretStr | None = None) -> Signer:
    """Loads the `given` key, or else the one in `data_dir`, which the first start creates (PKCS #8 in PEM, 0600).

    Processes that start at once get the same key. Raises SettingsError for a damaged file; it is not replaced, since
    earlier receipts could not be verified with a new key.
    """
    if given is not None:
        return _parse(given.get_secret_value().encode(), "signing_key: it must be an Ed25519 key (PKCS #8 in PEM)")
    path = data_dir / FILE
    if not path.exists():
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        create(path, new_key())
    return _read(path)


def signer_of(store: Store, data_dir: Path, given: SecretStr | None = None) -> Signer:
    """Loads the key of a store as `load_signer` does.

    Raises SettingsError if the key is missing, damaged or not the one that signed the log. Nothing could be appended,
    and a new key would hide that the old one has to be restored. Waits for a rotation that is under way.
    """
    with locked(data_dir):
        return _signer_of(store, data_dir, given)


def _signer_of(store: Store, data_dir: Path, given: SecretStr | None) -> Signer:
    # The store is read before the key: a process that starts at the same time creates its key before its first record.
    recorded, head = store.read_now(lambda stored: (has_records(stored.receipts), stored.receipts.head()))
    remembered = read_checkpoint(data_dir)
    is_there = given is not None or (data_dir / FILE).exists()
    if not is_there and (recorded or (remembered is not None and remembered.size)):
        raise SettingsError(f"{FILE} is missing from data_dir, and its receipts are signed with it; {_REMEDY}")
    if given is None and is_there and head is None and remembered is None and not recorded:
        _log.warning("a new receipt log is begun beside a %s that was there before it", FILE)
    signer = load_signer(data_dir, given)
    note = decoded(head.checkpoint) if head is not None and head.size else ""
    if given is None and is_signed_by_another(note, signer) and (found := find_signer(data_dir, note)) is not None:
        # A rotation was interrupted after its record was durable.
        (data_dir / NEXT).replace(data_dir / FILE)
        signer = found
    keys = store.read_now(lambda stored: read_history(stored.receipts, signer).verifiers)
    last = remembered.note if remembered is not None and remembered.size else ""
    if is_signed_by_another(note, signer) or all(is_signed_by_another(last, each) for each in keys):
        key = f"{FILE} in data_dir" if given is None else "signing_key"
        raise SettingsError(f"{key} is not the key that the receipts in data_dir are signed with; {_REMEDY}")
    return signer


def kept_signer(store: ReadOnlyStore, data_dir: Path, given: SecretStr | None = None) -> Signer:
    """Loads the key of a store for reading. Never creates one: a new key could not verify existing receipts.

    Raises SettingsError.
    """
    if given is not None:
        return load_signer(data_dir, given)
    if not (data_dir / FILE).is_file():
        raise SettingsError(
            f"{FILE} is missing from data_dir, so receipts cannot be verified; restore it from a backup"
        )
    # After a rotation that was interrupted, until the next start, the log is signed by the key that is about to follow.
    head = store.read(lambda stored: stored.receipts.head())
    found = find_signer(data_dir, decoded(head.checkpoint)) if head is not None else None
    return found or load_signer(data_dir)


def find_signer(data_dir: Path, note: str) -> Signer | None:
    """Returns the key in `data_dir` that signed a checkpoint: the current one, or the one about to replace it."""
    for name in (FILE, NEXT):
        if (data_dir / name).exists():
            signer = _read(data_dir / name)
            if not is_signed_by_another(note, signer):
                return signer
    return None


def rotate_signing_key(data_dir: Path, record: Callable[[Signer], None]) -> Verifier:
    """Replaces the key in `data_dir` and returns the new one. A gateway that is running takes it over.

    `record` writes the replacement to the log, durably, so that receipts of the old key stay verifiable. The new key is
    durable before that, and takes the place of the old one afterwards. A start completes what a crash interrupts
    between the two. Raises Unavailable, OSError.
    """
    with locked(data_dir) as folder:
        with replacing(data_dir / NEXT) as draft:
            draft.write(new_key())
        if folder is not None:
            os.fsync(folder)
        new = _read(data_dir / NEXT)
        record(new)
        (data_dir / NEXT).replace(data_dir / FILE)
        if folder is not None:
            os.fsync(folder)
    return new


def _read(path: Path) -> Signer:
    damaged = f"{path.name} in data_dir is damaged: it must hold an Ed25519 key; restore it from a backup"
    return _parse(path.read_bytes(), damaged)


def _parse(pem: bytes, damaged: str) -> Signer:
    signer = Signer.from_pem(pem)
    if signer is None:
        raise SettingsError(damaged)
    return signer
