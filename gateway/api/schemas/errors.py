"""Defines every error code with its status, meaning and remedy, and the OpenAPI responses for them."""

from typing import Annotated, Any, NamedTuple

from pydantic import Field

from gateway.api.schemas.parts import Reply


class ErrorCode(NamedTuple):
    """The HTTP status of an error code, what the code means and what to do about it."""

    status: int
    meaning: str
    remedy: str


CODES: dict[str, ErrorCode] = {
    "invalid_json": ErrorCode(
        400,
        "The body is not a JSON object, or parsers would disagree on its meaning.",
        "Send one JSON object in UTF-8 without repeated keys, `NaN`, numbers beyond 64 bits or more than 100 levels.",
    ),
    "invalid_encoding": ErrorCode(
        400,
        "The body does not decode with the content coding it names.",
        "Make `Content-Encoding` match the body, or send the body uncompressed.",
    ),
    "invalid_request": ErrorCode(
        400,
        "The request, or a field of the protocol, is malformed.",
        "Correct the field that `message` and `param` name.",
    ),
    "streaming_not_supported": ErrorCode(
        400,
        "`stream` is true.",
        "Omit `stream` or set it to false, and read the whole answer at once.",
    ),
    "upgrade_refused": ErrorCode(
        400,
        "The request asks to switch to another protocol, such as WebSocket.",
        "Use plain HTTP requests.",
    ),
    "unauthorized": ErrorCode(
        401,
        "The key is missing or not valid.",
        "Send a gateway key as `Authorization: Bearer` or `X-SVC-Key`. An operator creates keys with "
        "`run_proxy.py keys create`.",
    ),
    "forbidden": ErrorCode(
        403,
        "The operation requires a key with operator scope.",
        "Use an operator's key.",
    ),
    "blocked_by_policy": ErrorCode(
        403,
        "The policy does not let the text leave.",
        "Remove the entities of the types that `message` names, or use a policy that permits them.",
    ),
    "local_surface_required": ErrorCode(
        403,
        "The text may only go to a surface inside the trust boundary.",
        "Choose a model of an upstream with `trust = 'local'`, or remove the most sensitive entities.",
    ),
    "edit_refused": ErrorCode(
        403,
        "An operator edited the protected request in a way that could let private text out.",
        "Send the request again. Operators: edit only the body, and add no private text.",
    ),
    "stopped_by_operator": ErrorCode(
        403,
        "An operator stopped the request. Nothing was sent.",
        "Ask the operator before sending it again.",
    ),
    "not_found": ErrorCode(
        404,
        "Nothing exists at this path.",
        "Use one of the calls that `message` lists. `GET /docs` lists all operations.",
    ),
    "session_not_found": ErrorCode(
        404,
        "The session does not exist, the token is wrong, or the session belongs to another key.",
        "Check id and token, and use the key that created the session.",
    ),
    "receipt_not_found": ErrorCode(
        404,
        "The receipt does not exist or belongs to another key.",
        "Check the `request_id`, and use the key that sent the request or an operator's key.",
    ),
    "policy_not_found": ErrorCode(
        404,
        "The policy does not exist, or no version of it has this hash.",
        "Choose an id from `GET /v1/policies`.",
    ),
    "model_not_found": ErrorCode(
        404,
        "No surface serves this model.",
        "Choose a model from `GET /v1/models`. Operators: add its name to the `models` of an upstream, or set "
        "`default_upstream`.",
    ),
    "method_not_allowed": ErrorCode(
        405,
        "The path does not accept this method.",
        "Use a method that the `Allow` header lists.",
    ),
    "conflict": ErrorCode(
        409,
        "The request conflicts with stored data or would exceed a storage limit.",
        "Choose another name, or stay within the limit that `message` names.",
    ),
    "session_expired": ErrorCode(
        410,
        "The session has expired and its values are deleted.",
        "Protect the original text again to start a new session.",
    ),
    "body_too_large": ErrorCode(
        413,
        "The body exceeds the limit, before or after decompression.",
        "Send a smaller body. Operators: raise `body_limit_bytes`.",
    ),
    "unsupported_media_type": ErrorCode(
        415,
        "The body is not declared as JSON.",
        "Send `Content-Type: application/json`.",
    ),
    "unsupported_encoding": ErrorCode(
        415,
        "The content coding is not supported.",
        "Use one of the codings that `message` lists, or send the body uncompressed.",
    ),
    "attachment_refused": ErrorCode(
        415,
        "The request contains images, audio or files, which the policy does not let pass.",
        "Remove the attachments, or use a policy that lets them pass.",
    ),
    "validation_error": ErrorCode(
        422,
        "A field is missing, unknown, of the wrong type or out of bounds.",
        "Correct the field that `param` names.",
    ),
    "rate_limited": ErrorCode(
        429,
        "The key has sent too many requests.",
        "Wait the number of seconds in `Retry-After`. Operators: raise `rate_limit_per_minute`.",
    ),
    "internal_error": ErrorCode(
        500,
        "The gateway failed. Nothing was sent.",
        "Report the `request_id` to the operator, who finds it in the log.",
    ),
    "upstream_unreachable": ErrorCode(
        502,
        "The upstream could not be reached, or closed the connection early.",
        "Try again. Operators: check the cause that `message` names, such as DNS, TLS or the address of the upstream.",
    ),
    "upstream_invalid": ErrorCode(
        502,
        "The answer of the upstream cannot be forwarded.",
        "Try again. Operators: check that `base_url` belongs to a chat-completions API; for large answers, "
        "raise `response_limit_bytes`.",
    ),
    "detection_failed": ErrorCode(
        503,
        "Detection did not complete. Nothing was sent.",
        "Try again. Operators: check the log, and the detection service if one is configured.",
    ),
    "detection_timeout": ErrorCode(
        503,
        "Detection took too long. Nothing was sent.",
        "Send shorter texts. Operators: raise `detection_timeout_seconds` or `workers`.",
    ),
    "store_unavailable": ErrorCode(
        503,
        "The database does not respond. Nothing was sent.",
        "Try again. Operators: check the disk space and the permissions of `data_dir`.",
    ),
    "receipt_log_broken": ErrorCode(
        503,
        "The receipt log was altered or truncated, so the gateway refuses requests.",
        "Operators: run `run_proxy.py receipts verify`, and restore `data_dir` from a backup.",
    ),
    "stopping": ErrorCode(
        503,
        "The gateway is shutting down and accepts no new requests.",
        "Try again after the number of seconds in `Retry-After`.",
    ),
    "overloaded": ErrorCode(
        503,
        "Too many requests are waiting.",
        "Try again after the number of seconds in `Retry-After`. Operators: raise `workers` or `queue_limit`.",
    ),
    "upstream_timeout": ErrorCode(
        504,
        "The upstream did not answer in time.",
        "Try again, or ask for a shorter answer. Operators: raise `upstream_timeout_seconds`.",
    ),
}

