"""Verifies an export of the log with nothing but public keys.

docs/receipt-format.md describes the file. Nothing in it is trusted: whatever it holds, the answer is a list of checks,
and nothing is raised.
"""

from gateway.errors import BadRequest
from gateway.http.strict_json import parse_object
from gateway.receipts.offline import (
    UNUSUAL_NUMBER,
    Json,
    find_misfit,
    has_plain_numbers,
    integer,
    stored_record,
    text_bytes,
)
from gateway.receipts.pairing import Pairing
from gateway.receipts.signing import GivenKeys, key_id
from gateway.receipts.verify import Audit, ChainWalk, Check, check_head, check_record
from gateway.store.rows import StoredHead

EXPORT = {"format": "privacy-gateway/receipts-export", "version": 2}


class ExportWalk:
    """Verifies an export line by line, in constant memory."""

    def __init__(self, keys: GivenKeys) -> None:
        self._keys = keys
        self._chain = ChainWalk()
        self._pairing = Pairing()
        self._lines = 0
        self._faults: dict[str, str] = {}
        self._head: StoredHead | None = None

    def feed(self, line: bytes) -> None:
        """Takes the next line."""
        self._lines += 1
        try:
            value = parse_object(line)
        except BadRequest as error:
            self._fault("format", error.message)
            return
        if self._lines == 1:
            self._take_header(value)
        elif self._head is not None:
            self._fault("format", "there is a line after the last")
        elif value.get("type") == "head":
            self._take_head(value)
        else:
            self._take_record(value)

    def result(self) -> Audit:
        """Returns the checks, after the last line."""
        if not self._lines:
            self._fault("format", "the file is empty")
        if (fault := self._pairing.fault()) is not None:
            self._faults["outcome_receipt"] = f"line {fault.line}: {fault.detail}"
        names = ("format", "hash", "signature", "outcome_receipt")
        records = [Check(name, name not in self._faults, self._faults.get(name)) for name in names]
        chain, head = self._chain.check(), check_head(self._chain, self._head, self._keys)
        broken = None if chain.ok else self._chain.size + 1
        return Audit((*records, chain, head), self._chain.state, broken)

    def _take_header(self, value: Json) -> None:
        detail = find_misfit(value, {"type": "header", **EXPORT}, {"key_id", "public_key"}, self._keys)
        if detail is None and value["key_id"] != key_id(bytes.fromhex(value["public_key"])):
            detail = "the id is not of the public key"
        if detail is not None:
            self._fault("format", detail)

    def _take_head(self, value: Json) -> None:
        self._expect(value, {"type", "size", "hash", "checkpoint"})
        columns = (text_bytes(value.get(name)) for name in ("hash", "checkpoint"))
        self._head = StoredHead(integer(value.get("size")), *columns)

    def _take_record(self, value: Json) -> None:
        self._expect(value, {"type", "record"})
        record = value.get("record")
        row = stored_record(str(value.get("type")), record)
        for check in check_record(row, self._keys):
            if not check.ok:
                self._fault(check.name, str(check.detail))
        self._chain.feed([row])
        outcome_of = None
        if row.kind == b"outcome":
            outcome_of = (text_bytes(record.get("receipt_hash")) if isinstance(record, dict) else None) or b""
        self._pairing.add(self._lines, row.request_id, outcome_of, row.hash)

    def _expect(self, value: Json, members: set[str]) -> None:
        if value.keys() != members:
            self._fault("format", "it has other members than such a line has")
        if not has_plain_numbers(value):
            self._fault("format", UNUSUAL_NUMBER)

    def _fault(self, name: str, detail: str) -> None:
        self._faults.setdefault(name, f"line {self._lines}: {detail}")
