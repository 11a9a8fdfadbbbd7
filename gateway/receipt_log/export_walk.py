"""Verifies an export of the log, or of one day of it, with nothing but public keys.

docs/receipt-format.md describes the file. Nothing in it is trusted: whatever it holds, the answer is a list of checks,
and nothing is raised.
"""

from gateway.errors import BadRequest
from gateway.http.strict_json import parse_object
from gateway.receipt_log.record_checks import RecordChecks
from gateway.receipts.history import Start, read_start
from gateway.receipts.merkle import Frontier
from gateway.receipts.offline import (
    HEX,
    UNUSUAL_NUMBER,
    Json,
    find_misfit,
    has_plain_numbers,
    integer,
    stored_record,
    text_bytes,
)
from gateway.receipts.signing import GivenKeys, key_id
from gateway.receipts.verify import ChainWalk, Verification, check_head
from gateway.store.rows import StoredHead

EXPORT = {"format": "privacy-gateway/receipts-export", "version": 2}
_HEADER = {"key_id", "public_key"}


class ExportWalk:
    """Verifies an export line by line, in constant memory."""

    def __init__(self, keys: GivenKeys) -> None:
        self._keys = keys
        self._chain = ChainWalk()
        self._records = RecordChecks("line")
        self._lines = 0
        self._head: StoredHead | None = None
        self.day: str | None = None
        """The day that the file is of, if it is not of the whole log."""
        self._has_day = False
        # The pruned records, and whether the log has the record of their pruning.
        self._start: Start | None = None
        self._is_pruned = False

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
        elif value.get("type") == "start":
            self._take_start(value)
        elif value.get("type") == "head":
            self._take_head(value)
        else:
            self._take_record(value)

    def result(self) -> Verification:
        """Returns the checks, after the last line."""
        if not self._lines:
            self._fault("format", "the file is empty")
        if self.day is not None and not self._has_day:
            self._fault("format", "no record states the day of the file")
        if self._start is not None and self._start.size and self.day is None and not self._is_pruned:
            self._fault("start", "no record of the log says that the records before were pruned")
        self._records.finish()
        names = ("format", "hash", "signature", "outcome_receipt", *(["start"] if self._start else []))
        records = self._records.checks(*names)
        keys = GivenKeys(key for key in self._keys.verifiers if key.key_id not in self._records.replaced)
        chain, head = self._chain.check(), check_head(self._chain, self._head, keys)
        broken = None if chain.ok else self._chain.size + 1
        return Verification((*records, chain, head), self._chain.state, broken_at=broken, first=self._first)

    @property
    def _first(self) -> int:
        return 1 if self._start is None else self._start.size + 1

    def _take_header(self, value: Json) -> None:
        members = _HEADER | ({"day"} if "day" in value else set())
        detail = find_misfit(value, {"type": "header", **EXPORT}, members, self._keys)
        if detail is None and value["key_id"] != key_id(bytes.fromhex(value["public_key"])):
            detail = "the id is not of the public key"
        if "day" in value:
            self.day = str(value["day"])
            self._records = RecordChecks("line", is_part=True)
        if detail is not None:
            self._fault("format", detail)

    def _take_start(self, value: Json) -> None:
        self._expect(value, {"type", "size", "hash", "frontier"})
        size, frontier = integer(value.get("size")), value.get("frontier")
        hashes = [each for each in frontier if isinstance(each, str)] if isinstance(frontier, list) else []
        is_frontier = hashes == frontier and all(map(HEX.fullmatch, hashes)) and len(hashes) == size.bit_count()
        if self._lines != 2 or size < 0 or not is_frontier:
            self._fault("format", "it is no start of a log, or not the second line")
            return
        tree = Frontier(size, [bytes.fromhex(each) for each in hashes])
        self._start = Start(size, str(value.get("hash")), tree.root())
        self._chain = ChainWalk(self._start.hash, tree)

    def _take_head(self, value: Json) -> None:
        self._expect(value, {"type", "size", "hash", "checkpoint"})
        columns = (text_bytes(value.get(name)) for name in ("hash", "checkpoint"))
        self._head = StoredHead(integer(value.get("size")), *columns)

    def _take_record(self, value: Json) -> None:
        self._expect(value, {"type", "record"})
        content = value.get("record")
        record = content if isinstance(content, dict) else {}
        row = stored_record(str(value.get("type")), record)
        self._records.feed(row, self._lines, self._keys)
        self._has_day = self._has_day or str(record.get("created_at"))[:10] == self.day
        self._chain.feed([row])
        if row.kind == b"pruning" and self._start is not None:
            self._is_pruned = self._is_pruned or read_start(dict(record)) == self._start

    def _expect(self, value: Json, members: set[str]) -> None:
        if value.keys() != members:
            self._fault("format", "it has other members than such a line has")
        if not has_plain_numbers(value):
            self._fault("format", UNUSUAL_NUMBER)

    def _fault(self, name: str, detail: str) -> None:
        self._records.fault(name, self._lines, detail)
