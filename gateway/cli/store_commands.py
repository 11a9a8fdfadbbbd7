"""Commands that read the store, which they load; the others start faster without it."""

import argparse
from collections.abc import Callable

from gateway.cli.console import CommandLine, unreadable
from gateway.config.private_files import check_account
from gateway.config.settings import Settings
from gateway.errors import Unavailable
from gateway.receipt_log.checkpoint_file import read_checkpoint
from gateway.store import ReadOnlyStore, Store, open_existing_store, open_read_only, open_store, store_exists

type StoreAction = Callable[[ReadOnlyStore, Settings, argparse.Namespace], int]

_LOST = "gateway.db is missing from data_dir, and receipts.checkpoint says that it had receipts; restore both together"


def finish_reader(
    line: CommandLine, parser: argparse.ArgumentParser, action: StoreAction, *, json: bool = True
) -> None:
    """Makes `parser` run `action` on the store in `data_dir`, read-only. A gateway may be running meanwhile.

    The exit status is what `action` returns, 1 if the store or a record is missing or damaged, 2 for unusable settings.
    """

    def run(settings: Settings, options: argparse.Namespace) -> int:
        try:
            check_not_lost(settings)
            with open_read_only(settings.data_dir, settings.postgresql) as look:
                return action(look, settings, options)
        except OSError as error:
            unreadable(error, as_json=getattr(options, "json", False))
            return 1

    line.finish(parser, run, json=json)


def open_kept_store(settings: Settings) -> Store:
    """Opens the store for a command that changes it. Raises StoreError, and as `check_not_lost` does."""
    check_not_lost(settings)
    return open_existing_store(settings.data_dir, settings.postgresql)


def open_new_store(settings: Settings) -> Store:
    """Opens the store in `data_dir`, which it creates if it is missing.

    Raises SettingsError, StoreError, and as `check_not_lost` does.
    """
    is_first = not store_exists(settings.data_dir, settings.postgresql)
    if is_first:
        check_account(settings.data_dir)
    folder = settings.make_data_dir()
    check_not_lost(settings)
    open_it = open_store if is_first else open_existing_store
    return open_it(folder, settings.postgresql)


def check_not_lost(settings: Settings) -> None:
    """Raises Unavailable (`receipt_log_broken`) if a checkpoint remembers receipts and the database is missing."""
    folder = settings.data_dir
    is_lost = folder.is_dir() and not store_exists(folder, settings.postgresql)
    remembered = read_checkpoint(folder) if is_lost else None
    if remembered is not None and remembered.size:
        raise Unavailable(_LOST, code="receipt_log_broken")
