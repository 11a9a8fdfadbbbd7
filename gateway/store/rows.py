"""The rows that repositories take and return: plain values, without meaning.

Hashes, signatures and sealed values come ready-made from the packages that own them.
"""

from typing import NamedTuple

LARGEST_NUMBER = 2**53 - 1
"""The largest count or size. Above it, readers of JSON lose precision."""


class KeyRow(NamedTuple):
    """An API key. Times are RFC 3339 in UTC; `terms` is JSON."""

    key_id: str
    label: str
    scope: str
    secret_hash: bytes
    created_at: str
    terms: str
    revoked_at: str | None = None
    expires_at: str | None = None


class PreviousSecretRow(NamedTuple):
    """A secret that a key had before it was rotated. `ends_at` is RFC 3339 in UTC."""

    secret_hash: bytes
    key_id: str
    ends_at: str


class KeyUseRow(NamedTuple):
    """The requests and characters of a key in a day (`YYYY-MM-DD`) or month (`YYYY-MM`), in UTC."""

    key_id: str
    period: str
    requests: int
    characters: int


class KeyCallRow(NamedTuple):
    """How often a key made a call with an outcome in a minute (`2026-01-02T03:04Z`). No id for invalid keys.

    `credential` is the digest of the provider's credential, if one was sent, and `request_id` that of the last request.
    """

    minute: str
    key_id: str
    call: str
    outcome: str
    amount: int
    credential: str = ""
    request_id: str = ""


class SessionRow(NamedTuple):
    """A vault session. `expires_at` is in Unix seconds.

    `rows` counts its sealed rows, `held` the values in them; both start at zero and grow by `Sessions.append`.
    """

    session_id: str
    token_hash: bytes
    owner: str
    expires_at: float
    max_values: int
    rows: int = 0
    held: int = 0


class SealedRow(NamedTuple):
    """Encrypted values of a session, numbered from zero."""

    row: int
    sealed: bytes


class CorrectionRow(NamedTuple):
    """A value that callers have left in clear or hidden. `owner` is a key's id, empty for everyone.

    `content` is a keyed digest or a sealed value; `created_at` is RFC 3339 in UTC.
    """

    correction_id: str
    owner: str
    kind: str
    type: str
    created_at: str
    content: bytes


class CorrectionsHead(NamedTuple):
    """Checks the rows of corrections: the wrapped key, and a MAC over all of them.

    `revision` counts changes. `previous` is the key wrapped under an installation key that is being replaced.
    """

    revision: int = 0
    wrapped: bytes | None = None
    previous: bytes | None = None
    mac: bytes | None = None


class PolicyRow(NamedTuple):
    """A policy document as JSON, with the members that make it unique."""

    id: str
    version: int
    hash: str
    builtin: bool
    document: str


class NewRecord(NamedTuple):
    """A record to append to the receipt log. `body` is the canonical form that `hash` is taken over."""

    sequence: int
    kind: str
    request_id: str
    owner: str
    body: str
    hash: str
    signature: str


class FactsRow(NamedTuple):
    """The members that a receipt is found by and counted with. `types` and `actions` are JSON objects of counts."""

    sequence: int
    owner: str
    created_at: str
    operation: str
    policy: str
    wire: str | None
    model: str | None
    credential: str | None
    route: str
    risk_level: str
    types: str
    actions: str
    tokens_input: int


class EndRow(NamedTuple):
    """The members that the outcome of a request adds to those."""

    request_id: str
    outcome: str
    code: str | None
    tokens_sent: int
    reported_input: int
    reported_output: int


MORE_VALUES = b""
"""In place of a digest: receipts up to this one may have values without one."""


class NodeRow(NamedTuple):
    """A complete subtree of the log's Merkle tree. A `level` up, it covers 256 times as many records.

    Those of level 0 are the leaves of deleted records.
    """

    level: int
    number: int
    hash: bytes


class StoredRecord(NamedTuple):
    """A record as it is stored. Someone may have changed it from outside, so every column is bytes or None."""

    sequence: int
    kind: bytes | None
    request_id: bytes | None
    body: bytes | None
    hash: bytes | None
    signature: bytes | None


class OpenReceipt(NamedTuple):
    """A receipt without an outcome."""

    request_id: bytes | None
    owner: str
    body: bytes | None


class StoredReceipt(NamedTuple):
    """The records stored under one request id."""

    request_id: str
    record: StoredRecord
    outcome: StoredRecord | None = None


class ReceiptFilter(NamedTuple):
    """Selects receipts. Of several words any will do; every member that is not empty must fit.

    `owner` is a key's id; `keys` are ids or labels, or digests of providers' credentials. `since` is inclusive, `until`
    is not; both are written as in records. `types` are names of entity types that the receipt counts.
    """

    owner: str | None = None
    keys: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    policies: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


ALL_RECEIPTS = ReceiptFilter()


class StoredHead(NamedTuple):
    """The signed head of the receipt log as it is stored. A `size` of -1 represents an invalid number."""

    size: int
    hash: bytes | None
    checkpoint: bytes | None


class MeterRow(NamedTuple):
    """The amount counted under a name on a meter. `day` is `YYYY-MM-DD` in UTC."""

    day: str
    meter: str
    name: str
    amount: int
