"""Selects rows of `receipts_facts`."""

from gateway.store.rows import ReceiptFilter

_CREDENTIAL = "cred_"
"""Begins the digest of a provider's credential."""


def select(sought: ReceiptFilter) -> tuple[str, list[str]]:
    """Returns the condition for the rows that are sought, and its parameters."""
    conditions: list[str] = []
    parameters: list[str] = []

    def add(condition: str, *values: str) -> None:
        conditions.append(condition)
        parameters.extend(values)

    if sought.owner is not None:
        add("owner = ?", sought.owner)
    if sought.keys:
        labels = f"SELECT key_id FROM keys WHERE label IN ({_marks(sought.keys)})"
        owners = f"owner IN ({labels} UNION VALUES {_marks(sought.keys, '(?)')})"
        digests = tuple(key for key in sought.keys if key.startswith(_CREDENTIAL))
        # Without them, the index of owners can be used.
        either = f"({owners} OR credential IN ({_marks(digests)}))" if digests else owners
        add(either, *sought.keys, *sought.keys, *digests)
    if sought.since is not None:
        add("created_at >= ?", sought.since)
    if sought.until is not None:
        add("created_at < ?", sought.until)
    if sought.types:
        # Names in JSON, without characters that have an escape there.
        add(f"({' OR '.join('instr(types, ?)' for _ in sought.types)})", *(f'"{name}":' for name in sought.types))
    words = {"policy": sought.policies, "outcome": sought.outcomes, "operation": sought.operations}
    for column, allowed in {**words, "model": sought.models}.items():
        if allowed:
            add(f"{column} IN ({_marks(allowed)})", *allowed)
    return " AND ".join(conditions) or "true", parameters


def _marks(values: tuple[str, ...], mark: str = "?") -> str:
    return ", ".join([mark] * len(values))
