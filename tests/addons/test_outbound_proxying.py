"""Which flows and tunnels take the outbound proxy, and that what goes wrong opens no direct connection."""

from typing import Any

import pytest
from mitmproxy import connection, options
from mitmproxy.proxy import commands, context, events, layer
from mitmproxy.proxy.layers import TCPLayer, UDPLayer, modes
from mitmproxy.proxy.layers import http as http_layers
from mitmproxy.proxy.layers.http import _upstream_proxy
from mitmproxy.proxy.mode_specs import ProxyMode
from mitmproxy.test import tflow, tutils
from pydantic import SecretStr

from addons.flow_state import FlowState, FlowStates
from addons.outbound_proxying import OutboundProxying
from addons.patches.connection_limits import Clients, ClientState, Phase
from addons.patches.outbound_tunnel import OutboundTunnel, RoutedStream
from addons.patches.tunnel_opening import OpeningSocks, OpeningStream, Way
from addons.request_log import RequestLog
from addons.unprotected_tunnels import Refused
from gateway.config.outbound_proxy import OutboundProxies, OutboundProxy
from gateway.exchange.messages import ForwardedRequest, Listener
from gateway.http.upstream_failures import Fault
from tests.addons.test_unprotected_tunnels import commands_of, tunnel

PROXY = OutboundProxy("http", "proxy.test", 3128, SecretStr("user:canary"))
VIA = ("http", ("proxy.test", 3128))


def addon(states: FlowStates | None = None) -> OutboundProxying:
    proxies = OutboundProxies(PROXY, {"direct": None}, [".corp"])
    return OutboundProxying(
        proxies, states or FlowStates(), RequestLog(), Clients(), lambda host, _: host != "model.test"
    )


@pytest.mark.parametrize(
    ("host", "upstream", "via"),
    [("far.test", "", VIA), ("far.test", "other", VIA), ("far.test", "direct", None), ("a.corp", "", None)],
)
def test_a_flow_takes_the_way_of_its_upstream_or_host(host: str, upstream: str, via: object) -> None:
    states = FlowStates()
    flow = tflow.tflow(req=tutils.treq(host=host, port=443))
    assert addon(states).via(flow) == (None if host == "a.corp" else VIA)
    state = FlowState("req_1", Listener.GATEWAY, flow.request.headers, ("h", 1, "http"))
    state.forwarded = ForwardedRequest(f"https://{host}/v1", (), b"", upstream=upstream)
    states.add(flow, state)
    assert addon(states).via(flow) == via


def test_a_mode_with_a_proxy_of_its_own_keeps_it() -> None:
    flow = tflow.tflow()
    flow.client_conn.proxy_mode = ProxyMode.parse("upstream:http://mode.test:8080")
    flow.server_conn = connection.Server(address=None, via=("http", ("mode.test", 8080)))
    assert addon().via(flow) == ("http", ("mode.test", 8080))
    data = tunnel("far.test", b"\x00")
    data.context.client.proxy_mode = flow.client_conn.proxy_mode
    kept = data.layer
    addon().next_layer(data)
    assert data.layer is kept


@pytest.mark.parametrize(
    ("address", "sent"), [(("proxy.test", 3128), True), (("proxy.test", 80), False), (None, False)]
)
def test_credentials_are_for_the_proxy_alone(address: tuple[str, int] | None, sent: bool) -> None:
    flow = tflow.tflow()
    flow.server_conn = connection.Server(address=address)
    addon().http_connect_upstream(flow)
    assert ("proxy-authorization" in flow.request.headers) is sent


def test_a_tunnel_is_opened_through_the_proxy_alone() -> None:
    data = tunnel("far.test", b"\x00")
    addon().next_layer(data)
    (opening,) = [each for each in commands_of(data) if isinstance(each, commands.OpenConnection)]
    assert opening.connection.address == ("proxy.test", 3128)


def test_other_tunnels_and_layers_stay_as_they_are() -> None:
    for host, makes in (
        ("a.corp", TCPLayer),
        ("localhost", TCPLayer),
        ("a.corp", UDPLayer),
        ("far.test", layer.NextLayer),
    ):
        data = tunnel(host, b"\x00")
        data.layer = kept = makes(data.context)
        addon().next_layer(data)
        assert data.layer is kept


