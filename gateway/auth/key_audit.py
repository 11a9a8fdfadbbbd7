"""Records what keys and providers' credentials were used for: which call, with what outcome, how often in each minute.

Never the key or the credential, but an id and a digest.

Uses are counted in memory and written in groups, off the path of requests. A crash loses those of the last second.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from gateway.store import Repositories, Store
from gateway.store.rows import ALL_RECEIPTS, KeyCallRow, ReceiptFilter

_KEPT = timedelta(days=90)
_MOST_ROWS = 100_000
_MOST_UNWRITTEN = 10_000
# The outcomes of uses that were not refused. All others are codes of errors.
_ENDS = ("answered", "forwarded", "dropped", "cancelled", "connected")


class KeyAudit:
    """The uses of all keys. For one thread, but for `write`'s and `forget`'s work in the store."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._store = store
        self._clock = clock
        self._unwritten: Counter[tuple[str, str, str, str, str]] = Counter()
        self._last: dict[tuple[str, str, str, str, str], str] = {}

    def note(self, who: tuple[str | None, str], call: str, outcome: str, request_id: str = "") -> None:
        """Counts a use. `who` is the id of the key and the digest of the provider's credential (`Callers.audited`).

        The id is empty for a key that is not valid, None without a key: then nothing is counted. `call` and `outcome`
        are words of the gateway's own, never of the client's.
        """
        key_id, credential = who
        if key_id is None:
            return
        use = (_minute(self._clock()), key_id, call, outcome, credential)
        if use in self._unwritten or len(self._unwritten) < _MOST_UNWRITTEN:
            self._unwritten[use] += 1
            self._last[use] = request_id

    async def write(self) -> None:
        """Writes what was counted since the last time. Raises Unavailable; then it is written the next time."""
        if not self._unwritten:
            return
        counted, self._unwritten = self._unwritten, Counter()
        last, self._last = self._last, {}
        rows = [KeyCallRow(*use[:4], count, use[4], last[use]) for use, count in counted.items()]
        try:
            await self._store.write(lambda stored: stored.keys.count_calls(rows))
        except Exception:  # Cancelled writes are made all the same.
            self._unwritten.update(counted)
            self._last = last | self._last
            raise

    async def forget(self) -> None:
        """Deletes what is older than 90 days, and the oldest beyond 100,000 entries. Raises Unavailable."""
        before = _minute(self._clock() - _KEPT)
        await self._store.write(lambda stored: stored.keys.forget_calls(before, _MOST_ROWS))


def read_uses(
    stored: Repositories,
    limit: int,
    offset: int,
    sought: ReceiptFilter = ALL_RECEIPTS,
    calls_of: Callable[[str], Iterable[str]] = lambda operation: (operation,),
) -> tuple[list[dict[str, Any]], int]:
    """Returns a page of uses, newest first, as `GET /v1/keys/audit` answers them, and how many there are in all.

    Only receipts know policies, types and models. If some are sought, the uses are those that left a receipt.
    `calls_of` returns the calls of an operation.
    """
    if sought.policies or sought.types or sought.models:
        rows, total = stored.keys.calls_with_receipts(limit, offset, sought)
    else:
        calls = tuple(call for operation in sought.operations for call in calls_of(operation))
        rows, total = stored.keys.calls(limit, offset, sought, calls, _ENDS)
    uses = [
        {
            "time": row.minute.replace("Z", ":00Z"),
            "key_id": row.key_id or None,
            "label": label,
            "credential": row.credential or None,
            "call": row.call,
            "outcome": row.outcome,
            "count": row.amount,
            "request_id": row.request_id or None,
        }
        for row, label in rows
    ]
    return uses, total


def _minute(time: datetime) -> str:
    return time.isoformat()[:16] + "Z"
