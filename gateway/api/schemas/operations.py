"""Describes each operation for the OpenAPI document: purpose, scope, response, errors and links.

`documented` passes the description to the route's decorator in `gateway.api.app`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from gateway.api.schemas.chat import ChatReply, ModelListReply, ModelReply
from gateway.api.schemas.errors import responses_for
from gateway.api.schemas.governance import HealthReply, PolicyListReply, PolicyReply, SettlementReply, UsageReply
from gateway.api.schemas.receipts import (
    AnchorReply,
    DamagedReceiptReply,
    ReceiptListReply,
    ReceiptReply,
    VerificationReply,
)
from gateway.api.schemas.text import AnalyzeReply, PlaygroundReply, ProtectReply, ReconstructReply, ShardReply

SCOPE = "x-svc-scope"
"""Member of an operation in the OpenAPI document: the scope that the key needs. Absent if any key, or none, will do."""
OPERATOR = "operator"

_OPEN = frozenset(
    {"internal_error", "invalid_request", "method_not_allowed", "body_too_large", "store_unavailable", "stopping"}
)
_ANY = _OPEN | {"unauthorized", "rate_limited", "upgrade_refused", "validation_error"}
_BODY = _ANY | {
    *("invalid_json", "invalid_encoding", "unsupported_media_type", "unsupported_encoding", "overloaded"),
}
_TEXT = _BODY | {"policy_not_found", "detection_failed", "detection_timeout"}
_SESSION = _TEXT | {"blocked_by_policy", "conflict", "session_expired"}


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path. `errors` are codes of `schemas.errors`."""

    summary: str
    description: str
    tag: str
    reply: Any
    errors: frozenset[str]
    status: int = 200
    operators_only: bool = False
    links: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, Any] = field(default_factory=dict)


def _to_receipt(place: str) -> dict[str, Any]:
    parameters = {"request_id": f"$response.body#{place}"}
    return {
        "receipt": {"operationId": "receipt", "parameters": parameters},
        "verify": {"operationId": "verify", "parameters": parameters},
        "anchor": {"operationId": "anchor", "parameters": parameters},
    }


def _to_reconstruct(place: str) -> dict[str, Any]:
    credentials = {name: f"$response.body#/session/{name}" for name in ("session_id", "session_token")}
    body = {"text": f"$response.body#{place}", "session": credentials}
    return {"reconstruct": {"operationId": "reconstruct", "requestBody": body}}


def _to_policy(place: str, *names: str) -> dict[str, Any]:
    """Links to the policy at the JSON pointer `place` by the members `names`."""
    parameters = {f"policy_{name}" if name == "id" else name: f"$response.body#{place}/{name}" for name in names}
    return {"policy": {"operationId": "policy", "parameters": parameters}}


_REQUEST_ID = {"x-svc-request-id": {"required": True, "schema": {"type": "string"}}}

