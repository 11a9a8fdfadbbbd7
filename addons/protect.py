"""Answers, refuses or protects every HTTP flow of both listeners.

`requestheaders` removes credentials and destination from the flow, `request` has the gateway protect the body and sets
the destination again. In between the flow points to a dead end, so an abandoned flow cannot reach any host. `response`
restores the answer: the flow keeps the protected bytes; `ResponseDelivery`, the last addon, sends the client its own.
"""

import logging
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

from mitmproxy import exceptions, http
from mitmproxy.flow import Error
from mitmproxy.net.http.http1 import assemble_response, expected_http_body_size

from addons.connection_limits import Clients
from addons.credentials import scrub, seal, secrets_of
from addons.fail_closed import answer_with, disarm, fail_closed
from addons.flow_state import FlowState, FlowStates, listener_of
from addons.forwarding import send_to
from addons.mitm_errors import answer_for
from addons.operator_view import Review
from addons.refusals import Refusals
from addons.upstream_faults import fault_of
from gateway.errors import BadUpstream, GatewayError, NotFound, Unavailable
from gateway.http.content_encoding import decode, too_large
from gateway.http.upstream_failures import Fault
from gateway.ids import new_request_id
from gateway.ipc.messages import Answered, Call, Crossing, Gateway, Listener, Refused
from gateway.wires import Wires

_log = logging.getLogger(__name__)

# Bytes of a body that are read from a client whose key has not been checked yet.
_SMALL_BODY = 64 * 1024


