"""The interfaces of a backend, and its guarantees. tests/gateway/store/ holds each backend to them."""

import concurrent.futures
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from gateway.store.rows import (
    ALL_RECEIPTS,
    CorrectionRow,
    CorrectionsHead,
    EndRow,
    FactsRow,
    KeyCallRow,
    KeyRow,
    KeyUseRow,
    MeterRow,
    NewRecord,
    NodeRow,
    OpenReceipt,
    PolicyRow,
    PreviousSecretRow,
    ReceiptFilter,
    SealedRow,
    SessionRow,
    StoredHead,
    StoredReceipt,
    StoredRecord,
)


class Keys(Protocol):
    """API keys. Rows are never deleted.

    `key_id` and `secret_hash` are unique. Every `add`, `revoke` and `rotate` increases `revision` in the same
    transaction, so that other processes notice a change with one small query.
    """

    def add(self, key: KeyRow) -> None:
        """Raises ConstraintViolation when the id or the hash exists."""

    def revoke(self, key_id: str, revoked_at: str) -> KeyRow | None:
        """Marks a key as revoked and returns it; None when there is none. The first `revoked_at` stays."""

    def rotate(self, key_id: str, secret_hash: bytes, now: str, ends_at: str, expires_at: str | None) -> KeyRow | None:
        """Gives a key another secret and expiry, and returns it; None when there is none that is not revoked.

        The previous secret is listed until `ends_at`, and so are earlier ones at most. Those of this key that ended by
        `now` are deleted.
        """

    def previous(self) -> list[PreviousSecretRow]:
        """The previous secrets of keys that are not revoked, ended ones included, in any order."""

    def all(self) -> list[KeyRow]:
        """Every key, oldest first; of one second, in the order in which they were added."""

    def active(self) -> list[KeyRow]:
        """The keys that are not revoked, in any order."""

    def revision(self) -> int:
        """A number that grows with every change."""

    def count_use(self, rows: Sequence[KeyUseRow], forget_before: str) -> None:
        """Adds to the counts of keys, in one round trip, and deletes those of periods before `forget_before`.

        Changes no `revision`. Each sum stops at `LARGEST_NUMBER`.
        """

    def used(self, key_id: str, period: str) -> tuple[int, int]:
        """The requests and characters counted for a key in a period; zeros if none were. Takes microseconds."""

    def count_calls(self, rows: Sequence[KeyCallRow]) -> None:
        """Adds to the counts of calls, in one round trip. Changes no `revision`."""

    def calls(
        self,
        limit: int,
        offset: int,
        sought: ReceiptFilter = ALL_RECEIPTS,
        calls: tuple[str, ...] = (),
        ends: tuple[str, ...] = (),
    ) -> tuple[list[tuple[KeyCallRow, str | None]], int]:
        """A page of calls with the label of each key, newest first, and how many there are in all.

        Of the filter, keys, times and outcomes count; an outcome that is none of `ends` is a refusal. `calls` are those
        that are sought, if not all.
        """

    def calls_with_receipts(
        self, limit: int, offset: int, sought: ReceiptFilter
    ) -> tuple[list[tuple[KeyCallRow, str | None]], int]:
        """The same of the receipts that are sought. Those without an outcome are `answered`, or `open` with a wire."""

    def forget_calls(self, before: str, most: int) -> None:
        """Deletes the calls of minutes before `before`, and the oldest ones beyond about `most`.

        Counts those without a valid gateway key apart, so that no stranger can have the others deleted.
        """


class Sessions(Protocol):
    """Vault sessions and their sealed rows. `session_id` is unique, and so is a row's number within its session."""

    def add(self, session: SessionRow) -> None:
        """Raises ConstraintViolation when the id exists."""

    def find(self, session_id: str) -> SessionRow | None:
        """The session, also after it expired, until `delete_emptied` removes it."""

    def sealed(self, session_id: str, first: int = 0) -> list[SealedRow]:
        """The sealed rows from number `first` on, in ascending order."""

    def append(self, session_id: str, row: SealedRow, values: int) -> None:
        """Adds a sealed row with that many values, and counts both.

        Raises ConstraintViolation when the number is taken or the session does not exist.
        """

    def replace(self, session_id: str, expires_at: float, rows: Sequence[SealedRow]) -> None:
        """Sets when a session expires, and replaces all its sealed rows by as many that are sealed for it."""

    def delete(self, session_id: str) -> None:
        """Deletes a session and its sealed rows, which leave the storage after `Store.erase_deleted_soon`."""

    def latest_time(self) -> float:
        """The latest time that was noted, in Unix seconds; 0 if none was."""

    def note_time(self, now: float) -> None:
        """Notes a time. An earlier one than the latest changes nothing."""

    def empty_expired(self, now: float, limit: int) -> int:
        """Deletes the sealed rows of at most `limit` sessions that expired by `now`, each once.

        Returns the number of sessions. What was deleted leaves the storage after `Store.erase_deleted_soon`.
        """

    def delete_emptied(self, expired_by: float, limit: int) -> int:
        """Deletes at most `limit` emptied sessions that expired by `expired_by`. Returns how many."""


