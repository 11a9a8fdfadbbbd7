"""How every native route takes a request in: first the key, then the bytes, then strict JSON, then the fields.

FastAPI by itself would read and validate a body before it knows who sent it, and would accept JSON that two readers
understand differently.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.api.error_handlers import reads_like_a_name
from gateway.api.schemas import OPERATOR, SCOPE
from gateway.errors import BadRequest, Forbidden, Unprocessable
from gateway.http.content_encoding import decode, too_large
from gateway.http.strict_json import Json, check_media_type, parse_object
from gateway.ids import new_request_id
from gateway.models import Caller
from gateway.models import Scope as KeyScope

# What clients of the chat-completions protocol call; some of them add a query of their own, which goes nowhere.
_FOREIGN = frozenset({"/v1/chat/completions", "/v1/models", "/v1/models/{model:path}"})


class HeadLikeGet:
    """Answers HEAD as GET, without the body (RFC 9110 section 9.3.2): monitors and caches ask so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, head)


class StrictRequest(Request):
    """A request whose body was read, decoded and parsed once, by the gateway's own rules."""

    _parsed: Json = None
    _plain = b""

    async def body(self) -> bytes:
        return self._plain

    async def json(self) -> Any:
        return self._parsed

    async def take(self, limit: int) -> None:
        """Reads at most `limit` bytes. Raises TooLarge, UnsupportedMedia or BadRequest."""
        check_media_type(self.headers.get("content-type"))
        declared = self.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            raise too_large(limit)
        raw = bytearray()
        async for chunk in self.stream():
            raw += chunk
            if len(raw) > limit:
                raise too_large(limit)
        self._plain = decode(bytes(raw), self.headers.get("content-encoding"), limit)
        if not self._plain.strip():
            raise BadRequest("The body is empty; send a JSON object.", code="invalid_json")
        self._parsed = parse_object(self._plain)


class NativeRoute(APIRoute):
    """A route behind a key. The application's state holds the `container`; the OpenAPI document says for whom it is."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        operators_only = (self.openapi_extra or {}).get(SCOPE) == OPERATOR
        has_body = self.body_field is not None
        known = {field.alias for field in self.dependant.query_params}
        takes_any_query = self.path in _FOREIGN

        async def strict(request: Request) -> Response:
            container = request.app.state.container
            request.state.request_id = new_request_id()
            # A host in this process may have asked already, and a request counts once.
            caller = getattr(request.state, "caller", None) or container.callers.authenticate(
                request.headers.get("authorization"), request.headers.get("x-svc-key")
            )
            if operators_only and caller.scope is not KeyScope.OPERATOR:
                raise Forbidden("This needs an operator's key.")
            request.state.caller = caller
            if not takes_any_query:
                _check_query(request, known)
            if has_body:
                request = StrictRequest(request.scope, request.receive)
                await request.take(container.settings.body_limit_bytes)
            return await handle(request)

        return strict


def _check_query(request: Request, known: set[str]) -> None:
    """Raises Unprocessable for a parameter that is unknown, or given twice: two readers could take either."""
    given = [name for name, _ in request.query_params.multi_items()]
    for name in given:
        if name not in known or given.count(name) > 1:
            why = "A query parameter is given twice." if name in known else "There is no such query parameter."
            raise Unprocessable(why, param=name if reads_like_a_name(name) else None)


def caller_of(request: Request) -> Caller:
    """The authenticated caller of a native route."""
    caller: Caller = request.state.caller
    return caller
