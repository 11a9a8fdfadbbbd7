"""Requests in plain HTTP are sent to another proxy in absolute form, with credentials that no flow has."""

import pytest
from mitmproxy import connection
from mitmproxy.options import Options
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http._base import ReceiveHttp
from mitmproxy.proxy.layers.http._events import RequestEndOfMessage, RequestHeaders
from mitmproxy.test import tflow, tutils

from addons.patches.absolute_form import ProxiedClient, send_absolute
from addons.patches.head_limits import BoundedClient, MessageLimits


class Sent:
    """A request to a server, and what is done with the answer. With `proxied`, that is to another proxy."""

    def __init__(self, proxied: bool, authorization: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(BoundedClient, "limits", MessageLimits(65536, 256, 65536), raising=False)
        context = Context(tflow.tclient_conn(), Options())
        context.server = connection.Server(address=("far.test", 8080))
        context.server.state = connection.ConnectionState.OPEN
        if proxied:
            send_absolute(context.server, authorization)
        self.server, self.client = context.server, ProxiedClient(context)
        self.request = tutils.treq(host="far.test", port=8080, path=b"/v1/x", authority=b"", content=b"")
        self.done: list[commands.Command] = []
        for event in (events.Start(), RequestHeaders(1, self.request, True), RequestEndOfMessage(1)):
            self.take(event)

    def take(self, event: events.Event) -> None:
        self.done += self.client.handle_event(event)

    @property
    def bytes(self) -> bytes:
        return b"".join(each.data for each in self.done if isinstance(each, commands.SendData))


@pytest.mark.parametrize("authorization", ["Basic c2VjcmV0", None])
def test_a_request_to_another_proxy(authorization: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = Sent(True, authorization, monkeypatch)
    assert sent.bytes.startswith(b"GET http://far.test:8080/v1/x HTTP/1.1\r\n")
    assert (b"\r\nproxy-authorization: Basic c2VjcmV0\r\n" in sent.bytes) is (authorization is not None)
    assert "proxy-authorization" not in sent.request.headers
    assert sent.request.data.authority == b""


def test_a_request_to_the_upstream_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Sent(False, None, monkeypatch).bytes.startswith(b"GET /v1/x HTTP/1.1\r\n")


@pytest.mark.parametrize(("proxied", "event"), [(True, "ResponseProtocolError"), (False, "ResponseHeaders")])
def test_only_the_refusal_of_another_proxy_is_kept_from_the_client(
    proxied: bool, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = Sent(proxied, "Basic c2VjcmV0", monkeypatch)
    sent.take(events.DataReceived(sent.server, b"HTTP/1.1 407 canary\r\nContent-Length: 6\r\n\r\ncanary"))
    heard = [each.event for each in sent.done if isinstance(each, ReceiveHttp)]
    assert type(heard[0]).__name__ == event
    assert ("canary" in str(heard)) is not proxied
    assert any(isinstance(each, commands.CloseConnection) for each in sent.done) is proxied
