"""Attacks on the database, one file each in tests/vectors/receipts, and what verification says to them.

Each vector holds `sql` that somebody runs who may write to the file but has not the signing key; which receipt is then
verified, or null for the whole log; the checks that fail (`fails`: these and no others); and where the chain breaks, if
it does (`breaks_at`). The log they change is of six records: receipts req_01 (1), req_02 (2), req_03 (4), req_04 (6),
and outcomes of req_01 (3) and req_03 (5).

`rehash` recomputes every hash and link after the SQL, `move_head` moves the head to the last record, and `sign_with`
signs all of it with a key of the attacker's. Verifying any other receipt finds the attack as well, but where
`seen_from_others` is false: a signature is checked where it is asked about, and the chain does not rest on it.
"""

import json
import sqlite3
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest
import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateway.errors import Unavailable
from gateway.receipt_log.audit import audit
from gateway.receipt_log.checkpoint_file import FILE, read_checkpoint
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.checkpoint import sign_checkpoint
from gateway.receipts.signing import Signer
from gateway.store import open_read_only
from tests.conftest import ROOT
from tests.gateway.receipt_log.support import OPERATOR, draft, opened, raw_rows, reference_check, sql
from tests.gateway.receipts.verifier import tree_root

pytestmark = pytest.mark.slow

VECTORS = {
    file.stem: orjson.loads(file.read_bytes()) for file in (ROOT / "tests" / "vectors" / "receipts").glob("*.json")
}
# The reference fails with these; it does not say nicely what is wrong.
FOUND = (
    AssertionError,
    AttributeError,
    InvalidSignature,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
    sqlite3.Error,
)
ALL_CHECKS = [
    "hash",
    "signature",
    "filing",
    "outcome_hash",
    "outcome_signature",
    "outcome_receipt",
    "chain",
    "head",
    "tree",
    "checkpoint",
]


def attack(data_dir: Path, vector: dict[str, Any]) -> None:
    conn = sqlite3.connect(data_dir / "gateway.db")
    conn.create_function(
        "sha256", 1, lambda text: sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()
    )
    for statement in vector["sql"]:
        # SQLite hands what is no UTF-8 to functions as bytes only.
        conn.execute(statement.replace("sha256(body)", "sha256(CAST(body AS BLOB))"))
    if vector.get("rehash"):
        rewrite(conn, vector, load_signer(data_dir))
    conn.commit()
    conn.close()


def rewrite(conn: sqlite3.Connection, vector: dict[str, Any], ours: Signer) -> None:
    theirs = Signer(Ed25519PrivateKey.generate()) if "sign_with" in vector else None
    previous = "0" * 64
    for sequence, body in conn.execute("SELECT sequence, body FROM receipts ORDER BY sequence").fetchall():
        record = json.loads(body) | {"previous_hash": previous}
        if theirs is not None and "our id" not in vector["sign_with"]:
            record["key_id"] = theirs.key_id
        canonical = rfc8785.dumps(record)
        digest = sha256(canonical)
        previous = digest.hexdigest()
        row = [canonical.decode(), previous, sequence]
        conn.execute("UPDATE receipts SET body = ?, hash = ? WHERE sequence = ?", row)
        if theirs is not None:
            signature = theirs.sign(digest.digest()).hex()
            conn.execute("UPDATE receipts SET signature = ? WHERE sequence = ?", [signature, sequence])
    if vector.get("move_head"):
        conn.execute("UPDATE receipts_head SET head = ?", [previous])
        if theirs is not None:
            bodies = [body.encode() for (body,) in conn.execute("SELECT body FROM receipts ORDER BY sequence")]
            note = sign_checkpoint(6, tree_root(bodies), theirs).note
            conn.execute("UPDATE receipts_head SET checkpoint = ?", [note])


