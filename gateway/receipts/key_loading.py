"""The signing key of a store that is opened: the one that signed what is there. None is made beside its records."""

import logging
from pathlib import Path

from gateway.config.settings import SettingsError
from gateway.receipts.checkpoint import is_signed_by_another
from gateway.receipts.checkpoint_file import read_checkpoint
from gateway.receipts.consistency import has_records
from gateway.receipts.records import decoded
from gateway.receipts.signing import FILE, Signer
from gateway.store import Store

_log = logging.getLogger(__name__)

_REMEDY = "restore it from the backup, or start with another `--data-dir DIR`"


def signer_of(store: Store, data_dir: Path) -> Signer:
    """The key in `data_dir`, made there when the store is new.

    Raises SettingsError for one that is missing, damaged or another one: nothing could be appended to the log, and a
    new key beside it would hide that the old one is to be restored.
    """
    # In this order: whoever starts at the same time makes the key before the first record.
    recorded, head = store.read_now(lambda stored: (has_records(stored.receipts), stored.receipts.head()))
    remembered = read_checkpoint(data_dir)
    is_there = (data_dir / FILE).exists()
    if not is_there and (recorded or (remembered is not None and remembered.size)):
        raise SettingsError(f"{FILE} is missing from data_dir, and its receipts are signed with it; {_REMEDY}")
    if is_there and head is None and remembered is None and not recorded:
        _log.warning("a new receipt log is begun beside a %s that was there before it", FILE)
    signer = Signer.load(data_dir)
    notes = [decoded(head.checkpoint)] if head is not None and head.size else []
    notes += [remembered.note] if remembered is not None and remembered.size else []
    if any(is_signed_by_another(note, signer) for note in notes):
        raise SettingsError(f"{FILE} in data_dir is not the key that the receipts beside it are signed with; {_REMEDY}")
    return signer