def test_udp_is_refused_where_tcp_would_take_the_proxy() -> None:
    data = tunnel("far.test", b"\x00")
    data.layer = UDPLayer(data.context, ignore=True)
    addon().next_layer(data)
    assert isinstance(data.layer, Refused)


def test_a_hook_that_fails_opens_no_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    data, failing = tunnel("far.test", b"\x00"), addon()
    monkeypatch.setattr(failing.proxies, "route", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        failing.next_layer(data)
    assert data.layer is None


def test_tunnels_that_fail_are_counted_by_the_kind(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    outbound, data = addon(), tunnel("canary.test", b"\x00")
    outbound.next_layer(data)
    done = commands_of(data)
    assert data.layer is not None
    (opening,) = [each for each in done if isinstance(each, commands.OpenConnection)]
    closed = [*data.layer.handle_event(events.OpenConnectionCompleted(opening, "[Errno 111] canary"))]
    assert any(isinstance(command, commands.CloseConnection) for command in closed)
    outbound._failed(data.context.client, Fault.PROXY_UNREACHABLE)
    outbound._failed(data.context.client, Fault.PROXY_DENIED)
    outbound.done()
    lines = [record.getMessage() for record in caplog.records if record.name == "gateway.requests"]
    assert len(lines) == 3
    assert all('outcome="upstream_error"' in line and 'code="upstream_unreachable"' in line for line in lines)
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [warning.rpartition(" (")[2] for warning in warnings] == [
        *("proxy_unreachable): 1", "proxy_denied): 1", "proxy_unreachable): 1")
    ]
    assert "canary" not in caplog.text


@pytest.mark.parametrize(
    ("host", "way", "socks"),
    [
        ("far.test", Way(VIA), False),
        ("a.corp", Way(None), True),
        ("model.test", None, False),
        ("192.0.2.1", None, False),
        ("[2001:db8::1]", None, False),
        ("", None, False),
    ],
)
def test_a_tunnel_to_a_name_that_is_not_intercepted_is_opened_before_the_answer(
    host: str, way: Way | None, socks: bool
) -> None:
    flow = tflow.tflow(req=tutils.treq(method="CONNECT", host=host, port=443))
    assert addon()._way(flow) == way
    of = context.Context(flow.client_conn, options.Options())
    of.server.address = (host, 443)
    assert addon()._opens_socks(of) == socks
    flow.client_conn.proxy_mode = ProxyMode.parse("upstream:http://mode.test:8080")
    assert addon()._way(flow) is None


def test_a_tunnel_that_is_open_is_not_opened_again() -> None:
    outbound, data = addon(), tunnel("far.test", b"\x00")
    state = ClientState(data.context.client.id, "192.0.2.1")
    outbound._clients.add(state)
    data.context.server.timestamp_start = 1.0
    kept = data.layer
    outbound.next_layer(data)
    assert (data.layer, state.phase) == (kept, Phase.TUNNEL)


def test_the_client_of_a_tunnel_that_cannot_be_opened_gets_the_error(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "gateway.requests")
    flow = tflow.tflow(req=tutils.treq(method="CONNECT", host="canary.test", port=443))
    addon()._answer_failed(flow, Fault.UNRESOLVED)
    assert flow.response is not None
    assert (flow.response.status_code, flow.response.headers["connection"]) == (502, "close")
    error = flow.response.json()
    assert error["error"]["code"] == "upstream_unreachable"
    addon()._answer_failed(tflow.tflow(), None)
    failed, gone = [record.getMessage() for record in caplog.records if record.name == "gateway.requests"]
    for part in (f'request_id="{error["request_id"]}"', "method=CONNECT", "status=502", 'code="upstream_unreachable"'):
        assert part in failed
    assert "outcome=cancelled" in gone
    assert "canary" not in caplog.text


def test_every_stream_of_the_process_is_routed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_layers, "HttpStream", http_layers.HttpStream)
    monkeypatch.setattr(_upstream_proxy, "HttpUpstreamProxy", _upstream_proxy.HttpUpstreamProxy)
    monkeypatch.setattr(modes, "Socks5Proxy", modes.Socks5Proxy)
    addon().install()
    replaced: Any = http_layers
    assert replaced.HttpStream is OpeningStream
    assert issubclass(OpeningStream, RoutedStream)
    assert OpeningSocks is vars(modes)["Socks5Proxy"]
    assert _upstream_proxy.HttpUpstreamProxy is OutboundTunnel
