"""Checks the records of a log one after the other, whether they come from the store or from an exported file."""

from gateway.receipt_log.pairing import Pairing
from gateway.receipts.history import read_keys
from gateway.receipts.signing import Keys
from gateway.receipts.verify import Check, check_record, parse
from gateway.store.rows import StoredRecord


class RecordChecks:
    """Hash and signature of each record, the key in force, and that each outcome follows its receipt.

    Takes constant memory. The first record is taken to be signed with the key in force.
    """

    def __init__(self, unit: str, *, is_part: bool = False) -> None:
        """`unit` is what numbers records in messages. Outcomes in a part of a log may be of receipts before it."""
        self._unit = unit
        self._pairing = Pairing(is_part=is_part)
        self._faults: dict[str, tuple[int, str]] = {}
        self._key_id: object = None
        self.replaced: set[object] = set()
        """The ids of keys that were replaced."""
        self.policies: set[str] = set()
        """The hashes of the policies that the receipts name."""

    def feed(self, row: StoredRecord, number: int, keys: Keys) -> None:
        """Takes the next record, which the numbered line or sequence has."""
        for check in check_record(row, keys):
            if not check.ok:
                self.fault(check.name, number, str(check.detail))
        body = parse(row.body) or {}
        if self._key_id is None:
            self._key_id = body.get("key_id")
        elif body.get("key_id") != self._key_id:
            self.fault("signature", number, "signed with a key that was not in force")
        match row.kind:
            case b"rotation":
                rotated = read_keys(body)
                if rotated is None or rotated[0].key_id != self._key_id:
                    self.fault("signature", number, "it replaces a key that was not in force")
                else:
                    self.replaced.add(self._key_id)
                    self._key_id = rotated[1].key_id
            case b"receipt":
                self._pairing.add(number, row.request_id, None, row.hash)
            case b"outcome":
                receipt_hash = body.get("receipt_hash")
                named = receipt_hash.encode(errors="replace") if isinstance(receipt_hash, str) else b""
                self._pairing.add(number, row.request_id, named, row.hash)
        if isinstance(policy := body.get("policy"), dict):
            self.policies.add(str(policy.get("hash")))

    def fault(self, name: str, number: int, detail: str) -> None:
        """Notes that a check fails, unless it failed before."""
        self._faults.setdefault(name, (number, f"{self._unit} {number}: {detail}"))

    def finish(self) -> int | None:
        """Completes the checks after the last record. Returns the first number that a check fails for."""
        if (misfit := self._pairing.fault()) is not None:
            self.fault("outcome_receipt", misfit.line, misfit.detail)
        return min((number for number, _ in self._faults.values()), default=None)

    def checks(self, *names: str) -> list[Check]:
        """Returns the checks of these names."""
        return [Check(name, name not in self._faults, self._faults.get(name, (0, None))[1]) for name in names]
