"""Opens the receipt log for the commands that write to it, beside a gateway that may be running."""

from collections.abc import Iterator
from contextlib import contextmanager

from gateway.config.settings import Settings
from gateway.receipts import ReceiptLog, Signer
from gateway.receipts.key_loading import signer_of
from gateway.store import Store, open_store


@contextmanager
def open_log(settings: Settings) -> Iterator[tuple[Store, ReceiptLog, Signer]]:
    """Opens the log and checks it. Raises SettingsError, or Unavailable for a broken log."""
    store = open_store(settings.data_dir)
    try:
        signer = signer_of(store, settings.data_dir, settings.signing_key)
        log = ReceiptLog(store, signer, settings.data_dir)
        log.check()
        yield store, log, signer
    finally:
        store.close()
