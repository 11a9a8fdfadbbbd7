"""Loads every error code with its status, meaning and remedy (errors.toml); defines the OpenAPI responses for them."""

from typing import Annotated, Any, NamedTuple

from pydantic import Field

from gateway.api.schemas.parts import Reply
from gateway.detection.data_files import read_toml


class ErrorCode(NamedTuple):
    """The HTTP status of an error code, what the code means and what to do about it.

    A `listener` returns it before a call is known, so that no operation of the interface lists it.
    """

    status: int
    meaning: str
    remedy: str
    listener: bool = False


_TABLE = read_toml(__file__)
_ALL = {code: ErrorCode(**row) for code, row in _TABLE.items()}
CODES = {code: error for code, error in _ALL.items() if not error.listener}
LISTENER_CODES = {code: error for code, error in _ALL.items() if error.listener}


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