# Errors that the listeners return before a call is known, so that no operation of the interface lists them.
LISTENER_CODES: dict[str, ErrorCode] = {
    "request_timeout": ErrorCode(
        408,
        "The head or the body of the request did not arrive in time. The connection is closed.",
        "Send the request again without pauses. Operators: raise `head_timeout_seconds` or `body_timeout_seconds`.",
    ),
    "head_too_large": ErrorCode(
        431,
        "The request line and the header fields are too large or too many. The connection is closed.",
        "Send fewer or smaller header fields. Operators: raise `head_limit_bytes` or `head_fields_limit`.",
    ),
    "unknown_route": ErrorCode(
        404,
        "The proxy intercepted a call that the gateway cannot protect. Nothing was sent.",
        "Use a supported call, such as chat completions, and put no private text into its query. Operators: "
        "exclude the host from `intercept_hosts` if no private text goes there.",
    ),
}


class ErrorDetail(Reply):
    code: str = Field(description="Stable code for programs; errors.md lists all.")
    message: str = Field(description="What went wrong, then what to do. Never repeats a value.")
    type: str = Field(description="Error type in the terms of chat-completions clients.")
    param: str | None = Field(description="Name of the field at fault.")


class ErrorReply(Reply):
    """The body of every error, on every path and method."""

    error: ErrorDetail
    request_id: Annotated[str, Field(description="Id of the request, as in the log.")]


_HEADERS: dict[int, dict[str, Any]] = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    405: {"Allow": {"schema": {"type": "string"}}},
    429: {"Retry-After": {"required": True, "schema": {"type": "integer", "minimum": 1}}},
    503: {"Retry-After": {"schema": {"type": "integer", "minimum": 1}}},
}


def responses_for(codes: frozenset[str]) -> dict[int | str, dict[str, Any]]:
    """Returns the OpenAPI responses of an operation with these error codes."""
    by_status: dict[int, list[str]] = {}
    for code, error in CODES.items():
        if code in codes:
            by_status.setdefault(error.status, []).append(code)
    return {status: _response(status, codes) for status, codes in by_status.items()}


def _response(status: int, codes: list[str]) -> dict[str, Any]:
    of_code = {"properties": {"error": {"properties": {"code": {"enum": codes}}}}}
    schema = {"allOf": [{"$ref": "#/components/schemas/ErrorReply"}, of_code]}
    return {
        "description": " ".join(f"`{code}`: {CODES[code].meaning}" for code in codes),
        "headers": {
            "x-svc-request-id": {"description": "Same as `request_id`.", "schema": {"type": "string"}},
            **_HEADERS.get(status, {}),
        },
        "content": {"application/json": {"schema": schema}},
    }
