"""What each operation is for, who may use it, what it answers, which errors it gives and where one can go from it.

`documented` hands this to the route; what the route does stands in `gateway.api.app`.
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
"""Member of an operation in the OpenAPI document: whose key it takes. Missing where it takes any key, or none."""
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
    """To the policy that stands at `place`, by these of its members."""
    parameters = {f"policy_{name}" if name == "id" else name: f"$response.body#{place}/{name}" for name in names}
    return {"policy": {"operationId": "policy", "parameters": parameters}}


_REQUEST_ID = {"x-svc-request-id": {"required": True, "schema": {"type": "string"}}}

OPERATIONS: dict[str, Operation] = {
    "healthz": Operation(
        "Health check",
        "Whether requests can be served. Needs no key.",
        "Health",
        HealthReply,
        _OPEN | {"receipt_log_broken"},
    ),
    "analyze": Operation(
        "What stands in a text",
        "Risk, route, findings and task categories of a text. Makes no session, stores nothing, repeats nothing.",
        "Text",
        AnalyzeReply,
        _TEXT,
    ),
    "protect": Operation(
        "Protect a text",
        "Replaces what is private and makes a session that can put it back. The receipt is on disk before the answer.",
        "Text",
        ProtectReply,
        _SESSION | {"session_not_found"},
        links=_to_reconstruct("/protected_text") | _to_receipt("/request_id"),
    ),
    "reconstruct": Operation(
        "Put the values back",
        "Opens the placeholders of a session in a text, or in every string of a JSON value. Placeholders of any other "
        "session, forged ones, and those that stand where the policy lets none be opened, stay as they are.",
        "Text",
        ReconstructReply,
        _BODY | {"session_not_found", "session_expired"},
        links=_to_receipt("/request_id"),
    ),
    "shard": Operation(
        "Divide a text",
        "Two to eight protected compartments that can be worked on apart, and an outline to put the results together "
        "by. One session restores a synthesis of all of them.",
        "Text",
        ShardReply,
        _SESSION,
        links=_to_reconstruct("/compartments/0/protected_text") | _to_receipt("/request_id"),
    ),
    "playground": Operation(
        "Try the whole way",
        "Protects a text, has the demo answer it, guards and restores the answer.",
        "Text",
        PlaygroundReply,
        _TEXT | {"blocked_by_policy"},
        operators_only=True,
        links=_to_receipt("/request_id"),
    ),
    "models": Operation(
        "The model surfaces",
        "The demo `svc-demo`, and the configured upstreams with the models they name.",
        "Chat",
        ModelListReply,
        _ANY,
    ),
    "model": Operation(
        "One model",
        "Whether chat completions take a model, also one that no list names because an upstream takes it by a pattern. "
        "It says who answers; whether the upstream has it, only the upstream knows.",
        "Chat",
        ModelReply,
        _ANY | {"model_not_found", "not_found"},
    ),
    "chat": Operation(
        "Chat completions",
        "Protects the messages, asks the model, guards and restores the answer. Takes what a chat-completions client "
        "sends; members that the gateway does not know are protected like text and passed on. An error that the "
        "upstream answers is passed on with its own status and body.",
        "Chat",
        ChatReply,
        _TEXT
        | {"streaming_not_supported", "blocked_by_policy", "local_surface_required", "edit_refused", "model_not_found"}
        | {"attachment_refused", "upstream_unreachable", "upstream_invalid", "upstream_timeout"},
        links=_to_receipt("/svc/request_id"),
        headers=_REQUEST_ID,
    ),
    "policies": Operation(
        "List policies",
        "Built-in policies first, then custom ones, each by id, in its newest version.",
        "Policies",
        PolicyListReply,
        _ANY,
        links=_to_policy("/data/0", "id"),
    ),
    "policy": Operation(
        "Read a policy",
        "Rules, version and canonical hash of one policy, in its newest version. With `hash`, that of any version that "
        "there ever was: a receipt's `policy` always leads to the document it was made under.",
        "Policies",
        PolicyReply,
        _ANY | {"policy_not_found", "not_found"},
    ),
    "create_policy": Operation(
        "Make a custom policy",
        "A new policy, or the next version of one; the newest version, if that says the same already. Versions never "
        "change. At most 64 KiB, 64 rules, 32 patterns, 1,000 list entries and 256 policies.",
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
        "Newest first. Clients see their own, operators see all.",
        "Receipts",
        ReceiptListReply,
        _ANY,
        links=_to_receipt("/data/0/request_id"),
    ),
    "receipt": Operation(
        "Read a receipt",
        "One receipt, with its outcome once there is one.",
        "Receipts",
        ReceiptReply | DamagedReceiptReply,
        _ANY | {"receipt_not_found", "not_found"},
        links=_to_policy("/policy", "id", "hash"),
    ),
    "verify": Operation(
        "Verify a receipt",
        "Recomputes the receipt, its outcome and the whole chain that it stands in, and says where it first breaks.",
        "Receipts",
        VerificationReply,
        _ANY | {"receipt_not_found", "not_found"},
    ),
    "anchor": Operation(
        "Prepare an anchor",
        "What one would publish elsewhere to commit to a receipt and to the log as it stands. Submits nothing.",
        "Receipts",
        AnchorReply,
        _ANY | {"receipt_not_found", "not_found"},
    ),
    "usage": Operation(
        "Read the meters",
        "How much the gateway was used, in numbers only.",
        "Usage and settlement",
        UsageReply,
        _ANY,
        operators_only=True,
    ),
    "settlement": Operation(
        "Read the settlement state",
        "Settlement by x402 is disabled; this says what is missing for its release.",
        "Usage and settlement",
        SettlementReply,
        _ANY,
    ),
}


def documented(name: str) -> dict[str, Any]:
    """Keyword arguments for the decorator of a route: its name is also the operation's id."""
    operation = OPERATIONS[name]
    errors = operation.errors | ({"forbidden"} if operation.operators_only else frozenset())
    done: dict[str, Any] = {"description": "Done."}
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