OPERATIONS: dict[str, Operation] = {
    "healthz": Operation(
        "Health check",
        "Succeeds if the gateway can serve requests. Requires no key.",
        "Health",
        HealthReply,
        _OPEN | {"receipt_log_broken"},
    ),
    "analyze": Operation(
        "Analyze a text",
        "Returns the risk, route, entities and task categories of a text. Creates no session, stores nothing and "
        "repeats none of the text.",
        "Text",
        AnalyzeReply,
        _TEXT,
    ),
    "protect": Operation(
        "Protect a text",
        "Replaces private values and creates a session that can restore them. Stores the receipt before it answers.",
        "Text",
        ProtectReply,
        _SESSION | {"session_not_found"},
        links=_to_reconstruct("/protected_text") | _to_receipt("/request_id"),
    ),
    "reconstruct": Operation(
        "Restore values",
        "Replaces the placeholders of a session by their values, in a text or in every string of a JSON value. Leaves "
        "placeholders of other sessions, forged ones, and those in places that the policy excludes.",
        "Text",
        ReconstructReply,
        _BODY | {"session_not_found", "session_expired"},
        links=_to_receipt("/request_id"),
    ),
    "shard": Operation(
        "Divide a text",
        "Divides a text into two to eight protected compartments for separate processing, with an outline for merging "
        "the results. One session restores a synthesis of all of them.",
        "Text",
        ShardReply,
        _SESSION,
        links=_to_reconstruct("/compartments/0/protected_text") | _to_receipt("/request_id"),
    ),
    "playground": Operation(
        "Run the playground",
        "Protects a text, sends it to the demo surface, inspects the answer with the guard and restores it.",
        "Text",
        PlaygroundReply,
        _TEXT | {"blocked_by_policy"},
        operators_only=True,
        links=_to_receipt("/request_id"),
    ),
    "models": Operation(
        "List models",
        "Lists the demo `svc-demo` and the models that the settings of upstreams name.",
        "Chat",
        ModelListReply,
        _ANY,
    ),
    "model": Operation(
        "Read a model",
        "Returns the surface that serves a model, also for models that match an upstream's pattern and are in no list. "
        "Does not ask the upstream whether it has the model.",
        "Chat",
        ModelReply,
        _ANY | {"model_not_found", "not_found"},
    ),
    "chat": Operation(
        "Chat completions",
        "Protects the messages, calls the model, inspects the answer with the guard and restores it. Accepts requests "
        "of chat-completions clients; members that the gateway does not know are protected like text and forwarded. "
        "Returns errors of the upstream with their status and body.",
        "Chat",
        ChatReply,
        _TEXT
        | {"streaming_not_supported", "blocked_by_policy", "local_surface_required", "edit_refused", "model_not_found"}
        | {"stopped_by_operator", "attachment_refused", "upstream_unreachable", "upstream_invalid", "upstream_timeout"},
        links=_to_receipt("/svc/request_id"),
        headers=_REQUEST_ID,
    ),
    "policies": Operation(
        "List policies",
        "Lists the newest version of each policy: built-in ones first, then custom ones, each sorted by id.",
        "Policies",
        PolicyListReply,
        _ANY,
        links=_to_policy("/data/0", "id"),
    ),
    "policy": Operation(
        "Read a policy",
        "Returns the rules, version and canonical hash of the newest version of a policy, or with `hash` of "
        "any version "
        "that ever existed. The `policy` of a receipt therefore always leads to the document in force at the time.",
        "Policies",
        PolicyReply,
        _ANY | {"policy_not_found", "not_found"},
    ),
    "create_policy": Operation(
        "Create a custom policy",
        "Creates a policy or its next version. Returns the newest version if the content is the same. Versions never "
        "change. Limits: 64 KiB, 64 rules, 32 patterns and 1,000 list entries per policy; 256 policies.",
        "Policies",
        PolicyReply,
        _BODY | {"conflict"},
        status=201,
        operators_only=True,
        links=_to_policy("", "id"),
        headers={"Location": {"required": True, "schema": {"type": "string"}}},
    ),
    "receipts": Operation(
        "List receipts",
        "Lists receipts, newest first. Clients see their own, operators see all.",
        "Receipts",
        ReceiptListReply,
        _ANY,
        links=_to_receipt("/data/0/request_id"),
    ),
    "receipt": Operation(
        "Read a receipt",
        "Returns one receipt, with its outcome if there is one yet.",
        "Receipts",
        ReceiptReply | DamagedReceiptReply,
        _ANY | {"receipt_not_found", "not_found"},
        links=_to_policy("/policy", "id", "hash"),
    ),
    "verify": Operation(
        "Verify a receipt",
        "Recomputes the receipt, its outcome and the whole chain, and reports the first record that fails.",
        "Receipts",
        VerificationReply,
        _ANY | {"receipt_not_found", "not_found"},
    ),
    "anchor": Operation(
        "Prepare an anchor",
        "Returns a payload to publish elsewhere as a commitment to a receipt and to the current log. Submits nothing.",
        "Receipts",
        AnchorReply,
        _ANY | {"receipt_not_found", "not_found"},
    ),
    "usage": Operation(
        "Read the usage meters",
        "Returns usage counters. They contain no text.",
        "Usage and settlement",
        UsageReply,
        _ANY,
        operators_only=True,
    ),
    "settlement": Operation(
        "Read the settlement state",
        "Reports that settlement by x402 is disabled, and what is missing to release it.",
        "Usage and settlement",
        SettlementReply,
        _ANY,
    ),
}


def documented(name: str) -> dict[str, Any]:
    """Returns the keyword arguments for a route's decorator. The name of the route is also the operation's id."""
    operation = OPERATIONS[name]
    errors = operation.errors | ({"forbidden"} if operation.operators_only else frozenset())
    done: dict[str, Any] = {"description": "Success."}
    if operation.links:
        done["links"] = dict(operation.links)
    if operation.headers:
        done["headers"] = dict(operation.headers)
    reply: type[BaseModel] | Any = operation.reply
    return {
        "name": name,
        "summary": operation.summary,
        "description": operation.description,
        "tags": [operation.tag],
        "response_model": reply,
        "status_code": operation.status,
        "responses": {operation.status: done, **responses_for(errors)},
        "openapi_extra": {SCOPE: OPERATOR} if operation.operators_only else None,
    }
