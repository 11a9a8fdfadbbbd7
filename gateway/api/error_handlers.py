"""Turns errors into responses. Every route, method and listener uses the same format."""

import logging
import re
from collections.abc import Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route

from gateway.api.query_parameters import target_of
from gateway.errors import (
    BadRequest,
    GatewayError,
    InternalError,
    MethodNotAllowed,
    Unprocessable,
)
from gateway.http.metrics import METRICS_PATH
from gateway.http.strict_json import dump
from gateway.ids import current_request_id
from gateway.wires.error_shapes import error_shape_of, shaped, shaped_headers
from gateway.wires.unknown_calls import is_beyond_json, unknown_path

_log = logging.getLogger(__name__)

_NAME = re.compile(r"[A-Za-z0-9_]{1,40}\Z")


def add_error_handlers(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Registers a handler for every kind of error. `routes` are the documented routes."""

    async def gateway_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, GatewayError)
        request.state.receipt = error.receipt
        return error_response(error, request)

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        refusal = _authentication_error(request) or _error_of_route(request.url.path, error)
        if not hasattr(request.state, "request_id"):
            # No route has seen the request, and so none has recorded the use of the key.
            container = request.app.state.container
            who = container.callers.audited(request.headers.raw, target_of(request))
            container.key_audit.note(who, "other", refusal.code, current_request_id())
        response = error_response(refusal, request)
        if isinstance(refusal, MethodNotAllowed):
            # Each method of a path is a route of its own, and the error knows only the first one's methods.
            allowed = (error.headers or {}).get("Allow", "").split(", ")
            response.headers["allow"] = ", ".join(sorted(_methods_at(request.url.path, routes)) or allowed)
        return response

    async def validation_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return error_response(_unprocessable(error), request)

    async def unexpected(request: Request, error: Exception) -> Response:
        # The exception's text may quote the request, so log only its type.
        _log.error("a route failed: %s", type(error).__name__)
        return error_response(
            InternalError("The gateway failed to handle this request; report the request_id to its operator."), request
        )

    app.add_exception_handler(GatewayError, gateway_error)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(RequestValidationError, validation_error)
    app.add_exception_handler(Exception, unexpected)


def _methods_at(path: str, routes: Sequence[BaseRoute]) -> set[str]:
    methods = {
        method
        for route in routes
        if isinstance(route, Route) and route.path_regex.match(path)
        for method in route.methods or ()
    }
    return methods | {"HEAD"} if "GET" in methods else methods


def _error_of_route(path: str, error: HTTPException) -> GatewayError:
    """Returns the error for a path that no route serves with the method, or a request that no route can read."""
    if error.status_code == 404 or is_beyond_json(path) or ":" in path:
        return unknown_path(path)
    if error.status_code == 405:
        return MethodNotAllowed("This path does not accept this method; `Allow` lists those it accepts.")
    return BadRequest("The request is malformed; send a valid HTTP request.")


def _authentication_error(request: Request) -> GatewayError | None:
    """Returns the error of an unauthenticated request to `/v1` or `/metrics`; unknown paths require a key, too."""
    needs_key = request.url.path.startswith("/v1/") or request.url.path == METRICS_PATH
    if not needs_key or hasattr(request.state, "caller"):
        return None
    callers = request.app.state.container.callers
    try:
        callers.authenticate(request.headers.raw, target_of(request))
    except GatewayError as refusal:
        return refusal
    return None


def error_response(error: GatewayError, request: Request) -> Response:
    """Returns the response for an error."""
    request_id = getattr(request.state, "request_id", None) or current_request_id()
    if isinstance(error, InternalError):
        # The message asks the client to give the operator this id.
        _log.error("%s %s", error.message, request_id)
    # Not every host of this application removes the body of a response to HEAD (RFC 9110 section 9.3.2).
    family = error_shape_of(request.headers.raw)
    status, body = shaped(error, request_id, family)
    content = b"" if request.method == "HEAD" else dump(body)
    return Response(content, status, shaped_headers(error, request_id, family), media_type="application/json")


def is_identifier(text: str) -> bool:
    """Whether an unknown field's name, which is caller-supplied text, is safe to repeat in a message."""
    return _NAME.match(text) is not None


def _unprocessable(error: RequestValidationError) -> Unprocessable:
    """Reports the first problem with its field. pydantic's messages contain limits and types, but not the input."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:])
    if first["type"] == "extra_forbidden":
        named = all(is_identifier(str(part)) for part in first["loc"][1:])
        return Unprocessable(
            f"Unknown field `{place}`; remove it." if named else "Unknown field; remove it.",
            param=place if named else None,
        )
    message = str(first["msg"]).removeprefix("Value error, ")
    return Unprocessable(f"`{place or 'body'}`: {message}.", param=place or None)