class Policies(Protocol):
    """Policy documents, and which policies are retired. Rows are only ever added.

    `hash` is unique, and so are `id` and `version` together among documents that are not built in.
    """

    def add(self, policy: PolicyRow) -> bool:
        """Adds a document; False when uniqueness forbids it, and then nothing is written."""

    def after(self, position: int) -> list[tuple[int, str]]:
        """Position and document of everything added after `position`, in the order in which it was added.

        Positions are positive and increase with every document that any process adds.
        """

    def retire(self, id: str, version: int) -> None:
        """Marks a policy as retired up to this version. The first mark stays."""

    def retired(self) -> dict[str, int]:
        """The highest version up to which each policy is retired, by its id."""

    def revision(self) -> tuple[int, int]:
        """Numbers of which one grows with every change. Takes microseconds."""

    def by_hash(self, hash: str) -> str | None:
        """The document with this hash."""


class Receipts(Protocol):
    """The records of the receipt log, its Merkle tree, and its head.

    `sequence` is unique, and so are `request_id` and `kind` together, and `level` and `number` of a subtree. What is
    stored is returned even where it was changed from outside: verification judges it, so nothing is repaired, filtered
    or hidden.
    """

    def add(self, records: Sequence[NewRecord]) -> None:
        """Adds records in one round trip. Raises ConstraintViolation when uniqueness forbids one of them."""

    def add_nodes(self, nodes: Sequence[NodeRow]) -> None:
        """Adds subtrees in one round trip. One that exists is replaced."""

    def nodes(self, level: int, first: int, count: int) -> list[NodeRow]:
        """The subtrees of a level from number `first` on, in ascending order; at most `count`."""

    def set_head(self, size: int, hash: str, checkpoint: str) -> None:
        """Replaces the head."""

    def head(self) -> StoredHead | None:
        """The head, or None when there is none."""

    def filed(self, request_id: str) -> dict[str, tuple[str, str]]:
        """The owner and hash of each record of a request, by its kind."""

    def find(self, request_id: str, owner: str | None) -> StoredReceipt | None:
        """The receipt of a request with its outcome, if it is of `owner`; of any owner for None."""

    def without_outcome(self, first: int, last: int, instances: Sequence[str] = ()) -> list[OpenReceipt]:
        """The receipts from sequence `first` to `last` without an outcome, in ascending order.

        If `instances` are named, only theirs; a backend for one machine does not tell them apart.
        """

    def ended_instances(self) -> dict[str, int]:
        """The instances that wrote records and ended, or are silent, each with the sequence of the first record."""

    def forget_instances(self, instances: Sequence[str]) -> None: ...

    def add_facts(self, receipts: Sequence[FactsRow], outcomes: Sequence[EndRow]) -> None:
        """Adds what receipts are found by and counted with, and then what outcomes add to that.

        It is deleted with the receipt. An outcome without a receipt adds nothing.
        """

    def page(self, limit: int, offset: int, sought: ReceiptFilter = ALL_RECEIPTS) -> tuple[list[StoredReceipt], int]:
        """Receipts with their outcomes, newest first, and how many there are in all. All, if nothing is sought.

        Otherwise the time depends on how many receipts there are, or on how many of those of a time or an owner.
        """

    def matching(self, sequences: Sequence[int], sought: ReceiptFilter) -> set[int]:
        """Returns which of these receipts, some hundreds at most, are sought."""

    def after(self, sequence: int | None, limit: int) -> list[StoredRecord]:
        """The next records of both kinds in ascending order; for None from the first, whatever its number."""

    def of_kind(self, kind: str, limit: int) -> list[StoredRecord]:
        """The newest records of a kind that is not of requests, newest first. Takes microseconds."""

    def delete_up_to(self, sequence: int) -> None:
        """Deletes the records up to a sequence and the digests of their values.

        They leave the storage after `Store.erase_deleted_soon`.
        """

    def delete_leaves(self, below: int) -> None:
        """Deletes the nodes of level 0 whose number is below this."""

    def hash_at(self, sequence: int) -> bytes | None:
        """The hash stored with a record, or None when there is no such record."""

    def bounds(self) -> tuple[int, int] | None:
        """The least and the greatest sequence, or None when there are no records. Takes microseconds."""

    def count(self) -> int:
        """The number of records of both kinds."""

    def add_values(self, rows: Sequence[tuple[bytes, int]]) -> None:
        """Adds keyed digests of values that requests had protected, each with the sequence of the receipt.

        Sequences are positive. What exists stays.
        """

    def with_value(self, digest: bytes, limit: int, offset: int) -> tuple[list[StoredReceipt], int]:
        """Receipts with this digest and their outcomes, newest first, and how many there are in all.

        The time depends on how many there are, and on one lookup for every 64 records of the log.
        """

    def set_value_key(self, mark: bytes) -> None:
        """Notes what marks the key that digests are made with from now on."""

    def value_key(self) -> bytes | None:
        """The last mark that was noted."""


