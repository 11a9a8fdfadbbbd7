"""Opens the receipt log for the commands that write to it, and the key for those that read it.

A gateway may be running meanwhile.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from gateway.cli.store_commands import open_kept_store
from gateway.config.settings import Settings, SettingsError
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import FILE, find_signer, load_signer, signer_of
from gateway.receipts.records import decoded
from gateway.receipts.signing import Signer
from gateway.store import ReadOnlyStore, Store


@contextmanager
def open_log(settings: Settings) -> Iterator[tuple[Store, ReceiptLog, Signer]]:
    """Opens the log and checks it. Raises SettingsError, or Unavailable for a broken log."""
    with closing(open_kept_store(settings.data_dir)) as store:
        signer = signer_of(store, settings.data_dir, settings.signing_key)
        log = ReceiptLog(store, signer, settings.data_dir)
        log.check()
        yield store, log, signer


def installed_signer(store: ReadOnlyStore, settings: Settings) -> Signer:
    """Loads the signing key of the installation. Never creates one: a new key could not verify existing receipts.

    Raises SettingsError.
    """
    if settings.signing_key is not None:
        return load_signer(settings.data_dir, settings.signing_key)
    if not (settings.data_dir / FILE).is_file():
        raise SettingsError(
            f"{FILE} is missing from data_dir, so receipts cannot be verified; restore it from a backup"
        )
    # After a rotation that was interrupted, until the next start, the log is signed by the key that is about to follow.
    head = store.read(lambda stored: stored.receipts.head())
    found = find_signer(settings.data_dir, decoded(head.checkpoint)) if head is not None else None
    return found or load_signer(settings.data_dir)
