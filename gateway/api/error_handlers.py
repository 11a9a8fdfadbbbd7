"""The one place where an error becomes a response. Every route, method and listener answers in the same shape."""

import logging
import re
from collections.abc import Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route

from gateway.errors import (
    BadRequest,
    GatewayError,
    InternalError,
    MethodNotAllowed,
    NotFound,
    Unprocessable,
)
from gateway.http.strict_json import dump
from gateway.ids import new_request_id

_log = logging.getLogger(__name__)

# What clients of model providers call beside chat completions, by the first word behind the version.
_PROVIDERS_CALLS = frozenset(
    """
    responses embeddings completions moderations audio images videos files uploads batches fine_tuning assistants
    threads vector_stores containers conversations evals realtime messages rerank engines
    """.split()
)
_BEFORE = frozenset({"v1", "v1beta", "openai", "anthropic"})
_NAME = re.compile(r"[A-Za-z0-9_]{1,40}\Z")


def add_error_handlers(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Registers the handlers for every kind of error. `routes` are those that are documented."""

    async def gateway_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, GatewayError)
        request.state.receipt = error.receipt
        return error_response(error, request)

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if (refusal := _stranger(request)) is not None:
            return error_response(refusal, request)
        if error.status_code == 404:
            return error_response(nothing_at(request.url.path), request)
        if error.status_code == 405:
            response = error_response(MethodNotAllowed("This path does not take this method."), request)
            # Two methods of one path are two routes, and the error comes from the first.
            named = (error.headers or {}).get("Allow", "").split(", ")
            response.headers["allow"] = ", ".join(sorted(_methods_at(request.url.path, routes)) or named)
            return response
        return error_response(BadRequest("The request could not be read."), request)

    async def validation_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return error_response(_unprocessable(error), request)

    async def unexpected(request: Request, error: Exception) -> Response:
        # Its text may repeat what it stumbled over, so only its type is told.
        _log.error("a route failed: %s", type(error).__name__)
        return error_response(InternalError("The gateway failed to handle this request."), request)

    app.add_exception_handler(GatewayError, gateway_error)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(RequestValidationError, validation_error)
    app.add_exception_handler(Exception, unexpected)


def nothing_at(path: str) -> NotFound:
    """For a path without a route, where a client may have expected more of a provider's interface than there is."""
    words = path.strip("/").split("/")
    expected = next((word for word in words if word not in _BEFORE), "") in _PROVIDERS_CALLS
    what = "This call is not supported yet" if expected else "The gateway does not know this call"
    return NotFound(
        f"{what}, and nothing was sent. Of the calls of model providers there are POST /v1/chat/completions, "
        "GET /v1/models and GET /v1/models/{model}; GET /docs shows the gateway's own."
    )


def _methods_at(path: str, routes: Sequence[BaseRoute]) -> set[str]:
    methods = {
        method
        for route in routes
        if isinstance(route, Route) and route.path_regex.match(path)
        for method in route.methods or ()
    }
    return methods | {"HEAD"} if "GET" in methods else methods


def _stranger(request: Request) -> GatewayError | None:
    """Below `/v1` a key comes first, also where there is nothing."""
    if not request.url.path.startswith("/v1/") or hasattr(request.state, "caller"):
        return None
    headers, callers = request.headers, request.app.state.container.callers
    try:
        callers.authenticate(headers.get("authorization"), headers.get("x-svc-key"))
    except GatewayError as refusal:
        return refusal
    return None


def error_response(error: GatewayError, request: Request) -> Response:
    """The response of an error."""
    request_id = getattr(request.state, "request_id", None) or new_request_id()
    # The host of this application may not know that no body follows the answer to HEAD (RFC 9110 section 9.3.2).
    content = b"" if request.method == "HEAD" else dump(error.body(request_id))
    return Response(content, error.status, error.headers(request_id), media_type="application/json")


def reads_like_a_name(text: str) -> bool:
    """The name of an unknown field is the caller's own text: told where it reads like a name, else left out."""
    return _NAME.match(text) is not None


def _unprocessable(error: RequestValidationError) -> Unprocessable:
    """The first problem, by field name. pydantic's own messages name limits and types, never the input."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    if first["type"] == "extra_forbidden":
        named = all(reads_like_a_name(str(part)) for part in first["loc"][1:])
        return Unprocessable(
            f"There is no field `{place}` here." if named else "There is an unknown field.",
            param=place if named else None,
        )
    message = str(first["msg"]).removeprefix("Value error, ")
    return Unprocessable(f"`{place or 'body'}`: {message}.", param=place or None)
