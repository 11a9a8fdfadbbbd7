"""Gives errors the status and body that clients of each API parse and show."""

from collections.abc import Iterable
from typing import Any

from gateway.detection.data_files import read_toml
from gateway.errors import GatewayError
from gateway.http.types import Field
from gateway.models import Family

# Headers by which a call to an unknown path shows the API that the client was made for.
_MARKS: dict[bytes, Family] = {
    b"anthropic-version": "anthropic",
    b"x-goog-api-key": "gemini",
    b"x-goog-api-client": "gemini",
}
_AWS_MARKS = frozenset({b"amz-sdk-invocation-id", b"x-amz-date"})
_BEDROCK_HOST = b"bedrock-runtime"
# The words by which errors are told apart, by status or code.
_KINDS = read_toml(__file__)


def family_of(fields: Iterable[Field]) -> Family:
    """Returns the API that the header fields of a call belong to."""
    return next((_MARKS[name.lower()] for name, _ in fields if name.lower() in _MARKS), "openai")


def error_shape_of(fields: Iterable[Field]) -> Family:
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
        case {"message": str(), "code": code} | {"error": str(), "code": code}:
            return code
    return None


def shaped(error: GatewayError, request_id: str, family: Family) -> tuple[int, dict[str, Any]]:
    """Returns the status and the body of an error.

    To clients of Anthropic's API, 404 says that the model does not exist, so no other error has it.
    """
    if family == "anthropic":
        is_about_path = error.status == 404 and error.code != "model_not_found"
        return 400 if is_about_path else error.status, error_body(error, request_id, family)
    return error.status, error_body(error, request_id, family)


def error_body(error: GatewayError, request_id: str, family: Family) -> dict[str, Any]:
    """Returns an error as the API describes it, with the gateway's code and the field where its SDKs show them."""
    param = {"param": error.param} if error.param else {}
    match family:
        case "anthropic":
            kind = _KINDS["anthropic_codes"].get(error.code) or error_type(error, family)
            shown = {"type": kind, "message": error.message, "details": {"error_code": error.code, **param}}
            return {"type": "error", "error": shown, "request_id": request_id}
        case "gemini":
            reason, metadata = error.code.upper(), {"code": error.code, "request_id": request_id, **param}
            info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "metadata": metadata}
            shown = {
                "code": error.status,
                "message": error.message,
                "status": error_type(error, family),
                "details": [info],
            }
            return {"error": shown}
        case "bedrock" | "cohere":
            return {"message": error.message, "code": error.code, "request_id": request_id}
        case "ollama":
            return {"error": error.message, "code": error.code, "request_id": request_id}
    return error.body(request_id)


def error_type(error: GatewayError, family: Family) -> str:
    """Returns the word of an API for the status of an error."""
    kinds: dict[str, str] = _KINDS[family]
    return kinds.get(str(error.status), kinds["below_500" if error.status < 500 else "others"])


def shaped_headers(error: GatewayError, request_id: str, family: Family) -> dict[str, str]:
    """Returns the header fields of an error. AWS's SDKs show an error only with the name that they expect."""
    fields = error.headers(request_id)
    if family == "bedrock":
        fields["x-amzn-errortype"] = error_type(error, family)
    return fields
