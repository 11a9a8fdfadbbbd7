"""Opens the receipt log for the commands that write to it, and the key for those that read it.

A gateway may be running meanwhile.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from gateway.cli.store_commands import open_kept_store
from gateway.config.private_files import check_account
from gateway.config.settings import Settings
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import kept_signer, signer_of
from gateway.receipts.signing import Signer
from gateway.store import ReadOnlyStore, Store


@contextmanager
def open_log(settings: Settings) -> Iterator[tuple[Store, ReceiptLog, Signer]]:
    """Opens the log and checks it. Raises SettingsError, or Unavailable for a broken log."""
    check_account(settings.data_dir)
    with closing(open_kept_store(settings)) as store:
        signer = signer_of(store, settings.data_dir, settings.signing_key)
        log = ReceiptLog(store, signer, settings.data_dir)
        log.check()
        yield store, log, signer


def installed_signer(store: ReadOnlyStore, settings: Settings) -> Signer:
    """Loads the signing key of the installation. Never creates one. Raises SettingsError."""
    return kept_signer(store, settings.data_dir, settings.signing_key)
