"""Connections are refused by the name that the client asks for or that its first bytes have."""

import ssl
from typing import Any

import pytest
from mitmproxy import connection, exceptions, options
from mitmproxy.addons.next_layer import NextLayer
from mitmproxy.proxy import commands, context, events, layer
from mitmproxy.proxy.layers import TCPLayer
from mitmproxy.test import taddons, tflow, tutils

from addons.patches.first_bytes import host_header, replace_searches
from addons.request_log import RequestLog
from addons.unprotected_tunnels import UnprotectedTunnels
from gateway.config.unprotected_hosts import UnprotectedHosts, read_unprotected_hosts
from gateway.errors import Forbidden


def addon(intercepted: str = "") -> UnprotectedTunnels:
    hosts = UnprotectedHosts(read_unprotected_hosts())
    return UnprotectedTunnels(hosts, lambda host, _: host == intercepted, RequestLog())


@pytest.mark.parametrize("host", ["chatgpt.com", "CHATGPT.COM.", "ab.chatgpt.com"])
async def test_connect_to_a_listed_host_is_refused_with_the_reason(host: str) -> None:
    flow = tflow.tflow(req=tutils.treq(method="CONNECT", host=host, port=443))
    with pytest.raises(exceptions.AddonHalt):
        await addon().http_connect(flow)
    assert flow.response is not None
    assert flow.response.status_code == 403
    assert flow.response.headers["connection"] == "close"
    text = flow.response.get_text() or ""
    for part in ("unprotected_host", "codex signed in with ChatGPT", "API key", 'unprotected_hosts = \\"tunnel\\"'):
        assert part in text
    assert host not in text.replace("ChatGPT", "")


async def test_intercepted_and_other_hosts_are_not_refused() -> None:
    flow = tflow.tflow(req=tutils.treq(method="CONNECT", host="chatgpt.com", port=443))
    await addon("chatgpt.com").http_connect(flow)
    assert flow.response is None
    passing = [host for host in ("chatgpt.com", "github.com", "model.test") if addon("model.test").passes(host, 443)]
    assert passing == ["github.com"]
    addon().check("github.com", 443)


def test_a_refusal_is_logged_with_the_entry_and_without_the_name(caplog: pytest.LogCaptureFixture) -> None:
    tunnels = addon()
    for _ in range(3):
        with pytest.raises(Forbidden):
            tunnels.check("canary.githubcopilot.com", 443)
    tunnels.done()
    assert "`*.githubcopilot.com`" in caplog.text
    assert "canary" not in caplog.text
    assert len(caplog.records) == 2


def client_hello(name: str) -> bytes:
    sent = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname=name).do_handshake()
    return sent.read()


def http_head(name: str) -> bytes:
    return f"GET / HTTP/1.1\r\nHost: {name}\r\n\r\n".encode()


def tunnel(host: str, sent: bytes) -> layer.NextLayer:
    """A connection to a host, of which mitmproxy has decided that it is an untouched tunnel."""
    client = tflow.tclient_conn()
    asked = layer.NextLayer(context.Context(client, options.Options()))
    asked.context.server = connection.Server(address=(host, 443))
    asked.events = [events.Start(), events.DataReceived(client, sent)]
    asked.layer = TCPLayer(asked.context, ignore=True)
    return asked


def commands_of(data: layer.NextLayer) -> list[Any]:
    assert data.layer is not None
    return [command for event in data.events for command in data.layer.handle_event(event)]


@pytest.mark.parametrize(
    ("host", "sent"),
    [
        ("192.0.2.1", client_hello("chatgpt.com")),
        ("192.0.2.1", client_hello("ChatGPT.com")),
        ("other.test", client_hello("api.business.githubcopilot.com")),
        ("chatgpt.com", client_hello("other.test")),
        ("chatgpt.com", b"\x00"),
        *(("192.0.2.1", http_head(name)) for name in ("chatgpt.com", "chatgpt.com:443", "CHATGPT.COM.:80")),
    ],
)
def test_a_tunnel_to_a_listed_host_is_closed(
    host: str, sent: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "gateway.requests")
    monkeypatch.setattr(NextLayer, "_get_host_header", staticmethod(host_header))
    data = tunnel(host, sent)
    addon().next_layer(data)
    done = commands_of(data)
    assert isinstance(done[-1], commands.CloseConnection)
    assert not any(isinstance(command, commands.OpenConnection) for command in done)
    alert = [command.data for command in done if isinstance(command, commands.SendData)]
    assert alert == ([b"\x15\x03\x03\x00\x02\x021"] if sent[:1] == b"\x16" else [])
    assert 'outcome=refused code="unprotected_host"' in caplog.text


@pytest.mark.parametrize("sent", [client_hello("github.com"), http_head("github.com"), b"SSH-2.0-a\r\n", b"\x00"])
def test_another_tunnel_or_layer_stays_as_it_is(sent: bytes) -> None:
    for host, makes in (("192.0.2.1", None), ("chatgpt.com", layer.NextLayer)):
        data = tunnel(host, sent)
        data.layer = kept = makes(data.context) if makes else data.layer
        addon().next_layer(data)
        assert data.layer is kept


def test_a_check_that_fails_opens_no_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    """mitmproxy logs what a hook raises, and takes the layer that is set."""
    data = tunnel("192.0.2.1", client_hello("github.com"))
    tunnels = addon()
    monkeypatch.setattr(tunnels.hosts, "find", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        tunnels.next_layer(data)
    assert data.layer is None


def test_a_hello_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []

    def parse(_: object, data: bytes) -> None:
        parsed.append(data)

    monkeypatch.setattr(NextLayer, "_get_client_hello", staticmethod(parse))
    replace_searches()
    data = tunnel("192.0.2.1", client_hello("github.com"))
    with taddons.context(finder := NextLayer()) as mitm:
        mitm.configure(finder, allow_hosts=["nothing"])
        data.layer = None
        finder.next_layer(data)
        addon().next_layer(data)
    assert isinstance(data.layer, TCPLayer)
    assert len(parsed) == 1
