"""Gives errors the status and body that clients of each API parse and show."""

from collections.abc import Iterable
from typing import Any, Literal

from gateway.errors import GatewayError
from gateway.http.types import Field
from gateway.models import Family
from gateway.wires.anthropic_events import error_body as anthropic_error
from gateway.wires.base import Body
from gateway.wires.gemini_answers import error_body as gemini_error

type ErrorShape = Family | Literal["bedrock"]
"""The API whose clients read an error."""

# Headers by which a call to an unknown path shows the API that the client was made for.
_MARKS: dict[bytes, Family] = {
    b"anthropic-version": "anthropic",
    b"x-goog-api-key": "gemini",
    b"x-goog-api-client": "gemini",
}
_AWS_MARKS = frozenset({b"amz-sdk-invocation-id", b"x-amz-date"})
_BEDROCK_HOST = b"bedrock-runtime"
# The names under which AWS's SDKs report errors, by status.
_BEDROCK_TYPES = {
    401: "AccessDeniedException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    429: "ThrottlingException",
    503: "ServiceUnavailableException",
}


def family_of(fields: Iterable[Field]) -> Family:
    """Returns the API that the header fields of a call belong to."""
    return next((_MARKS[name.lower()] for name, _ in fields if name.lower() in _MARKS), "openai")


def error_shape_of(fields: Iterable[Field]) -> ErrorShape:
    """Returns the API whose errors the client of a call without a wire understands, by its header fields."""
    given = {name.lower(): value for name, value in fields}
    if _AWS_MARKS & given.keys() or given.get(b"host", b"").lower().startswith(_BEDROCK_HOST):
        return "bedrock"
    return family_of(given.items())


def code_in(body: Any) -> object:
    """Returns the gateway's code in the body of one of its errors, of any shape; None for any other body."""
    match body:
        case {"error": {"details": [{"metadata": {"code": code}}]}}:
            return code
        case {"error": {"details": {"error_code": code}}} | {"error": {"code": code}}:
            return code
        case {"message": str(), "code": code}:
            return code
    return None


def shaped(error: GatewayError, request_id: str, family: ErrorShape) -> tuple[int, Body]:
    """Returns the status and the body of an error.

    To clients of Anthropic's API, 404 says that the model does not exist, so no other error has it.
    """
    if family == "anthropic":
        is_about_path = error.status == 404 and error.code != "model_not_found"
        return 400 if is_about_path else error.status, anthropic_error(error, request_id)
    if family == "bedrock":
        return error.status, {"message": error.message, "code": error.code, "request_id": request_id}
    return error.status, gemini_error(error, request_id) if family == "gemini" else error.body(request_id)


def shaped_headers(error: GatewayError, request_id: str, family: ErrorShape) -> dict[str, str]:
    """Returns the header fields of an error. AWS's SDKs show an error only with the name that they expect."""
    fields = error.headers(request_id)
    if family == "bedrock":
        default = "ValidationException" if error.status < 500 else "InternalServerException"
        fields["x-amzn-errortype"] = _BEDROCK_TYPES.get(error.status, default)
    return fields
