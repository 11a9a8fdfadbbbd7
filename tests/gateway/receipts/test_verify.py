"""Verification rejects malformed rows, and never raises."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.checkpoint import sign_checkpoint
from gateway.receipts.records import Head, Record, make_record, receipt_body
from gateway.receipts.verify import ChainWalk, check_filing, check_head, check_outcome, check_record
from gateway.store.rows import StoredHead, StoredRecord
from tests.gateway.receipt_log.support import draft
from tests.gateway.receipts.verifier import tree_root

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["sequence", "previous_hash", "key_id"]), inner),
)
_BYTES = st.none() | st.binary() | st.from_regex(rb"\A[0-9a-f]{0,130}\Z") | st.sampled_from([b"receipt", b"outcome"])
_BODIES = _BYTES | _JSON.map(
    lambda value: repr(value).replace("'", '"').replace("None", "null").encode(errors="replace")
)
_ROWS = st.builds(StoredRecord, st.integers(-(2**63), 2**63 - 1), _BYTES, _BYTES, _BODIES, _BYTES, _BYTES)
_HEADS = st.none() | st.builds(StoredHead, st.integers(-(2**63), 2**63 - 1), _BYTES, _BYTES)


def row_of(record: Record) -> StoredRecord:
    columns = (record.body, record.hash, record.signature)
    return StoredRecord(record.sequence, b"receipt", b"req_01", *(column.encode() for column in columns))


@pytest.mark.slow
@given(row=_ROWS, other=_ROWS, head=_HEADS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
def test_no_row_makes_it_fail_and_none_is_believed(
    row: StoredRecord, other: StoredRecord, head: StoredHead | None, data_dir: Path
) -> None:
    signer = load_signer(data_dir)
    assert not all(check.ok for check in check_record(row, signer))
    assert not all(check.ok for check in check_outcome(row, other, signer))
    check_filing(row)
    walk = ChainWalk()
    walk.feed([row, other])
    assert walk.broken is not None
    assert not check_head(walk, head, signer).ok


@pytest.mark.slow
def test_one_bit_anywhere_is_noticed(data_dir: Path) -> None:
    signer = load_signer(data_dir)
    record = make_record("req_01", receipt_body(draft("req_01")), Head(), signer)
    good = row_of(record)
    checkpoint = sign_checkpoint(1, tree_root([record.body.encode()]), signer).note.encode()

    def all_good(row: StoredRecord, head: StoredHead) -> bool:
        walk = ChainWalk()
        walk.feed([row])
        checks = [*check_record(row, signer), check_filing(row), walk.check(), check_head(walk, head, signer)]
        return all(check.ok for check in checks)

    good_head = StoredHead(1, record.hash.encode(), checkpoint)
    assert all_good(good, good_head)
    for name in ("kind", "request_id", "body", "hash", "signature"):
        column: bytes = getattr(good, name)
        for place in range(len(column)):
            changed = column[:place] + bytes([column[place] ^ 1]) + column[place + 1 :]
            columns = {field: getattr(good, field) for field in good._fields}
            assert not all_good(StoredRecord(**columns | {name: changed}), good_head), (name, place)
    for place in range(len(checkpoint)):
        changed = checkpoint[:place] + bytes([checkpoint[place] ^ 1]) + checkpoint[place + 1 :]
        assert not all_good(good, StoredHead(1, record.hash.encode(), changed)), place
