"""Gives errors the status and body that clients of each API parse and show."""

from collections.abc import Iterable
from typing import Any

from gateway.errors import GatewayError
from gateway.http.types import Field
from gateway.wires.anthropic_events import error_body as anthropic_error
from gateway.wires.base import Body, Family
from gateway.wires.gemini_answers import error_body as gemini_error

# Headers by which a call to an unknown path shows the API that the client was made for.
_MARKS: dict[bytes, Family] = {
    b"anthropic-version": "anthropic",
    b"x-goog-api-key": "gemini",
    b"x-goog-api-client": "gemini",
}


def family_of(fields: Iterable[Field]) -> Family:
    """Returns the API that the header fields of a call belong to."""
    return next((_MARKS[name.lower()] for name, _ in fields if name.lower() in _MARKS), "openai")


def code_in(body: Any) -> object:
    """Returns the gateway's code in the body of one of its errors, of any shape; None for any other body."""
    match body:
        case {"error": {"details": [{"metadata": {"code": code}}]}}:
            return code
        case {"error": {"details": {"error_code": code}}} | {"error": {"code": code}}:
            return code
    return None


def shaped(error: GatewayError, request_id: str, family: Family) -> tuple[int, Body]:
    """Returns the status and the body of an error.

    To clients of Anthropic's API, 404 says that the model does not exist, so no other error has it.
    """
    if family == "anthropic":
        is_about_path = error.status == 404 and error.code != "model_not_found"
        return 400 if is_about_path else error.status, anthropic_error(error, request_id)
    return error.status, gemini_error(error, request_id) if family == "gemini" else error.body(request_id)
