"""The receipt log: written before a request is sent, read and verified afterwards."""

import asyncio
import concurrent.futures
import logging
from collections import deque
from collections.abc import Callable, Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from gateway.errors import Conflict, NotFound, Unavailable
from gateway.models import Caller, Scope
from gateway.receipt_log.chain import Chain
from gateway.receipt_log.checkpoint_file import CheckpointWriter, read_checkpoint
from gateway.receipt_log.log_walk import LogWalk
from gateway.receipt_log.proofs import latest_checkpoint, prove_inclusion, verify_by_proof
from gateway.receipt_log.pruning import find_boundary
from gateway.receipt_log.signing_key import find_signer
from gateway.receipt_log.value_search import FoundReceipts, SoughtValue, find_receipts, use_value_key
from gateway.receipts.checkpoint import verifier_key
from gateway.receipts.client_view import without_numbers
from gateway.receipts.drafts import OutcomeDraft, ReceiptDraft, is_request_id
from gateway.receipts.filters import NO_FILTER, Filter
from gateway.receipts.records import Body, Receipt, Record, canonical_form, decoded, outcome_body, receipt_body
from gateway.receipts.signing import Signer
from gateway.receipts.verify import LogState, Verification
from gateway.store import Repositories, Store
from gateway.store.repeated_failures import RepeatedFailures
from gateway.store.rows import EndRow, FactsRow, StoredReceipt
from gateway.usage import Counter, counted_records

type Write = tuple[str, Callable[[Repositories], Record | None]]
"""The id of a request, and what writes its outcome."""

_log = logging.getLogger(__name__)

_MOST_WAITING = 10_000
# A small number, so that other writes do not wait for long.
_RETRIED_AT_ONCE = 64


