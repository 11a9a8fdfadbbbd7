"""Selects rows of `receipts_facts` and `key_calls`."""

from gateway.store.rows import ReceiptFilter

_CREDENTIAL = "cred_"
"""Begins the digest of a provider's credential."""

type Condition = tuple[str, list[object]]


def select(sought: ReceiptFilter) -> Condition:
    """Returns the condition for the rows that are sought, and its parameters."""
    conditions: list[str] = []
    parameters: list[object] = []

    def add(condition: str, *values: object) -> None:
        conditions.append(condition)
        parameters.extend(values)

    if sought.owner is not None:
        add("owner = %s", sought.owner)
    if sought.keys:
        condition, values = _of_keys("owner", sought.keys)
        add(condition, *values)
    if sought.since is not None:
        add("created_at >= %s", sought.since)
    if sought.until is not None:
        add("created_at < %s", sought.until)
    if sought.types:
        # Names in JSON, without characters that have an escape there.
        either = " OR ".join("strpos(types, %s) > 0" for _ in sought.types)
        add(f"({either})", *(f'"{name}":' for name in sought.types))
    words = {"policy": sought.policies, "outcome": sought.outcomes, "operation": sought.operations}
    for column, allowed in {**words, "model": sought.models}.items():
        if allowed:
            add(f"{column} = ANY(%s)", list(allowed))
    return " AND ".join(conditions) or "true", parameters


def select_calls(sought: ReceiptFilter, calls: tuple[str, ...], ends: tuple[str, ...]) -> Condition:
    """Returns the condition for rows of `key_calls`, and its parameters. `ends` are the outcomes but refusals."""
    condition, parameters = _of_keys("c.key_id", sought.keys) if sought.keys else ("true", list[object]())
    if sought.since is not None:
        # Uses of a minute are counted together.
        condition += " AND minute >= %s"
        parameters.append(sought.since[: len("YYYY-MM-DDTHH:MM")])
    if sought.until is not None:
        condition += " AND replace(minute, 'Z', ':00.000Z') < %s"
        parameters.append(sought.until)
    if calls:
        condition += " AND call = ANY(%s)"
        parameters.append(list(calls))
    if sought.outcomes:
        refused = " OR outcome <> ALL(%s)" if "refused" in sought.outcomes else ""
        condition += f" AND (outcome = ANY(%s){refused})"
        parameters += [list(sought.outcomes), *([list(ends)] if refused else [])]
    return condition, parameters


def _of_keys(column: str, keys: tuple[str, ...]) -> Condition:
    of_keys = f"{column} = ANY(%s) OR {column} IN (SELECT key_id FROM keys WHERE label = ANY(%s))"
    digests = [key for key in keys if key.startswith(_CREDENTIAL)]
    either = f"({of_keys} OR credential = ANY(%s))" if digests else f"({of_keys})"
    return either, [list(keys), list(keys), *([digests] if digests else [])]