class Protect:
    """The addon. `intercepts` says whether the proxy may look into traffic to a host and port.

    Of an answer, `limit` bytes are read.
    """

    def __init__(
        self,
        gateway: Gateway,
        visits: FlowStates,
        review: Review,
        refusals: Refusals,
        clients: Clients,
        *,
        intercepts: Callable[[str, int], bool],
        limit: int,
    ) -> None:
        self._gateway = gateway
        self._visits = visits
        self._review = review
        self._refusals = refusals
        self._clients = clients
        self._intercepts = intercepts
        self._limit = limit
        self._wires = Wires.discover()

    @fail_closed
    async def requestheaders(self, flow: http.HTTPFlow) -> None:
        if not flow.live:
            # An operator loads a dump. It only goes into the list; nothing can send it.
            return
        request = flow.request
        listener = listener_of(flow)
        if listener is Listener.PROXY and not self._is_ours(flow):
            # Plain HTTP to somebody else: none of our business, and not ours to show.
            request.stream = True
            raise exceptions.AddonHalt
        target = (request.data.host, request.data.port, request.scheme)
        visit = FlowState(new_request_id(), listener, request.headers, target)
        visit.wire = self._wires.serving(request.method, request.path.partition("?")[0])
        self._visits.enter(flow, visit)
        request.headers = scrub(request.headers)
        disarm(flow)
        if expected_http_body_size(request) != 0:
            await self._admit(flow, visit)
        raise exceptions.AddonHalt

    async def _admit(self, flow: http.HTTPFlow, visit: FlowState) -> None:
        """Has the gateway check the key before the body is read. Raises GatewayError."""
        client = self._clients.of(flow.client_conn)
        if client is not None and _is_small(flow.request, visit):
            # `enter` checks the key as well, so this saves a round trip to the gateway and risks little memory.
            client.body_limit = _SMALL_BODY
            return
        with client.held_back() if client is not None else nullcontext():
            limit = await self._gateway.admit(_call(flow, visit, b"", held=False))
        declared = expected_http_body_size(flow.request)
        if declared is not None and declared > limit:
            raise too_large(limit)
        if client is not None:
            client.body_limit = limit

    def _is_ours(self, flow: http.HTTPFlow) -> bool:
        """Whether a flow of the proxy goes to a model API, by whatever name: what was decrypted was so for a reason."""
        request, client = flow.request, flow.client_conn
        names = (request.host, request.pretty_host, client.sni or "")
        return client.tls or any(self._intercepts(name, request.port) for name in names if name)

    @fail_closed
    async def request(self, flow: http.HTTPFlow) -> None:
        visit = self._visits.of(flow)
        if visit is None and not flow.live:
            return
        if flow.request.stream or flow.response is not None:
            raise exceptions.AddonHalt
        if visit is None:
            raise NotFound("This request did not come through an entrance of the gateway.")
        if self._visits.closing:
            raise Unavailable("The gateway is stopping; try again.", code="stopping", retry_after=1)
        visit.let_in = True
        content = flow.request.raw_content or b""
        entered = await self._gateway.enter(_call(flow, visit, content, held=self._review.may_hold))
        match entered:
            case Refused(error, visit.filed):
                raise error
            case Answered():
                self._answer(flow, visit, entered)
                raise exceptions.AddonHalt
            case Crossing():
                self._release(flow, visit, entered)

    def _answer(self, flow: http.HTTPFlow, visit: FlowState, answered: Answered) -> None:
        """A call that the gateway answers itself."""
        visit.native = True
        headers = http.Headers(answered.headers)
        length = headers.get("content-length")
        flow.response = http.Response.make(answered.status, answered.body, headers)
        if flow.request.method == "HEAD" and length is not None:
            # That of the answer to GET (RFC 9110 section 8.6); mitmproxy would count what is sent.
            flow.response.headers["content-length"] = length
        self._review.native(flow, visit, answered)

    def _release(self, flow: http.HTTPFlow, visit: FlowState, crossing: Crossing) -> None:
        """The one place where a flow gets its destination back."""
        visit.crossing = crossing
        send_to(flow.request, crossing.url, crossing.headers, crossing.body)
        visit.target = (flow.request.data.host, flow.request.data.port, flow.request.scheme)
        visit.cleared = True
        if crossing.filed is not None:
            self._visits.watch(flow, partial(self._gateway.fail, visit.request_id, "failed"))
        visit.secrets = tuple(secrets_of(crossing.headers))
        self._review.released(flow, visit)

    @fail_closed
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        visit = self._visits.of(flow)
        if visit is None and not flow.live:
            return
        if visit is None or visit.native or not visit.cleared or flow.response is None:
            if visit is None and flow.request.stream and flow.response is not None:
                flow.response.stream = True
            raise exceptions.AddonHalt
        response = flow.response
        if _redirects(response):
            return
        response.headers = seal(response.headers)
        response.headers["x-svc-request-id"] = visit.request_id
        response.stream = False

    @fail_closed
    async def response(self, flow: http.HTTPFlow) -> None:
        visit = self._visits.of(flow)
        if visit is None and not flow.live:
            return
        if visit is None or visit.native or not visit.cleared or flow.response is None:
            raise exceptions.AddonHalt
        if _redirects(flow.response):
            self._stop_redirect(flow, visit)
            return
        assert visit.crossing is not None
        if visit.crossing.filed is not None:
            await self._restore(flow.response, visit)
        self._review.answered(flow, visit)
        if visit.answer is None:
            self._visits.leave(flow)

    async def _restore(self, response: http.Response, visit: FlowState) -> None:
        """Puts what the upstream said into the flow, and what the client gets for it into the visit."""
        received = response.raw_content or b""
        coding = response.headers.pop("content-encoding", None)
        try:
            received = decode(received, coding, self._limit)
            for secret in visit.secrets:
                # Some upstreams quote the key they refuse; neither the client nor an operator is to read it.
                received = received.replace(secret, b"[credential]")
        except GatewayError:
            raise BadUpstream("The upstream's answer cannot be read.", code="upstream_invalid") from None
        response.data.content = received
        annotate = visit.listener is Listener.GATEWAY
        try:
            restored = await self._gateway.leave(visit.request_id, response.status_code, received, annotate)
        except BadUpstream:
            raise
        except GatewayError as error:
            # It answered; unrestored, the answer is safe.
            _log.error("an answer could not be restored: %s", error.code)
            visit.answer = received
        else:
            visit.answer, visit.guard = restored

    def _stop_redirect(self, flow: http.HTTPFlow, visit: FlowState) -> None:
        """A client that follows it would send its plain text there by itself. Operators see it, the client does not."""
        error = BadUpstream("The upstream answered with a redirect, which is not passed on.", code="upstream_invalid")
        self._review.answered(flow, visit, error)
        body = visit.wire.error_body(error, visit.request_id) if visit.wire else None
        flow.response = answer_with(error, visit.request_id, flow.request.method, body)
        self._gateway.fail(visit.request_id, "upstream_error")
        self._visits.leave(flow)

    def error(self, flow: http.HTTPFlow) -> None:
        visit = self._visits.of(flow)
        if visit is None and not flow.live:
            return
        if visit is None or not visit.cleared:
            # Nothing of it has crossed, so there is no text to show.
            flow.request.data.content = b""
            if visit is not None and flow.response is None:
                self._review.failed(flow, visit)
            raise exceptions.AddonHalt
        self._gateway.fail(visit.request_id, "failed")
        self._review.failed(flow, visit)
        fault = Fault.TIMED_OUT if visit.late else fault_of(flow)
        name = visit.crossing.upstream if visit.crossing else ""
        if fault is not None:
            fault.report(f"`{name}`" if name else self._host(visit), visit.request_id)
        answer_for(visit.request_id, fault.error(name) if fault is not None else None)
        self._visits.leave(flow)

    def _host(self, visit: FlowState) -> str:
        """A host that clients chose is told where the settings name it."""
        host, port, _ = visit.target
        return f"host {host}" if self._intercepts(host, port) else "host (not shown)"

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Called by the boundary."""
        self._refusals.shape(flow, error, "failed")
        if self._visits.closing and flow.response is not None:
            flow.response.headers["connection"] = "close"
        if flow.request.timestamp_end is None and flow.response is not None:
            self._stop_reading(flow, flow.response)

    def _stop_reading(self, flow: http.HTTPFlow, response: http.Response) -> None:
        """Has the refusal sent at once: mitmproxy by itself would read the body to its end first."""
        client = self._clients.of(flow.client_conn)
        if client is not None:
            response.headers["connection"] = "close"
            client.refusal = assemble_response(response)
            flow.error = Error(Error.KILLED_MESSAGE)


def _call(flow: http.HTTPFlow, visit: FlowState, content: bytes, *, held: bool) -> Call:
    host, port, scheme = visit.target
    return Call(
        visit.request_id,
        visit.listener,
        flow.request.method,
        f"{scheme}://{host}:{port}",
        flow.request.path,
        visit.headers.fields,
        content,
        flow.client_conn.peername,
        flow.client_conn.sockname,
        held,
    )


def _is_small(request: http.Request, visit: FlowState) -> bool:
    """Returns whether a body is small enough to be read before the key, if it needs one, is checked."""
    fields = visit.headers
    has_key = visit.listener is Listener.PROXY or "authorization" in fields or "x-svc-key" in fields
    length = expected_http_body_size(request)
    return has_key and "expect" not in fields and length is not None and 0 < length <= _SMALL_BODY


def _redirects(response: http.Response) -> bool:
    return 300 <= response.status_code < 400
