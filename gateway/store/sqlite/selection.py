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
        condition, values = _of_keys("owner", sought.keys)
        add(condition, *values)
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


def select_calls(sought: ReceiptFilter, calls: tuple[str, ...], ends: tuple[str, ...]) -> tuple[str, list[str]]:
    """Returns the condition for rows of `key_calls`, and its parameters. `ends` are the outcomes but refusals."""
    condition, parameters = _of_keys("c.key_id", sought.keys) if sought.keys else ("true", list[str]())
    if sought.since is not None:
        # Uses of a minute are counted together.
        condition += " AND minute >= ?"
        parameters.append(sought.since[: len("YYYY-MM-DDTHH:MM")])
    if sought.until is not None:
        condition += " AND replace(minute, 'Z', ':00.000Z') < ?"
        parameters.append(sought.until)
    if calls:
        condition += f" AND call IN ({_marks(calls)})"
        parameters += calls
    if sought.outcomes:
        refused = f" OR outcome NOT IN ({_marks(ends)})" if "refused" in sought.outcomes else ""
        condition += f" AND (outcome IN ({_marks(sought.outcomes)}){refused})"
        parameters += [*sought.outcomes, *(ends if refused else ())]
    return condition, parameters


def _of_keys(column: str, keys: tuple[str, ...]) -> tuple[str, list[str]]:
    owners = f"{column} IN (SELECT key_id FROM keys WHERE label IN ({_marks(keys)}) UNION VALUES {_marks(keys, '(?)')})"
    digests = [key for key in keys if key.startswith(_CREDENTIAL)]
    # Without them, the index of owners can be used.
    either = f"({owners} OR credential IN ({_marks(tuple(digests))}))" if digests else owners
    return either, [*keys, *keys, *digests]


def _marks(values: tuple[str, ...], mark: str = "?") -> str:
    return ", ".join([mark] * len(values))
