"""Drafts to append, and a slow, obvious second implementation of what makes a log good."""

import json
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gateway.models import Caller, PolicyRef, Scope
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.drafts import ReceiptDraft
from gateway.store import open_store
from tests.gateway.receipts.verifier import check_checkpoint, check_record, tree_root

OPERATOR = Caller("key_operator", Scope.OPERATOR)
ANNA = Caller("key_anna", Scope.CLIENT)
BERT = Caller("key_bert", Scope.CLIENT)


DAYS = [("2026-03-01", 5), ("2026-03-02", 260), ("2026-03-03", 3), ("2026-03-05", 40)]
"""The days of a log, and how many receipts each has, with as many outcomes."""


def draft(request_id: str | None = None, **changes: Any) -> ReceiptDraft:
    fields: dict[str, Any] = {
        "request_id": request_id or "req_" + secrets.token_hex(16),
        "operation": "chat",
        "policy": PolicyRef("default", 3, "a1" * 32),
        "engine_version": "patterns-1.0+0123456789ab",
        "model_hash": None,
        "route": "protected",
        "risk_level": "medium",
        "entity_counts": {"PERSON": 2, "EMAIL_ADDRESS": 1},
        "transformation_counts": {"placeholder": 3},
        "tokens_input": 120,
        "tokens_external": 98,
        "protected_digest": "b2" * 32,
    }
    return ReceiptDraft(**(fields | changes))


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@contextmanager
def opened(data_dir: Path) -> Iterator[ReceiptLog]:
    store = open_store(data_dir)
    try:
        yield ReceiptLog(store, load_signer(data_dir), data_dir)
    finally:
        store.close()


def sql(data_dir: Path, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
    """Runs a statement on the database of a data folder, as another program may. Returns the rows."""
    with closing(sqlite3.connect(data_dir / "gateway.db")) as conn, conn:
        return conn.execute(statement, parameters).fetchall()


def raw_rows(path: Path) -> list[tuple[int, str, str, str, str, str]]:
    """Everything in the log as it is in the file: sequence, kind, request, body, hash, signature."""
    return sql(path.parent, "SELECT sequence, kind, request_id, body, hash, signature FROM receipts ORDER BY sequence")


def reference_check(path: Path, public_key: Ed25519PublicKey) -> int:
    """Checks every record, every link and every signature the long way round; returns how many records there are."""
    previous = "0" * 64
    rows = raw_rows(path)
    for number, (sequence, kind, request_id, body, hash_, signature) in enumerate(rows, start=1):
        record = json.loads(body)
        assert sequence == record["sequence"] == number
        assert request_id == record["request_id"]
        assert record["previous_hash"] == previous
        assert check_record(record | {"hash": hash_, "signature": signature}, [public_key]) == body.encode()
        assert kind == ("outcome" if "outcome" in record else "receipt")
        previous = hash_
    ((size, head, checkpoint),) = sql(path.parent, "SELECT size, head, checkpoint FROM receipts_head")
    assert (size, head) == (len(rows), previous)
    root = tree_root([body.encode() for _, _, _, body, _, _ in rows])
    assert check_checkpoint(checkpoint, [public_key]) == (size, root)
    return int(size)