class Usage(Protocol):
    """Meters: one amount for each day, meter and name."""

    def add(self, meters: Sequence[MeterRow]) -> None:
        """Adds to the amounts, in one round trip. Each stops at `LARGEST_NUMBER`.

        Each combination of day, meter and name occurs at most once in `meters`.
        """

    def totals(self) -> list[tuple[str, str, int]]:
        """Meter, name and the sum over all days, which stops at `LARGEST_NUMBER`."""

    def days(self, limit: int) -> list[MeterRow]:
        """The newest `limit` days, in ascending order of day, meter and name."""

    def names(self, meter: str) -> set[str]:
        """The names that a meter has."""

    def totals_of(self, sought: ReceiptFilter) -> list[tuple[str, str, int]]:
        """Meter, name and sum over the receipts that are sought, as `totals` has them of all that there ever were."""

    def days_of(self, sought: ReceiptFilter, limit: int) -> list[MeterRow]:
        """The newest `limit` days of the receipts that are sought, in ascending order, with operations and tokens."""


class Corrections(Protocol):
    """Rows of corrections and their head, which its owner keeps consistent within a transaction."""

    def revision(self) -> int:
        """The number of changes. Takes microseconds."""

    def head(self) -> CorrectionsHead: ...

    def set_head(self, head: CorrectionsHead) -> None: ...

    def all(self) -> list[CorrectionRow]:
        """All rows, in the order of their ids."""

    def add(self, rows: Iterable[CorrectionRow]) -> None: ...

    def delete(self, ids: Iterable[str]) -> None: ...


class Repositories(Protocol):
    """Everything stored, as one transaction or snapshot sees it."""

    @property
    def keys(self) -> Keys: ...

    @property
    def sessions(self) -> Sessions: ...

    @property
    def policies(self) -> Policies: ...

    @property
    def receipts(self) -> Receipts: ...

    @property
    def usage(self) -> Usage: ...

    @property
    def corrections(self) -> Corrections: ...


class ReadOnlyStore(Protocol):
    """Reads a database that others may be writing to, on the calling thread."""

    def read[T](self, work: Callable[[Repositories], T]) -> T:
        """Runs `work` on one snapshot, on the calling thread. Raises Unavailable when the database cannot be read."""

    def copy_to(self, path: Path) -> None:
        """Makes a copy of the database as it is now, in one file (0600), and checks it. Writers do not wait meanwhile.

        Raises Unavailable when it cannot be read, is damaged, does not fit on the disk, or is on a server; OSError.
        """


class Store(Protocol):
    """A database that any number of processes may share.

    Order: transactions run one after another, across all processes, and work runs in the order in which it was
    submitted. Durability: what `write` returned from, or whose future is done, survives a crash of process and machine.
    Isolation: work that fails undoes itself alone; a read sees one snapshot, which holds complete transactions only.

    Everything raises Unavailable (`store_unavailable`) when the database cannot be used, and after `close`.
    """

    def close(self) -> None:
        """Completes what was submitted, then closes."""

    async def write[T](self, work: Callable[[Repositories], T], *, collects: bool = False, about: str = "") -> T:
        """Runs `work` in the next transaction, also when the caller stops waiting; durable on return.

        Work that only reads, and collects rows for a `before_commit` hook to write, sets `collects`: it is cheaper,
        and must not write anything itself. A backend may look up the records of the requests `about` together. Raises
        what `work` raises; Unavailable with the code `overloaded` when too many wait.
        """

    def submit[T](
        self, work: Callable[[Repositories], T], *, collects: bool = False, about: str = ""
    ) -> concurrent.futures.Future[T]:
        """Runs `work` like `write`, from any thread and without waiting. The future is done when it is durable."""

    async def read[T](self, work: Callable[[Repositories], T]) -> T:
        """Runs `work` on a snapshot that includes everything submitted before this call."""

    def read_now[T](self, work: Callable[[Repositories], T]) -> T:
        """Runs `work` at once, on this thread, on what is committed. Only for queries of microseconds."""

    @property
    def lag(self) -> float:
        """For how many seconds writes have been waiting."""

    def check(self) -> None:
        """Raises Unavailable unless the database is in place, answers, and can be written to."""

    def on_close(self, work: Callable[[], None], /) -> None:
        """Runs work at the end of `close`."""

    def before_commit(self, work: Callable[[Repositories], None], /) -> None:
        """Runs work at the end of every transaction, inside it. If it fails, the transaction fails."""

    def after_commit(self, work: Callable[[], None], /) -> None:
        """Runs work after every transaction that became durable. It must be short and must not raise."""

    def after_transaction(self, work: Callable[[], None], /) -> None:
        """Runs work after every transaction, committed or not."""

    def erase_deleted_soon(self) -> None:
        """Removes deleted rows from every file of the database, as soon as no reader needs them."""
