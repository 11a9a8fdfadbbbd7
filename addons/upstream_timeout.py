"""How long an upstream may take: from when its request may leave until its answer is here, whole.

mitmproxy itself waits for as long as a byte comes now and then, and cuts the client off without a word when none does.
"""

import asyncio
from weakref import WeakKeyDictionary, ref

from mitmproxy import ctx, http

from addons.flow_state import FlowStates


class UpstreamTimeouts:
    """The addon. It comes after whoever holds requests back: that time is not the upstream's."""

    def __init__(self, states: FlowStates) -> None:
        self._states = states
        self._timers: WeakKeyDictionary[http.HTTPFlow, asyncio.TimerHandle] = WeakKeyDictionary()

    def request(self, flow: http.HTTPFlow) -> None:
        state = self._states.of(flow)
        if state is None or not state.cleared or state.forwarded is None or state.forwarded.timeout_seconds is None:
            return
        # A timer must not keep a flow that is gone.
        loop = asyncio.get_running_loop()
        self._timers[flow] = loop.call_later(state.forwarded.timeout_seconds, self._end, ref(flow))

    def response(self, flow: http.HTTPFlow) -> None:
        self._forget(flow)

    def error(self, flow: http.HTTPFlow) -> None:
        self._forget(flow)

    def _forget(self, flow: http.HTTPFlow) -> None:
        timer = self._timers.pop(flow, None)
        if timer is not None:
            timer.cancel()

    def _end(self, known: "ref[http.HTTPFlow]") -> None:
        """Ends the connection to the upstream, or the attempt at one. The client gets its answer from what follows."""
        flow = known()
        state = self._states.of(flow) if flow is not None and flow.live else None
        if flow is None or state is None:
            return
        handler = ctx.master.addons.get("proxyserver").connections.get(flow.client_conn.id)
        if handler is None:
            return
        state.late = True
        # A connection that is being made is not in the flow yet. Others of this client are idle: HTTP/1 has one request
        # at a time.
        for connection, transport in list(handler.transports.items()):
            if connection is not handler.client and transport.handler is not None:
                transport.handler.cancel("the upstream took too long")
