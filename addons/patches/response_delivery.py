"""Sends the client its restored answer without putting it into the flow.

mitmproxy turns the response of a flow into events (a head, then data) and sends them to the client. `DeliveringStream`
puts the restored answer into these events, so the flow holds what the upstream sent at all times. Putting the answer
into the flow for a moment would not do: `response` hooks that end without suspending run while mitmproxy still holds
the connection's lock, and the event loop may run other callbacks before the response is sent.

A connection that switches its protocol gets the layer that `upgraded` returns, or else is closed.

Without the replaced class, the client would get the protected answer. Upstream would have to let a hook set the body
that is sent apart from the body that the flow keeps.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from mitmproxy import http
from mitmproxy.proxy import commands, context, events, layer
from mitmproxy.proxy.layers import http as http_layers
from mitmproxy.proxy.layers.http import HttpStream, SendHttp
from mitmproxy.proxy.layers.http._events import ResponseData, ResponseEndOfMessage, ResponseHeaders

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
    upgraded: ClassVar[Callable[[http.HTTPFlow, context.Context], layer.Layer | None]] = staticmethod(lambda *_: None)
    _switches: bool = False

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

    def state_wait_for_response_headers(self, event: ResponseHeaders) -> layer.CommandGenerator[None]:
        self._switches = event.response.status_code == 101
        yield from super().state_wait_for_response_headers(event)

    def flow_done(self) -> layer.CommandGenerator[None]:
        upgraded = type(self).upgraded(self.flow, self.context)
        if upgraded is None:
            if self._switches:
                # The upstream has, and the client is told that it could not.
                yield commands.CloseConnection(self.context.server)
            yield from super().flow_done()
            return
        self.child_layer = upgraded
        self._handle_event = self.passthrough
        yield from upgraded.handle_event(events.Start())
        # The client's connection switches with this, and delivers what has arrived already.
        yield SendHttp(ResponseEndOfMessage(self.stream_id), self.context.client)

    def state_done(self, event: events.Event) -> layer.CommandGenerator[None]:
        if not self._switches:
            yield from super().state_done(event)


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
