"""Authenticates the caller of a native route, then reads the body, parses it as strict JSON and validates the fields.

FastAPI alone would read and validate a body before authentication, and would accept JSON that parsers disagree on.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.api.error_handlers import is_identifier
from gateway.api.query_parameters import parameters_of, target_of
from gateway.api.schemas.operations import SCOPE
from gateway.auth.key_permissions import check_scope
from gateway.container import Container
from gateway.errors import BadRequest, GatewayError, InternalError, Unprocessable
from gateway.http.content_encoding import decode, too_large
from gateway.http.security_headers import SECURITY_HEADERS
from gateway.http.strict_json import JSON, TOML, check_media_type, parse_object
from gateway.ids import current_request_id
from gateway.models import Caller, ReceiptRef
from gateway.models import Scope as KeyScope
from gateway.policy.files import parse_toml
from gateway.receipts.drafts import OPERATIONS

# Some chat-completions clients add query parameters of their own. The gateway ignores them and does not forward them.
_ANY_QUERY = frozenset(
    {
        "/v1/chat/completions",
        *(
            f"{base}/models{rest}"
            for base in ("/v1", "/v1beta", "", "/openai", "/openai/v1")
            for rest in ("", "/{model:path}")
        ),
    }
)


_JSON = Headers({"content-type": JSON})


class EveryAnswer:
    """Adds the security headers to an answer that does not have its own. Answers HEAD like GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"

        async def finished(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send({**message, "body": b""} if is_head and message["type"] == "http.response.body" else message)

        # RFC 9110 section 9.3.2, for monitors and caches.
        await self._app({**scope, "method": "GET"} if is_head else scope, receive, finished)


class StrictRequest(Request):
    """A request whose body is read, decoded and parsed once, as strict JSON or, where that is taken, as TOML."""

    _parsed: Any = None
    _content = b""

    @property
    def headers(self) -> Headers:
        """Declares a parsed body as JSON: FastAPI takes no other for an object."""
        return _JSON if self._parsed is not None else super().headers

    async def body(self) -> bytes:
        return self._content

    async def json(self) -> Any:
        return self._parsed

    async def read(self, limit: int, *, takes_toml: bool = False) -> None:
        """Reads at most `limit` bytes. Raises TooLarge, UnsupportedMedia, BadRequest or Unprocessable."""
        kind = check_media_type(self.headers.get("content-type"), *((TOML,) if takes_toml else ()))
        declared = self.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            raise too_large(limit)
        raw = bytearray()
        async for chunk in self.stream():
            raw += chunk
            if len(raw) > limit:
                raise too_large(limit)
        self._content = decode(bytes(raw), self.headers.get("content-encoding"), limit)
        if not self._content.strip():
            raise BadRequest("The body is empty; send a JSON object.", code="invalid_json")
        self._parsed = parse_toml(self._content, "body") if kind == TOML else parse_object(self._content)


class NativeRoute(APIRoute):
    """A route that requires a key, with the scope given in its OpenAPI operation. Uses `app.state.container`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        needed = (self.openapi_extra or {}).get(SCOPE)
        has_body = self.body_field is not None
        known = parameters_of(self.dependant)
        takes_toml = TOML in (self.openapi_extra or {}).get("requestBody", {}).get("content", {})
        takes_any_query = self.path in _ANY_QUERY

        async def recorded(request: Request) -> Response:
            container = request.app.state.container
            request.state.request_id = current_request_id()
            wire = container.wires.serving(request.method, self.path)
            outcome, wire_id = "cancelled", wire.id if wire is not None else ""
            try:
                response = await strict(request, container)
                outcome = "answered"
                receipt: ReceiptRef | None = getattr(request.state, "receipt", None)
                request_id = receipt.request_id if receipt is not None else request.state.request_id
                response.headers.setdefault("x-svc-request-id", request_id)
                return response
            except (Exception, asyncio.CancelledError) as error:
                if not isinstance(error, asyncio.CancelledError):
                    outcome = _code(error)
                # The routes of calls with text, whose refusals are recorded, have the names of their operations.
                if self.name in OPERATIONS:
                    identify = partial(container.callers.identify, request.headers.raw, target_of(request))
                    request_id = request.state.request_id
                    request.state.receipt = await container.records.refused(
                        error, request_id, self.name, identify, code=outcome, wire=wire_id
                    )
                raise
            finally:
                who = container.callers.audited(request.headers.raw, target_of(request))
                container.key_audit.note(who, wire_id or self.name, outcome, request.state.request_id)

        async def strict(request: Request, container: Container) -> Response:
            # The dispatcher in this process may have authenticated already. The rate limit counts a request once.
            caller = getattr(request.state, "caller", None) or container.callers.authenticate(
                request.headers.raw, target_of(request)
            )
            if needed is not None:
                check_scope(caller, KeyScope(needed))
            request.state.caller = caller
            if not takes_any_query:
                _check_query(request, known)
            if has_body:
                request = StrictRequest(request.scope, request.receive)
                await request.read(container.settings.body_limit_bytes, takes_toml=takes_toml)
            return await handle(request)

        return recorded


def _code(error: Exception) -> str:
    """Returns the code of an error as the client gets it (error_handlers.py)."""
    match error:
        case GatewayError():
            return error.code
        case RequestValidationError():
            return Unprocessable.default_code
        case HTTPException():
            return BadRequest.default_code
    return InternalError.default_code


def _check_query(request: Request, known: Mapping[str, bool]) -> None:
    """Raises Unprocessable for a parameter that is unknown, or repeated if it has one value: parsers disagree on which.

    `known` says which have several values.
    """
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        if name not in known or (given.count(name) > 1 and not known[name]):
            problem = (
                "A query parameter is repeated; send it once."
                if name in known
                else "Unknown query parameter; remove it."
            )
            raise Unprocessable(problem, param=name if is_identifier(name) else None)


def caller_of(request: Request) -> Caller:
    """Returns the authenticated caller of a native route."""
    caller: Caller = request.state.caller
    return caller
