"""Deletes the records that are older than the setting `receipts_keep`, once a day."""

import asyncio
import logging
from datetime import UTC, date, datetime, timedelta
from functools import partial

from gateway.errors import Unavailable
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.pruning import is_held_up
from gateway.store import Repositories, Store

_log = logging.getLogger(__name__)

# After a start, requests and the outcomes of interrupted ones come first.
_FIRST_SECONDS = 60.0
_SECONDS = 86_400.0


class Retention:
    """Has records deleted as `receipts prune` does. Several processes on one log may each do so."""

    def __init__(self, store: Store, log: ReceiptLog, keep: timedelta) -> None:
        self._store = store
        self._log = log
        self._keep = keep

    async def run(self) -> None:
        """Runs until it is cancelled."""
        await asyncio.sleep(_FIRST_SECONDS)
        while True:
            try:
                await self.prune(datetime.now(UTC).date())
            except Unavailable as error:
                _log.warning("receipts_keep: receipts could not be deleted; tried again in a day: %s", error.code)
            await asyncio.sleep(_SECONDS)

    async def prune(self, today: date) -> int | None:
        """Deletes what is too old on a day. Returns how many records the log has lost in all, if it lost any now.

        Deletes nothing if nothing was recorded in the time to keep: then the clock may have jumped ahead. Raises
        Unavailable.
        """
        before, pruned = today - self._keep, None
        if not await self._store.read(lambda stored: is_held_up(stored.receipts, before)):
            return None
        if not await self._store.read(partial(_has_records_between, before, today)):
            _log.warning(
                "receipts_keep: no receipts are deleted, because all from before today are too old, and the clock may "
                "be wrong; if it is right, run `receipts prune --before %s`",
                before,
            )
            return None
        while (size := await asyncio.to_thread(self._log.prune, before)) is not None:
            pruned = size
        if pruned is not None:
            _log.info(
                "receipts_keep: deleted the receipts from before %s: the log lost %d records in all", before, pruned
            )
        return pruned


def _has_records_between(first: date, end: date, stored: Repositories) -> bool:
    """Whether the meters, which outlive the records, counted anything from a day on until another."""
    days = {row.day for row in stored.usage.days((end - first).days + 366)}
    return any(first.isoformat() <= day < end.isoformat() for day in days)
