"""`run_proxy.py receipts prune --before DATE` and `receipts export --by-day DIR`."""

import argparse
from datetime import UTC, date, datetime
from pathlib import Path

from gateway.cli.console import print_error, print_json
from gateway.cli.progress import progress
from gateway.config.settings import Settings, SettingsError
from gateway.errors import GatewayError
from gateway.receipts import ReceiptLog, Signer
from gateway.receipts.audit import size_of
from gateway.receipts.by_day import DayExport
from gateway.receipts.key_loading import signer_of
from gateway.receipts.pruning import is_held_up
from gateway.store import ReadOnlyStore, open_read_only, open_store


def past_day(text: str) -> date:
    """Parses a day, as YYYY-MM-DD, that is not in the future."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError("write a day as YYYY-MM-DD") from None
    if day > datetime.now(UTC).date():
        raise argparse.ArgumentTypeError("must not be in the future")
    return day


def prune_receipts(settings: Settings, options: argparse.Namespace) -> int:
    """Deletes old records. A gateway may be running. Returns 0, or 1 if the log is broken, 2 for unusable settings."""
    try:
        # Creates nothing where there is no log.
        with open_read_only(settings.data_dir) as existing:
            bounds = existing.read(lambda stored: stored.receipts.bounds())
        deleted, held_up = _prune(settings, options.before, bounds[0] - 1 if bounds else 0)
    except SettingsError as error:
        print_error("; ".join(error.problems), "unusable_settings", None, as_json=options.json)
        return 2
    except GatewayError as error:
        print_error(error.message, error.code, error.param, as_json=options.json)
        return 1
    if options.json:
        print_json({"deleted": deleted, "before": options.before.isoformat(), "held_up": held_up})
    else:
        left = " The others stay until the oldest request among them ends, and with its outcome." if held_up else ""
        print(f"Deleted {deleted} records from before {options.before}.{left}")
    return 0


def _prune(settings: Settings, before: date, pruned: int) -> tuple[int, bool]:
    """Returns how many records were deleted, and whether older ones had to stay."""
    store = open_store(settings.data_dir)
    try:
        log = ReceiptLog(store, signer_of(store, settings.data_dir, settings.signing_key), settings.data_dir)
        log.check()
        size = pruned
        with progress("Deleting", 0) as advance:
            while (now := log.prune(before)) is not None:
                advance(now - size)
                size = now
        return size - pruned, store.read_now(lambda stored: is_held_up(stored.receipts, before))
    finally:
        store.close()


def export_by_day(store: ReadOnlyStore, signer: Signer, folder: Path, *, as_json: bool) -> int:
    """Writes one file for each day. Returns 0."""
    with progress("Exporting", size_of(store)) as advance:
        files = list(DayExport(store, signer, folder).write(advance))
    records = sum(file.records for file in files)
    if as_json:
        names = [{"file": str(file.path), "records": file.records} for file in files]
        print_json({"files": names, "records": records, "key_id": signer.key_id})
    else:
        print(f"Exported {records} records of {len(files)} days to {folder}.")
    return 0
