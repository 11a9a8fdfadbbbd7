"""Shows clients their receipts: neither how long the log is nor when it grows, because it counts all keys' requests."""

import re
from hashlib import sha256
from typing import Any

import orjson

from gateway.models import Caller, ReceiptRef, Scope

_NUMBER = re.compile(r"\b[0-9]+\b")
# Members of receipts, verifications and anchors. The detail of a check names places in the log, and whether one's own
# record is the previous one tells whether others sent anything in between.
_OPERATORS_ONLY = frozenset("sequence salt previous_hash log inclusion checkpoint detail operator".split())
# Checks that a verification has or lacks depending on the size of the log.
_OF_THE_LOG = frozenset({"inclusion", "chain", "head", "tree", "checkpoint"})


def answer_headers(receipt: ReceiptRef) -> dict[str, str]:
    """Returns the header fields of an answer, also before a streamed one. The tokens are the gateway's estimates."""
    body = orjson.loads(receipt.body)
    policy, tokens = body["policy"], body["tokens"]
    return {
        "x-svc-request-id": receipt.request_id,
        "x-svc-receipt": sha256(receipt.body.encode()).hexdigest(),
        "x-svc-route": body["route"],
        "x-svc-policy": f"{policy['id']}@{policy['version']}",
        "x-svc-tokens": f"input={tokens['input']}, external={tokens['external']}",
    }


def shown_to(caller: Caller, reply: dict[str, Any]) -> dict[str, Any]:
    """Returns what the caller may see of a receipt, a verification or an anchor: operators see all of it."""
    return reply if caller.scope is Scope.OPERATOR else _reduced(reply)


def without_numbers(fault: str) -> str:
    """Returns a fault of the log in words that anyone may read."""
    return _NUMBER.sub("…", fault)


def _reduced(value: Any) -> Any:
    match value:
        case {"checks": list(checks), **others}:
            log = {"name": "log", "ok": all(check["ok"] for check in checks if check["name"] in _OF_THE_LOG)}
            own = [check for check in checks if check["name"] not in _OF_THE_LOG]
            return {**_reduced(others), "checks": [*_reduced(own), log]}
        case {"payload_hash": _, "receipt_hash": own, **others}:
            # The checkpoint's hash changes with each request of others.
            return {**_reduced(others), "payload_hash": own, "receipt_hash": own}
        case dict():
            return {name: _reduced(member) for name, member in value.items() if name not in _OPERATORS_ONLY}
        case list():
            return [_reduced(item) for item in value]
    return value
