"""Sends the client its restored answer without putting it into the flow.

mitmproxy turns the response of a flow into events (a head, then data) and sends them to the client. `DeliveringStream`
puts the restored answer into these events, so the flow holds what the upstream sent at all times. Putting the answer
into the flow for a moment would not do: `response` hooks that end without suspending run while mitmproxy still holds
the connection's lock, and the event loop may run other callbacks before the response is sent.

Without the replaced class, the client would get the protected answer. Upstream would have to let a hook set the body
that is sent apart from the body that the flow keeps.
"""

from copy import copy
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from mitmproxy import http
from mitmproxy.proxy import layer
from mitmproxy.proxy.layers import http as http_layers
from mitmproxy.proxy.layers.http import HttpStream, SendHttp
from mitmproxy.proxy.layers.http._events import ResponseData, ResponseHeaders

from addons.fail_closed import fail_closed
from addons.flow_state import FlowStates
from gateway.errors import GatewayError

CHECKED_WITH = "12.2.3"

# The bodies to send in place of those of the responses.
type Answers = WeakKeyDictionary[http.Response, bytes]


class ResponseDelivery:
    """The last addon, so that no other replaces the response after it. Leaves the gateway's own responses unchanged."""

    def __init__(self, states: FlowStates) -> None:
        self.states = states
        self._answers: Answers = WeakKeyDictionary()

    def install(self) -> None:
        """Makes every HTTP connection of this process deliver the answers."""
        DeliveringStream.answers = self._answers
        replaced: Any = http_layers
        replaced.HttpStream = DeliveringStream

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> None:
        state = self.states.of(flow)
        if state is None or state.answer is None or flow.response is None:
            return
        if flow.response.data.content:
            self._answers[flow.response] = state.answer
        self.states.remove(flow)

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Keeps the plain answer of `fail_closed`."""


class DeliveringStream(HttpStream):
    """Sends the restored answer in place of the flow's response."""

    answers: ClassVar[Answers]

    def send_response(self, already_streamed: bool = False) -> layer.CommandGenerator[None]:
        answer: bytes | None = None
        for command in super().send_response(already_streamed):
            event = command.event if isinstance(command, SendHttp) else None
            if isinstance(event, ResponseHeaders):
                answer = self.answers.pop(event.response, None)
                if answer is not None:
                    event.response = _of_length(event.response, len(answer))
            elif isinstance(event, ResponseData) and answer is not None:
                event.data = answer
            yield command


def _of_length(response: http.Response, length: int) -> http.Response:
    """Returns a copy of the head of `response` for a body of another length."""
    head = copy(response)
    head.data = copy(response.data)
    head.data.content = None
    # Another kind of copy would leave out the cookies, which are sealed.
    head.headers = copy(response.headers)
    head.headers.pop("transfer-encoding", None)
    head.headers["content-length"] = str(length)
    return head
