"""The last addon: gives the client its answer, which no other addon may see.

For the moment in which mitmproxy takes the answer out of the flow, it holds what is the client's alone. Before and
after, it holds what came from the upstream.
"""

import asyncio

from mitmproxy import http

from addons.fail_closed import fail_closed
from addons.flow_state import FlowStates
from gateway.errors import GatewayError


class ResponseDelivery:
    """The addon. Answers of the gateway's own pass it untouched."""

    def __init__(self, states: FlowStates) -> None:
        self._states = states

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> None:
        state = self._states.of(flow)
        if state is None or state.answer is None or flow.response is None:
            return
        response, received = flow.response, flow.response.data.content
        self._states.remove(flow)
        if not received:
            return
        response.headers.pop("transfer-encoding", None)
        response.headers["content-length"] = str(len(state.answer))
        response.data.content = state.answer
        # mitmproxy goes on at once when the hooks have ended; whatever the loop does next comes after that.
        asyncio.get_running_loop().call_soon(_take_back, response, received)

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Called by the boundary, whose plain answer stands."""


def _take_back(response: http.Response, received: bytes) -> None:
    response.data.content = received
