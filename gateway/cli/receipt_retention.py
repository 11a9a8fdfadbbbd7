"""`run_proxy.py receipts prune --before DATE|AGE` and `receipts export --by-day DIR`."""

import argparse
from datetime import UTC, date, datetime
from pathlib import Path

from gateway.cli.console import report
from gateway.cli.progress import progress
from gateway.cli.receipt_log import open_log
from gateway.cli.store_commands import check_not_lost
from gateway.config.ages import parse_age
from gateway.config.settings import Settings
from gateway.receipt_log.audit import size_of
from gateway.receipt_log.export import export_days
from gateway.receipt_log.pruning import is_held_up
from gateway.receipts.signing import Signer
from gateway.store import ReadOnlyStore, open_read_only


def past_day(text: str) -> date:
    """Parses a day that is not in the future, as YYYY-MM-DD, or how long ago it is, as 30d or 8w."""
    today, age = datetime.now(UTC).date(), parse_age(text)
    if age is not None:
        return today - age
    try:
        day = date.fromisoformat(text)
    except ValueError:
        message = "write a day as YYYY-MM-DD, or how long ago it is in days or weeks, such as 30d or 8w"
        raise argparse.ArgumentTypeError(message) from None
    if day > today:
        raise argparse.ArgumentTypeError("must not be in the future")
    return day


def prune_receipts(settings: Settings, options: argparse.Namespace) -> int:
    """Deletes old records. A gateway may be running. Returns 0. Raises SettingsError, Unavailable for a broken log."""
    check_not_lost(settings)
    # Creates nothing where there is no log.
    with open_read_only(settings.data_dir, settings.postgresql) as existing:
        bounds = existing.read(lambda stored: stored.receipts.bounds())
    size = pruned = bounds[0] - 1 if bounds else 0
    with open_log(settings) as (store, log, _):
        with progress("Deleting", 0) as advance:
            while (now := log.prune(options.before)) is not None:
                advance(now - size)
                size = now
        held_up = store.read_now(lambda stored: is_held_up(stored.receipts, options.before))
    deleted = size - pruned
    left = " The others stay until the oldest request among them ends, and with its outcome." if held_up else ""
    done = {"deleted": deleted, "before": options.before.isoformat(), "held_up": held_up}
    return report(options, done, f"Deleted {deleted} records from before {options.before}.{left}")


def export_by_day(store: ReadOnlyStore, signer: Signer, options: argparse.Namespace) -> int:
    """Writes one file for each day. Returns 0."""
    folder: Path = options.by_day
    with progress("Exporting", size_of(store)) as advance:
        files = list(export_days(store, signer, folder, advance))
    records = sum(count for _, count in files)
    names = [{"file": str(path), "records": count} for path, count in files]
    done = {"files": names, "records": records, "key_id": signer.key_id}
    return report(options, done, f"Exported {records} records of {len(files)} days to {folder}.")
