"""Lets operators hold, inspect, edit, release or stop requests in mitmweb, but not replay them.

The operator holds the copy in mitmweb's list while the served flow waits here. On release, the gateway checks an edited
body as if a client had sent it; only then does it replace the body of the served flow. Nothing else can be edited.
"""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from time import time

from mitmproxy import command, exceptions, http
from mitmproxy.flow import Error, Flow

from addons.fail_closed import Refusals, fail_closed
from addons.flow_state import FlowState, FlowStates
from addons.metered_reader import ClientGone
from addons.operator_view import Review
from addons.patches.connection_limits import Clients
from addons.patches.mitmweb_operators import editor_of
from gateway.errors import EditRefused, Forbidden, GatewayError
from gateway.exchange.messages import Gateway

# mitmproxy sends no event when a held flow is killed or deleted, so its state is polled.
_POLL_SECONDS = 0.05

_log = logging.getLogger(__name__)


class OperatorHold:
    """The addon. Leaves requests that are not held unchanged. `limit` is the largest body, in bytes."""

    def __init__(
        self,
        gateway: Gateway,
        states: FlowStates,
        review: Review,
        refusals: Refusals,
        clients: Clients,
        limit: int,
    ) -> None:
        self._clients = clients
        self._gateway = gateway
        self._states = states
        self._review = review
        self._refusals = refusals
        self._limit = limit

    @fail_closed
    def request(self, flow: http.HTTPFlow) -> Awaitable[None] | None:
        return self._hold(flow) if flow.intercepted else None

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> None:
        # Operators hold copies; the client's answer never waits.
        flow.resume()

    async def _hold(self, flow: http.HTTPFlow) -> None:
        flow.resume()
        state = self._states.of(flow)
        if state is None or state.shown is None:
            return
        self._review.hold(state.shown)
        try:
            with state.timed("held"), self._clients.until_closed(flow.client_conn):
                while self._review.is_held(state.shown):  # noqa: ASYNC110 - there is no event to wait for
                    await asyncio.sleep(_POLL_SECONDS)
        except ClientGone:
            # mitmproxy reports the flow as broken off, which ends it in log, record and list.
            self._review.let_go(state.shown)
            flow.error = Error(Error.KILLED_MESSAGE)
            raise exceptions.AddonHalt from None
        state.released_at = time()
        if state.shown.intercepted or state.shown.error is not None:
            raise Forbidden("An operator stopped this request; nothing was sent.", code="stopped_by_operator")
        if _edited(flow.request, state.shown.request):
            await self._apply_edit(flow, state, state.shown.request.raw_content or b"")

    async def _apply_edit(self, flow: http.HTTPFlow, state: FlowState, edited: bytes) -> None:
        if len(edited) > self._limit:
            raise EditRefused.because("the edited body is larger than `body_limit_bytes`. Shorten it.")
        assert state.shown is not None
        operator = editor_of(state.shown)
        who = operator or "an operator"
        try:
            accepted = await self._gateway.edit(state.request_id, edited, operator)
        except GatewayError as error:
            _log.warning("%s: an edit by %s was refused (%s)", state.request_id, who, error.code)
            raise
        assert accepted.receipt is not None
        assert state.forwarded is not None
        # The answer names the receipt of the request itself.
        state.forwarded = accepted._replace(receipt=state.forwarded.receipt)
        flow.request.content = accepted.body
        _log.info("%s: edited by %s, receipt %d", state.request_id, who, accepted.receipt.sequence)
        self._review.edited(flow, state, accepted.receipt, operator)

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Shapes the refusal; called by `fail_closed`."""
        state = self._states.of(flow)
        if state is not None:
            state.cleared = False
        self._refusals.shape(flow, error)


class NoReplay:
    """Takes the place of mitmproxy's own replay command: a replayed request would have no caller and no key."""

    @command.command("replay.client")  # type: ignore[untyped-decorator]
    def replay(self, flows: Sequence[Flow]) -> None:
        """Sends nothing. mitmweb shows the error."""
        raise exceptions.CommandError(
            "Replaying is not possible: the request would have no caller and no key. Ask the client to send it again."
        )


def _edited(released: http.Request, shown: http.Request) -> bool:
    """Tells whether the body was edited. Raises EditRefused if anything else was."""
    places = ("host", "port", "method", "scheme", "authority", "path", "http_version", "trailers")
    same = all(getattr(released.data, place) == getattr(shown.data, place) for place in places)
    if not same or _fields(released) != _fields(shown):
        raise EditRefused.because("only the body can be edited. Undo all other changes.")
    return released.raw_content != shown.raw_content


def _fields(request: http.Request) -> list[tuple[bytes, bytes]]:
    # mitmproxy updates the length of an edited body.
    return [field for field in request.headers.fields if field[0].lower() != b"content-length"]
