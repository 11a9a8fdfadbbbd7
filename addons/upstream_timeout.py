"""Limits how long an upstream may take, from the release of the request to the last byte of the response. A stream may
take as long as its next byte comes in that time.

mitmproxy waits for as long as a byte arrives now and then; when none does, it disconnects the
client without a response.
"""

import asyncio
from weakref import WeakKeyDictionary, ref

from mitmproxy import ctx, http

from addons.flow_state import FlowStates


class UpstreamTimeouts:
    """The addon. Runs after those that intercept requests, so that the time a request is held does not count."""

    def __init__(self, states: FlowStates) -> None:
        self._states = states
        self._timers: WeakKeyDictionary[http.HTTPFlow, asyncio.TimerHandle] = WeakKeyDictionary()

    def request(self, flow: http.HTTPFlow) -> None:
        state = self._states.of(flow)
        if state is None or not state.cleared or state.forwarded is None or state.forwarded.timeout_seconds is None:
            return
        # A weak reference: a timer must not keep a finished flow alive.
        loop = asyncio.get_running_loop()
        self._timers[flow] = loop.call_later(state.forwarded.timeout_seconds, self._end, ref(flow))

    def response(self, flow: http.HTTPFlow) -> None:
        timer = self._timers.pop(flow, None)
        if timer is not None:
            timer.cancel()

    error = response

    def _end(self, known: "ref[http.HTTPFlow]") -> None:
        """Closes the upstream connection, or aborts connecting. The error that follows answers the client."""
        flow = known()
        state = self._states.of(flow) if flow is not None and flow.live else None
        if flow is None or state is None:
            return
        if state.stream is not None:
            loop = asyncio.get_running_loop()
            seconds = state.forwarded.timeout_seconds if state.forwarded else None
            due = state.stream.last_piece + (seconds or 0)
            if due > loop.time():
                self._timers[flow] = loop.call_at(due, self._end, known)
                return
        handler = ctx.master.addons.get("proxyserver").connections.get(flow.client_conn.id)
        if handler is None:
            return
        state.late = True
        # A connection being established is not in the flow yet. All others of this client are idle: HTTP/1 has one
        # request at a time.
        for connection, transport in list(handler.transports.items()):
            if connection is not handler.client and transport.handler is not None:
                transport.handler.cancel("the upstream took too long")