class ReceiptLog:
    """The receipts of one installation. Clients see their own, operators all; any other receipt is not found."""

    def __init__(self, store: Store, signer: Signer, folder: Path) -> None:
        """`folder` is where the checkpoint is remembered, outside the store."""
        self._store = store
        # Read before the log: other processes append first and remember the checkpoint second.
        remembered = read_checkpoint(folder)
        writer = CheckpointWriter(folder)
        store.on_close(writer.close)
        self._chain = Chain(signer, writer.put, lambda note: find_signer(folder, note))
        store.read_now(lambda stored: self._chain.open(stored.receipts, remembered, counted_records(stored.usage)))
        # Walking the chain is the most expensive request, so only one runs at a time.
        self._walking = asyncio.Lock()
        self._counter = Counter()
        store.before_commit(self._write_collected)
        store.after_transaction(self._forget_collected)
        store.after_commit(self._chain.committed)
        # Outcomes that could not be written, because the disk was full, say. Event loops add to it; the store's thread
        # takes from it, after a transaction that worked, so that a failed store is not retried in a loop.
        self._waiting: deque[Write] = deque()
        self._lost = RepeatedFailures("an outcome could not be recorded: %s", "outcomes are recorded again")
        store.after_commit(self._retry_outcomes)
        store.submit(lambda stored: self._chain.begin(stored.receipts))

    def check(self) -> None:
        """Raises Unavailable (`receipt_log_broken`) unless the log is as it was last written."""
        fault = self._store.read_now(lambda stored: self._chain.fault(stored.receipts))
        if fault is not None:
            message = "The gateway is degraded and refuses requests, because the receipt log is broken"
            message = f"{message}: {without_numbers(fault)}."
            raise Unavailable(message, code="receipt_log_broken")

    async def append(
        self, draft: ReceiptDraft, owner: str, digests: Callable[[], Sequence[bytes]] = tuple[bytes]
    ) -> Receipt:
        """Writes a receipt for the key `owner`; durable on return.

        `digests` makes those of the values protected, on the thread that writes; `find` then finds the receipt.

        Raises Unavailable if it cannot be written, Conflict if the request already has one.
        """

        def write(stored: Repositories) -> Record:
            if self._chain.filed(stored.receipts, draft.request_id):
                raise Conflict("This request has a receipt already.")
            of_values = digests()
            members = receipt_body(draft)
            record = self._chain.append(stored.receipts, "receipt", draft.request_id, owner, members)
            self._chain.add_values(record, of_values)
            self._chain.add_facts(_facts(record, members, owner))
            self._counter.add(
                record.day,
                [
                    ("operations", draft.operation, 1),
                    ("routes", draft.route, 1),
                    ("risk_levels", draft.risk_level, 1),
                    ("tokens", "input", draft.tokens_input),
                    *(("entities", name, number) for name, number in draft.entity_counts.items()),
                    *(("transformations", name, number) for name, number in draft.transformation_counts.items()),
                ],
            )
            return record

        record = await self._store.write(write, collects=True, about=draft.request_id)
        self._chain.is_durable(record)
        return Receipt(draft.request_id, record)

    def append_outcome(self, request_id: str, draft: OutcomeDraft, owner: str) -> None:
        """Writes the outcome of a request in the background. Only the first one counts.

        While the store cannot be written to, outcomes wait in memory.
        """

        def write(stored: Repositories) -> Record | None:
            found = self._chain.filed(stored.receipts, request_id)
            if "receipt" not in found or found["receipt"][0] != owner:
                raise NotFound("The request of this outcome has no receipt.", code="receipt_not_found")
            if "outcome" in found:
                return None
            members = outcome_body(draft, found["receipt"][1])
            record = self._chain.append(stored.receipts, "outcome", request_id, owner, members)
            reported = draft.tokens or (0, 0)
            self._chain.add_facts(EndRow(request_id, draft.outcome, draft.code, draft.tokens_sent, *reported))
            self._counter.add(
                record.day,
                [
                    ("outcomes", draft.outcome, 1),
                    *([("refusals", draft.code, 1)] if draft.code and draft.outcome == "refused" else []),
                    ("tokens", "external", draft.tokens_sent),
                    ("tokens", "reported_input", reported[0]),
                    ("tokens", "reported_output", reported[1]),
                ],
            )
            return record

        self._submit_outcome((request_id, write))

    async def get(self, request_id: str, caller: Caller) -> Receipt:
        """Returns a receipt with its outcome. Raises NotFound (`receipt_not_found`)."""
        return Receipt.from_stored(await self._store.read(lambda stored: _find(stored, request_id, caller)))

    async def list(
        self, caller: Caller, limit: int, offset: int, sought: Filter = NO_FILTER
    ) -> tuple[list[Receipt], int]:
        """Returns a page of the receipts sought, newest first, and the number of all of these."""
        rows = sought.sought(_owner(caller))
        filed, total = await self._store.read(lambda stored: stored.receipts.page(limit, offset, rows))
        return [Receipt.from_stored(each) for each in filed], total

    def use_value_key(self, mark: bytes) -> None:
        """Says with which key the digests of values are made from now on."""
        self._store.submit(lambda stored: use_value_key(stored.receipts, mark))

    async def find(self, sought: SoughtValue, limit: int, offset: int) -> FoundReceipts:
        """Returns a page of the receipts of a value, of all keys: for operators only."""
        return await self._store.read(lambda stored: find_receipts(stored.receipts, sought, limit, offset))

    async def verify(self, request_id: str, caller: Caller) -> Verification:
        """Recomputes the receipt's records and its proof, or the whole chain where that is no longer or finds a fault.

        Raises NotFound (`receipt_not_found`).
        """
        remembered = self._chain.remembered

        def read(stored: Repositories) -> tuple[StoredReceipt, Verification | None]:
            found = _find(stored, request_id, caller)
            return found, verify_by_proof(stored, found, self._chain.signer(stored.receipts), remembered)

        filed, proved = await self._store.read(read)
        if proved is not None:
            return proved
        async with self._walking:
            signer = await self._store.read(lambda stored: self._chain.signer(stored.receipts))
            walk = LogWalk(signer, self._chain.remembered)
            while await self._store.read(walk.step):
                pass
        return walk.verification(filed)

    async def anchor_payload(self, request_id: str, caller: Caller) -> dict[str, Any]:
        """Returns what to publish in order to commit to this receipt and all before it. Nothing is submitted.

        `payload_hash` is SHA-256 over the signed text of `checkpoint`, and `inclusion` proves that the receipt is in
        the tree whose root it states. Raises NotFound (`receipt_not_found`).
        """

        def read(stored: Repositories) -> dict[str, Any]:
            found, signer = _find(stored, request_id, caller), self._chain.signer(stored.receipts)
            receipt, checkpoint = Receipt.from_stored(found), latest_checkpoint(stored.receipts, signer)
            last = decoded(stored.receipts.hash_at(checkpoint.size))
            return {
                "request_id": request_id,
                "receipt_hash": receipt.hash,
                "outcome_hash": receipt.outcome.hash if receipt.outcome else None,
                "log": LogState(checkpoint.size, last, checkpoint.root).as_dict(),
                **prove_inclusion(stored.receipts, found.record, checkpoint),
                "payload_hash": sha256(checkpoint.text.encode()).hexdigest(),
                "algorithm": "sha-256",
                "key_id": signer.key_id,
                "public_key": signer.public_bytes.hex(),
                "verifier_key": verifier_key(signer),
                "submitted": False,
            }

        return await self._store.read(read)

    def rotate(self, new: Signer) -> None:
        """Replaces the signing key, durably. Raises Unavailable."""

        def write(stored: Repositories) -> Record:
            return self._counted(self._chain.rotate(stored.receipts, _record_id(), new), "rotation")

        self._chain.is_durable(self._store.submit(write, collects=True).result())

    def prune(self, before: date) -> int | None:
        """Deletes the oldest records that were made before a day, some thousands of them, in one transaction.

        Returns how many records the log has lost in all, or None if there are no more to delete. Raises Unavailable.
        """

        def write(stored: Repositories) -> tuple[int, Record] | None:
            size = find_boundary(stored.receipts, before, self._chain.signer(stored.receipts))
            if size is None:
                return None
            record = self._chain.prune(stored.receipts, _record_id(), before.isoformat(), size)
            return size, self._counted(record, "pruning")

        done = self._store.submit(write).result()
        if done is None:
            return None
        self._chain.is_durable(done[1])
        self._store.erase_deleted_soon()
        return done[0]

    def _counted(self, record: Record, kind: str) -> Record:
        self._counter.add(record.day, [("log_records", kind, 1)])
        return record

    def _write_collected(self, stored: Repositories) -> None:
        self._chain.write(stored.receipts)
        self._counter.write(stored)

    def _forget_collected(self) -> None:
        self._chain.forget()
        self._counter.forget()

    def _submit_outcome(self, write: Write) -> None:
        try:
            submitted = self._store.submit(write[1], collects=True, about=write[0])
        except Unavailable as error:
            self._not_written(write, error)
        else:
            submitted.add_done_callback(lambda done: self._outcome_written(write, done))

    def _retry_outcomes(self) -> None:
        for _ in range(min(len(self._waiting), _RETRIED_AT_ONCE)):
            self._submit_outcome(self._waiting.popleft())

    def _outcome_written(self, write: Write, done: "concurrent.futures.Future[Record | None]") -> None:
        error = None if done.cancelled() else done.exception()
        if error is not None:
            self._not_written(write, error)
        elif not done.cancelled() and (record := done.result()) is not None:
            self._lost.end()
            self._chain.is_durable(record)

    def _not_written(self, write: Write, error: BaseException) -> None:
        code = getattr(error, "code", type(error).__name__)
        if isinstance(error, Unavailable) and len(self._waiting) < _MOST_WAITING:
            # The store logs that it cannot write; nothing is lost.
            self._waiting.append(write)
            _log.debug("an outcome is recorded later: %s", code)
        else:
            self._lost.add(code)


def _facts(record: Record, members: Body, owner: str) -> FactsRow:
    """Returns what a receipt with these members is found by and counted with."""
    return FactsRow(
        record.sequence,
        owner,
        record.created_at,
        members["operation"],
        members["policy"]["id"],
        members.get("wire"),
        members.get("model"),
        members.get("credential"),
        members["route"],
        members["risk_level"],
        types=canonical_form(members["entity_counts"]).decode(),
        actions=canonical_form(members["transformation_counts"]).decode(),
        tokens_input=members["tokens"]["input"],
    )


def _record_id() -> str:
    return f"log_{token_hex(16)}"


def _owner(caller: Caller) -> str | None:
    """The key whose receipts the caller may see; None for all keys."""
    return None if caller.scope is Scope.OPERATOR else caller.key_id


def _find(stored: Repositories, request_id: str, caller: Caller) -> StoredReceipt:
    found = stored.receipts.find(request_id, _owner(caller)) if is_request_id(request_id) else None
    if found is None:
        raise NotFound("There is no such receipt.", code="receipt_not_found", param="request_id")
    return found
