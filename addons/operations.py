"""The operations listener: metrics and health without a key, for Prometheus and supervisors (`operations_port`).

Its requests reach no hook of mitmproxy, so nothing of them is sent on, logged or counted. It also answers while the
gateway's process does not.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any

from tornado.httputil import HTTPHeaders, HTTPServerRequest, ResponseStartLine

from addons.certificate_files import CertificateFiles
from addons.flow_state import FlowStates
from addons.metrics import Metrics
from addons.patches.tornado_server import make_server
from gateway import __version__
from gateway.config.listener_addresses import is_loopback
from gateway.config.settings import Settings
from gateway.errors import Forbidden, GatewayError, MethodNotAllowed, NotFound, Unavailable
from gateway.http.metrics import CONTENT_TYPE, METRICS_PATH, MISSING, exposition
from gateway.http.security_headers import SECURITY_HEADERS
from gateway.http.strict_json import dump
from gateway.ids import new_request_id
from gateway.server.gateway_process import Monitored
from gateway.wires.unknown_calls import GATEWAYS_PORT, is_model_call

# Time for an answer of the gateway's process. Prometheus waits for ten by default.
_SECONDS = 3.0
_CONNECTIONS = 64
# A head or a body may have as many.
_BYTES = 64 * 1024
_METHODS = ("GET", "HEAD")
_JSON = "application/json"


class OperationsListener:
    """Serves its three paths. While `states` are closing, it is not ready."""

    def __init__(
        self,
        gateway: Monitored,
        metrics: Metrics,
        states: FlowStates,
        settings: Settings,
        certificates: CertificateFiles | None,
    ) -> None:
        self._gateway = gateway
        self._metrics = metrics
        self._states = states
        self._settings = settings
        self._certificates = certificates if settings.speaks_tls("operations") else None
        self._paths = {METRICS_PATH: self._exposition, "/livez": self._live, "/readyz": self._ready}
        self._answering: set[asyncio.Task[None]] = set()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Listens for the duration of the context, if there is a port. Raises OSError."""
        settings = self._settings
        if settings.operations_port is None:
            yield
            return
        server = make_server(
            self._take,
            self._certificates,
            name="operations listener",
            most_connections=_CONNECTIONS,
            head_seconds=settings.head_timeout_seconds,
            idle_seconds=settings.idle_timeout_seconds,
            body_bytes=_BYTES,
        )
        server.listen(settings.operations_port, settings.operations_host)
        try:
            yield
        finally:
            server.stop()

    def _take(self, request: HTTPServerRequest) -> None:
        task = asyncio.get_running_loop().create_task(self._respond(request))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _respond(self, request: HTTPServerRequest) -> None:
        status, headers, body = await self._answer(request.method or "", request.path, request.host_name)
        fields = HTTPHeaders({**SECURITY_HEADERS, **headers, "content-length": str(len(body))})
        connection: Any = request.connection
        line = ResponseStartLine("HTTP/1.1", status, HTTPStatus(status).phrase)
        connection.write_headers(line, fields, b"" if request.method == "HEAD" else body)
        connection.finish()

    async def _answer(self, method: str, path: str, host: str) -> tuple[int, dict[str, str], bytes]:
        try:
            if not self._is_known(host):
                raise Forbidden("The Host is none of this listener's; use its address or `operations_host`.")
            if path not in self._paths:
                elsewhere = f" {GATEWAYS_PORT}" if is_model_call(path) else ""
                raise NotFound(f"There is nothing here but {', '.join(self._paths)}.{elsewhere}")
            if method not in _METHODS:
                raise MethodNotAllowed(f"The path accepts {' and '.join(_METHODS)} only.")
            media_type, body = await self._paths[path]()
        except GatewayError as error:
            request_id = new_request_id()
            allow = {"allow": ", ".join(_METHODS)} if isinstance(error, MethodNotAllowed) else {}
            headers = {"content-type": _JSON, **allow, **error.headers(request_id)}
            return error.status, headers, dump(error.body(request_id))
        return 200, {"content-type": media_type}, body

    async def _exposition(self) -> tuple[str, bytes]:
        body = exposition(MISSING)
        with suppress(GatewayError):
            body = await _asked(self._gateway.metrics())
        return CONTENT_TYPE, self._metrics.exposition() + body

    async def _live(self) -> tuple[str, bytes]:
        try:
            await _asked(self._gateway.check())
        except GatewayError as error:
            if error.code == "gateway_unavailable":
                raise
        return _JSON, dump({"status": "ok", "version": __version__})

    async def _ready(self) -> tuple[str, bytes]:
        if self._states.closing:
            raise Unavailable("The gateway is stopping.", code="stopping", retry_after=1)
        await _asked(self._gateway.check())
        return _JSON, dump({"status": "ok", "version": __version__})

    def _is_known(self, host: str) -> bool:
        """Tells whether a client means this listener. On loopback, a page of another site may not (DNS rebinding)."""
        own = self._settings.operations_host
        if not is_loopback(own) or host.lower() == own.lower() or is_loopback(host):
            return True
        with suppress(ValueError):
            ip_address(host.removeprefix("[").removesuffix("]"))
            return True
        return False


async def _asked[T](call: Coroutine[Any, Any, T]) -> T:
    """Returns the result of a call to the gateway. Raises Unavailable if that does not answer in time."""
    try:
        async with asyncio.timeout(_SECONDS):
            return await call
    except TimeoutError:
        message = f"The gateway's process has not answered for {_SECONDS:g} seconds."
        raise Unavailable(message, code="gateway_unavailable", retry_after=5) from None
