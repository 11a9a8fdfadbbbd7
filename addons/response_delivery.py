"""The last addon: delivers the restored answer to the client, where no other addon can see it.

The flow holds the restored answer only while mitmproxy sends it. Before and after, it holds the upstream's answer.
"""

import asyncio

from mitmproxy import http

from addons.fail_closed import fail_closed
from addons.flow_state import FlowStates
from gateway.errors import GatewayError


class ResponseDelivery:
    """The addon. Leaves the gateway's own responses unchanged."""

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
        # mitmproxy sends the response as soon as the hooks return, before the event loop runs anything else.
        asyncio.get_running_loop().call_soon(_put_back, response, received)

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Keeps the plain answer of `fail_closed`."""


def _put_back(response: http.Response, received: bytes) -> None:
    response.data.content = received
