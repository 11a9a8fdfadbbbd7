"""The two entrances: every HTTP flow is answered here, refused here, or leaves protected.

`requestheaders` takes the credentials and the destination out of the flow; `request` protects the body and gives them
back. In between the flow points to a dead end, so a flow that is forgotten reaches nobody. The answer is restored on
its way to the client, through `flow.response.stream`; what the flow keeps is what crossed.
"""

from mitmproxy import exceptions, http

from addons.boundary import disarm, fail_closed
from addons.credentials import scrub, seal, secrets_of
from addons.destination import send_to
from addons.gateway_host import AsgiApp, serve
from addons.mitm_errors import answer_for
from addons.refusing import Refusals
from addons.restoring import AnswerStream
from addons.review import Review
from addons.state import Listener, Visit, Visits, listener_of
from gateway.codings import decode
from gateway.errors import BadRequest, BadUpstream, GatewayError, NotFound
from gateway.ids import new_request_id
from gateway.json_body import dump, parse_object
from gateway.receipts import Followed
from gateway.service import Crossing, Service
from gateway.wires import Body


class Protect:
    """The addon. Native calls are handed to `app`, calls of models to the service's pipeline."""

    def __init__(self, service: Service, app: AsgiApp, visits: Visits, review: Review, refusals: Refusals) -> None:
        self._service = service
        self._app = app
        self._visits = visits
        self._review = review
        self._refusals = refusals

    @fail_closed
    def requestheaders(self, flow: http.HTTPFlow) -> None:
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
        self._visits.enter(flow, Visit(new_request_id(), listener, request.headers, target))
        request.headers = scrub(request.headers)
        disarm(flow)
        raise exceptions.AddonHalt

    def _is_ours(self, flow: http.HTTPFlow) -> bool:
        """Whether a flow of the proxy goes to a model API, by whatever name: what was decrypted was so for a reason."""
        request, client = flow.request, flow.client_conn
        names = (request.host, request.pretty_host, client.sni or "")
        return client.tls or any(self._service.intercepts(name, request.port) for name in names if name)

    @fail_closed
    async def request(self, flow: http.HTTPFlow) -> None:
        visit = self._visits.of(flow)
        if visit is None and not flow.live:
            return
        if flow.request.stream or flow.response is not None:
            raise exceptions.AddonHalt
        if visit is None:
            raise NotFound("This request did not come through an entrance of the gateway.")
        with self._review.following() as visit.followed:
            await self._serve(flow, visit)

    async def _serve(self, flow: http.HTTPFlow, visit: Visit) -> None:
        if "%" in flow.request.path.partition("?")[0]:
            raise NotFound("There is nothing at this path.")
        if "upgrade" in visit.headers:
            raise BadRequest("The gateway does not upgrade connections.", code="upgrade_refused", param="Upgrade")
        path, _, query = flow.request.path.partition("?")
        visit.wire = self._service.wires.serving(flow.request.method, path)
        crossing = await (
            self._from_gateway(flow, visit)
            if visit.listener is Listener.GATEWAY
            else self._from_proxy(flow, visit, path, query)
        )
        if crossing is None:
            visit.native = True
            flow.response, route = await serve(self._app, flow, visit.headers, visit.caller)
            self._review.native(flow, visit, route, visit.followed)
            raise exceptions.AddonHalt
        self._release(flow, visit, crossing)

    async def _from_gateway(self, flow: http.HTTPFlow, visit: Visit) -> Crossing | None:
        """What may cross; None for a call that the application answers."""
        if visit.wire is None:
            return None
        caller = self._service.authenticate(visit.headers.get("authorization"), visit.headers.get("x-svc-key"))
        visit.caller = caller
        body = self._parsed(flow, visit)
        upstream = self._service.upstream_for(body.get("model"))
        if upstream is None:
            return None
        return await self._service.cross_to_upstream(
            visit.wire, body, caller, upstream, visit.headers.fields, request_id=visit.request_id
        )

    async def _from_proxy(self, flow: http.HTTPFlow, visit: Visit, path: str, query: str) -> Crossing:
        host, port, scheme = visit.target
        url = f"{scheme}://{host}:{port}{path}"
        if visit.wire is None:
            if flow.request.raw_content:
                raise NotFound("The gateway does not know this call and does not let it leave.", code="unknown_route")
            return await self._service.cross_harmless(flow.request.method, url, path, query, visit.headers.fields)
        body = self._parsed(flow, visit)
        return await self._service.cross_to_host(
            visit.wire, body, url, query, visit.headers.fields, request_id=visit.request_id
        )

    def _parsed(self, flow: http.HTTPFlow, visit: Visit) -> Body:
        limit = self._service.settings.body_limit_bytes
        source = decode(flow.request.raw_content or b"", visit.headers.get("content-encoding"), limit)
        if self._review.may_hold:
            visit.source = source
        return parse_object(source)

    def _release(self, flow: http.HTTPFlow, visit: Visit, crossing: Crossing) -> None:
        """The one place where a flow gets its destination back."""
        visit.exchange = crossing.exchange
        send_to(flow.request, crossing.url, crossing.headers, crossing.body)
        visit.target = (flow.request.data.host, flow.request.data.port, flow.request.scheme)
        visit.cleared = True
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
        if visit.exchange is None or not _has_body(flow):
            return
        exchange, status = visit.exchange, response.status_code
        coding = response.headers.pop("content-encoding", None)
        response.headers.pop("content-length", None)
        response.headers["transfer-encoding"] = "chunked"
        annotate = visit.listener is Listener.GATEWAY
        visit.answer = AnswerStream(
            lambda body: self._service.pipeline.close(exchange, status, body, annotate=annotate),
            coding,
            self._service.settings.response_limit_bytes,
            visit.secrets,
        )
        response.stream = visit.answer

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> None:
        visit = self._visits.of(flow)
        if visit is None and not flow.live:
            return
        if visit is None or visit.native or not visit.cleared or flow.response is None:
            raise exceptions.AddonHalt
        if _redirects(flow.response):
            self._stop_redirect(flow, visit)
            return
        if visit.answer is not None:
            # The client has its restored answer by now; from here on the flow holds what the upstream said.
            flow.response.data.content = visit.answer.received
        if visit.exchange is not None and not visit.exchange.closed:
            self._service.pipeline.close(visit.exchange, flow.response.status_code, b"", annotate=False)
        self._review.answered(flow, visit)
        self._visits.leave(flow)

    def _stop_redirect(self, flow: http.HTTPFlow, visit: Visit) -> None:
        """A client that follows it would send its plain text there by itself. Operators see it, the client does not."""
        error = BadUpstream("The upstream answered with a redirect, which is not passed on.", code="upstream_invalid")
        self._review.answered(flow, visit, error)
        body = visit.wire.error_body(error, visit.request_id) if visit.wire else error.body(visit.request_id)
        headers = {"content-type": "application/json", "x-svc-request-id": visit.request_id}
        flow.response = http.Response.make(error.status, dump(body), headers)
        if visit.exchange is not None:
            self._service.pipeline.fail(visit.exchange, "upstream_error")
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
        if visit.exchange is not None:
            self._service.pipeline.fail(visit.exchange, "failed")
        self._review.failed(flow, visit)
        answer_for(visit.request_id)
        self._visits.leave(flow)

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Called by the boundary."""
        visit = self._visits.of(flow)
        self._refusals.shape(flow, error, visit.followed if visit else Followed(), "failed")


def _redirects(response: http.Response) -> bool:
    return 300 <= response.status_code < 400


def _has_body(flow: http.HTTPFlow) -> bool:
    """Whether a body follows the response's head (RFC 9112 section 6.3)."""
    assert flow.response is not None
    status = flow.response.status_code
    empty = flow.response.headers.get("content-length") == "0"
    return flow.request.method != "HEAD" and status >= 200 and status not in {204, 304} and not empty