async def test_the_log_that_is_attacked_is_good(log_dir: Path) -> None:
    assert reference_check(log_dir / "gateway.db", load_signer(log_dir).public_key) == 6
    kinds = [(sequence, kind) for sequence, kind, *_ in raw_rows(log_dir / "gateway.db")]
    assert [sequence for sequence, kind in kinds if kind == "outcome"] == [3, 5]
    with opened(log_dir) as log:
        verification = await log.verify("req_01", OPERATOR)
    assert [(check.name, check.ok) for check in verification.checks] == [(name, True) for name in ALL_CHECKS]


@pytest.mark.parametrize("name", sorted(VECTORS))
async def test_an_attack_is_found(name: str, log_dir: Path) -> None:
    """By an audit, by the endpoint and by the reference."""
    vector = VECTORS[name]
    attack(log_dir, vector)
    with pytest.raises(FOUND):
        reference_check(log_dir / "gateway.db", load_signer(log_dir).public_key)
    with open_read_only(log_dir) as look:
        audited = audit(look, load_signer(log_dir), read_checkpoint(log_dir), lambda _: None)
    assert not audited.valid
    # A record may be damaged before the place where the chain breaks.
    assert "breaks_at" not in vector or 1 <= audited.as_dict()["broken_at"] <= vector["breaks_at"]
    with opened(log_dir) as log:
        verified = audited if vector["verify"] is None else await log.verify(vector["verify"], OPERATOR)
        verification = verified.as_dict()
        checks = {check["name"]: check for check in verification["checks"]}
        assert [name for name, check in checks.items() if not check["ok"]] == vector["fails"]
        assert verification["valid"] is False
        assert all(check["detail"] for check in checks.values() if not check["ok"])
        if "breaks_at" in vector:
            assert checks["chain"]["detail"].startswith(f"breaks at sequence {vector['breaks_at']}:")
        # Questions are answered after any attack.
        rows, _ = await log.list(OPERATOR, 50, 0)
        for row in rows:
            orjson.dumps(row.as_dict())
            with suppress(Unavailable):
                orjson.dumps(await log.anchor_payload(row.request_id, OPERATOR))
            seen = vector.get("seen_from_others", True) or row.request_id == vector["verify"]
            assert (await log.verify(row.request_id, OPERATOR)).valid is not seen


# A signature is checked where it is asked about. A start and a health check read the columns beside it.
REFUSED = [name for name in sorted(VECTORS) if not name.startswith("signature-")]


@pytest.mark.parametrize("name", REFUSED)
async def test_the_gateway_signs_nothing_on_top_of_a_forged_log(
    name: str, log_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    attack(log_dir, VECTORS[name])
    before = (log_dir / FILE).read_bytes()
    with opened(log_dir) as log:
        assert "the receipt log is broken, and requests are refused" in caplog.text, "the start names it"
        with pytest.raises(Unavailable):
            await log.append(draft("req_05"), "key_anna")
        with pytest.raises(Unavailable) as degraded:
            log.check()
        assert degraded.value.code == "receipt_log_broken"
        assert all(row.request_id != "req_05" for row in (await log.list(OPERATOR, 50, 0))[0])
    assert (log_dir / FILE).read_bytes() == before


@pytest.mark.parametrize("keep", [0, 2])
async def test_a_log_that_goes_back_to_an_older_signed_head_is_noticed_by_who_saw_the_newer(
    keep: int, data_dir: Path
) -> None:
    with opened(data_dir) as log:
        for number in range(1, 4):
            await log.append(draft(f"req_0{number}"), "key_anna")
            if number == keep:
                (older,) = sql(data_dir, "SELECT size, head, checkpoint FROM receipts_head")
        sql(data_dir, "DELETE FROM receipts WHERE sequence > ?", [keep])
        if keep:
            sql(data_dir, "UPDATE receipts_head SET size = ?, head = ?, checkpoint = ?", older)
        else:
            sql(data_dir, "DELETE FROM receipts_head")
        with pytest.raises(Unavailable):
            await log.append(draft("req_05"), "key_anna")
