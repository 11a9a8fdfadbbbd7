"""Every error code with its status and what it means, and the OpenAPI responses they make."""

from typing import Annotated, Any

from pydantic import Field

from gateway.api.schemas.parts import Reply

CODES: dict[str, tuple[int, str]] = {
    "invalid_json": (400, "The body is no JSON object, or one that two readers could understand differently."),
    "invalid_encoding": (400, "The body does not decode with the content coding it names."),
    "invalid_request": (400, "The request, or a field of the protocol, cannot be read."),
    "streaming_not_supported": (400, "`stream` is true."),
    "upgrade_refused": (400, "The request wants another protocol, such as a WebSocket."),
    "unauthorized": (401, "The key is missing or not valid."),
    "forbidden": (403, "The key is a client's; this is for operators."),
    "blocked_by_policy": (403, "The policy does not let the text leave."),
    "local_surface_required": (403, "The text may go to a surface inside the trust boundary only."),
    "edit_refused": (403, "An operator edited the protected request, and it may not leave like that."),
    "not_found": (404, "There is nothing at this path; the message says what there is."),
    "session_not_found": (404, "No such session, a wrong token, or somebody else's: all look the same."),
    "receipt_not_found": (404, "No such receipt, or somebody else's."),
    "policy_not_found": (404, "There is no such policy, or no version of it with this hash."),
    "model_not_found": (404, "No surface takes this model."),
    "method_not_allowed": (405, "The path does not take this method; `Allow` names those that it takes."),
    "conflict": (409, "It would take what is taken, or pass a bound on what is kept; the message says which."),
    "session_expired": (410, "The session has expired, and what it held is deleted."),
    "body_too_large": (413, "The body is over the limit, also after decompression."),
    "unsupported_media_type": (415, "The body is not sent as JSON."),
    "unsupported_encoding": (415, "The content coding is not known."),
    "attachment_refused": (415, "The request holds images, audio or files, and the policy does not let them pass."),
    "validation_error": (422, "A field is missing, unknown, of the wrong type or out of bounds; `param` names it."),
    "rate_limited": (429, "Too many requests with this key; `Retry-After` says in how many seconds to come again."),
    "internal_error": (500, "The gateway failed. Nothing was sent."),
    "upstream_unreachable": (502, "The upstream could not be reached, or broke off; the message says how."),
    "upstream_invalid": (502, "The upstream answered with what cannot be passed on."),
    "detection_failed": (503, "The text could not be searched completely. Nothing was sent."),
    "detection_timeout": (503, "Searching the text took too long. Nothing was sent."),
    "store_unavailable": (503, "The database does not answer. Nothing was sent."),
    "receipt_log_broken": (503, "Degraded: the receipt log is not what it was, and requests are refused."),
    "stopping": (503, "The gateway is being stopped, and lets nothing new in; `Retry-After` says when to come again."),
    "overloaded": (503, "Too many requests wait already; `Retry-After` says when to come again."),
    "upstream_timeout": (504, "The upstream did not answer in time."),
}


class ErrorDetail(Reply):
    code: str = Field(description="Stable; for programs.")
    message: str = Field(description="What is wrong and how to mend it. Never repeats a value.")
    type: str = Field(description="The kind of error, as chat-completions clients know it.")
    param: str | None = Field(description="The field it is about.")


class ErrorReply(Reply):
    """Every error, on every path and method."""

    error: ErrorDetail
    request_id: Annotated[str, Field(description="For finding it in the log.")]


_HEADERS: dict[int, dict[str, Any]] = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    405: {"Allow": {"schema": {"type": "string"}}},
    429: {"Retry-After": {"required": True, "schema": {"type": "integer", "minimum": 1}}},
    503: {"Retry-After": {"schema": {"type": "integer", "minimum": 1}}},
}


def responses_for(codes: frozenset[str]) -> dict[int | str, dict[str, Any]]:
    """OpenAPI responses of an operation that may give these errors."""
    by_status: dict[int, list[str]] = {}
    for code, (status, _) in CODES.items():
        if code in codes:
            by_status.setdefault(status, []).append(code)
    return {status: _response(status, codes) for status, codes in by_status.items()}


def _response(status: int, codes: list[str]) -> dict[str, Any]:
    of_code = {"properties": {"error": {"properties": {"code": {"enum": codes}}}}}
    schema = {"allOf": [{"$ref": "#/components/schemas/ErrorReply"}, of_code]}
    return {
        "description": " ".join(f"`{code}`: {CODES[code][1]}" for code in codes),
        "headers": {
            "x-svc-request-id": {"description": "As `request_id`.", "schema": {"type": "string"}},
            **_HEADERS.get(status, {}),
        },
        "content": {"application/json": {"schema": schema}},
    }
