"""Sends the client its restored answer without putting it into the flow.

mitmproxy turns the response of a flow into events (a head, then data) and sends them to the client. `DeliveringStream`
puts the restored answer into these events, so the flow holds what the upstream sent at all times. Putting the answer
into the flow for a moment would not do: `response` hooks that end without suspending run while mitmproxy still holds
the connection's lock, and the event loop goes round before the response is sent.

Written against mitmproxy 12.2; `tests/addons/test_response_delivery.py` fails when the internals that this module
builds on change. Without the replaced class, the client would get the protected answer.
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

# What the client gets in place of the body of a response.
type Answers = WeakKeyDictionary[http.Response, bytes]


class ResponseDelivery:
    """The last addon: no other replaces the response after it. Answers of the gateway's own pass it untouched."""

    def __init__(self, visits: FlowStates) -> None:
        self.visits = visits
        self._answers: Answers = WeakKeyDictionary()

    def install(self) -> None:
        """Has every HTTP connection of this process send the answers."""
        DeliveringStream.answers = self._answers
        replaced: Any = http_layers
        replaced.HttpStream = DeliveringStream

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> None:
        visit = self.visits.of(flow)
        if visit is None or visit.answer is None or flow.response is None:
            return
        if flow.response.data.content:
            self._answers[flow.response] = visit.answer
        self.visits.leave(flow)

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Called by the boundary, whose plain answer stands."""


class DeliveringStream(HttpStream):
    """One request and its response."""

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
    """The head of `response` for a body of another length."""
    head = copy(response)
    head.data = copy(response.data)
    head.data.content = None
    head.headers = http.Headers(response.headers.fields)
    head.headers.pop("transfer-encoding", None)
    head.headers["content-length"] = str(length)
    return head
