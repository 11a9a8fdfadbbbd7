"""Decides which records a pruning deletes: of whole requests that have ended, and as they were signed."""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import accumulate, takewhile

from gateway.errors import Unavailable
from gateway.receipt_log.consistency import read_history
from gateway.receipt_log.proofs import checkpoint_at
from gateway.receipt_log.record_days import in_order, runs_of, stated_day, today
from gateway.receipt_log.tree import IncompleteTree, StoredTree
from gateway.receipts.drafts import EXCHANGES
from gateway.receipts.records import decoded
from gateway.receipts.signing import Signer
from gateway.receipts.verify import ChainWalk, parse
from gateway.store import Receipts
from gateway.store.rows import OpenReceipt, StoredRecord

AT_ONCE = 10_000
"""Records deleted in one transaction. That takes a fraction of a second, for which other writes wait."""

_OUTWEIGHS = 100
"""How many older records have to follow one from the day or later, before its time is taken for wrong."""


def find_boundary(receipts: Receipts, before: date, signer: Signer, limit: int | None = None) -> int | None:
    """Returns up to which record to delete those made before a day. None if there are none.

    A receipt stays if its outcome does, or is not written yet. Raises Unavailable (`receipt_log_broken`) where a record
    was changed, since deleting it would delete the evidence.
    """
    limit = limit or AT_ONCE
    rows = receipts.after(None, limit)
    old = _oldest(receipts, rows, before)
    ended = _before_open(receipts, old)
    size = _without_halves(receipts, ended)
    if size is None:
        is_cut_short = len(ended) == len(rows) == limit
        return find_boundary(receipts, before, signer, 2 * limit) if is_cut_short else None
    start = read_history(receipts, signer).start
    try:
        walk = ChainWalk(start.hash, StoredTree(receipts).frontier(start.size))
    except IncompleteTree:
        raise _changed() from None
    walk.feed(row for row in old if row.sequence <= size)
    if walk.broken is not None or walk.state.root != checkpoint_at(receipts, size, signer).root:
        raise _changed()
    return size


def open_exchanges(receipts: Receipts, first: int, last: int, instances: Sequence[str] = ()) -> list[OpenReceipt]:
    """Returns the receipts of exchanges from sequence `first` to `last` that have no outcome, in ascending order.

    If `instances` are named, only theirs.
    """
    found = receipts.without_outcome(first, last, instances)
    return [row for row in found if (parse(row.body) or {}).get("operation") in EXCHANGES]


def is_held_up(receipts: Receipts, before: date) -> bool:
    """Whether the log still begins with records that were made before a day."""
    return len(_oldest(receipts, receipts.after(None, AT_ONCE), before)) > 0


def count_before(rows: Sequence[StoredRecord], before: date) -> int:
    """Counts the records, from the first on, that were made before a day.

    One whose time goes backwards is no evidence, so it counts only with its neighbours. So does one that is dated later
    than today; and one that is dated from that day on if enough older ones follow it, since otherwise it may be they
    that were made while the clock was behind.
    """
    day, latest, runs = before.isoformat(), today(), runs_of(map(stated_day, rows))
    right = {place for place in in_order(runs, latest) if runs[place].day < day}
    ends = list(accumulate(run.size for run in runs))
    old = max(right, default=-1)
    for place in range(old):
        if day <= runs[place].day <= latest:
            following = sum(runs[each].size for each in right if each > place)
            newer = sum(run.size for run in runs[place:old] if day <= run.day <= latest)
            if following < _OUTWEIGHS * newer:
                old = max((each for each in right if each < place), default=-1)
                break
    return ends[old] if old >= 0 else 0


def _oldest(receipts: Receipts, rows: Sequence[StoredRecord], before: date) -> Sequence[StoredRecord]:
    """Returns the records, from the first on, that were made before a day. `rows` are the first of the log."""
    size = count_before(rows, before)
    if not size and len(rows) >= AT_ONCE and not any(map(_has_evidence, rows)):
        return rows if _is_followed_by_older(receipts, rows, before) else ()
    return rows[:size]


def _has_evidence(row: StoredRecord) -> bool:
    return "" < stated_day(row) <= today()


def _is_followed_by_older(receipts: Receipts, rows: Sequence[StoredRecord], before: date) -> bool:
    """Whether rows that are all dated later than today are followed by records that were made before a day.

    While the clock was ahead, any number may have been made. So single ones are looked at, each a tenth further away.
    """
    place = rows[-1].sequence
    while found := receipts.after(place, 1):
        if _has_evidence(found[0]):
            return count_before(receipts.after(place, AT_ONCE), before) > 0
        place += 1 + (place - rows[0].sequence) // 10
    return False


def _before_open(receipts: Receipts, rows: Sequence[StoredRecord]) -> Sequence[StoredRecord]:
    """Returns the rows before the first exchange that is still to get its outcome, which needs the receipt."""
    still_open = open_exchanges(receipts, rows[0].sequence, rows[-1].sequence) if rows else []
    ids = {row.request_id for row in still_open}
    return list(takewhile(lambda row: row.request_id not in ids, rows))


def _without_halves(receipts: Receipts, rows: Sequence[StoredRecord]) -> int | None:
    """Returns the last of the rows up to which no receipt has its outcome after it."""
    spans, last = list(_spans(receipts, rows)), rows[-1].sequence if rows else 0
    while split := [first for first, end in spans if first <= last < end]:
        last = min(split) - 1
    return last if rows and last >= rows[0].sequence else None


def _spans(receipts: Receipts, rows: Sequence[StoredRecord]) -> Iterator[tuple[int, int]]:
    """Yields where each request begins and ends. Where it does not end among the rows, it ends after them."""
    ends = {row.request_id: row.sequence for row in rows if row.kind == b"outcome"}
    for row in rows:
        if row.kind == b"receipt":
            if row.request_id in ends:
                yield row.sequence, ends[row.request_id]
            elif "outcome" in receipts.filed(decoded(row.request_id)):
                yield row.sequence, rows[-1].sequence + 1


def _changed() -> Unavailable:
    message = "Nothing is deleted, because records before that day were changed. `receipts verify` says where."
    return Unavailable(message, code="receipt_log_broken")
