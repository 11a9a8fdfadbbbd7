"""Contained programs are recognized by their address, and held to the hosts that are decrypted or listed."""

from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import exceptions, http
from mitmproxy.proxy.layers import TCPLayer
from mitmproxy.proxy.mode_specs import ProxyMode
from mitmproxy.test import taddons, tflow, tutils

from addons.contained_programs import ContainedPrograms, ContainedTunnels
from addons.patches.connection_limits import Clients
from addons.request_log import RequestLog
from addons.unprotected_tunnels import Refused
from gateway.config.contained_programs import CONTAINED_ADDRESS
from gateway.config.host_patterns import HostMatcher, host_regexes

LISTED = HostMatcher(host_regexes(["listed.test:443"]))


def addon() -> ContainedPrograms:
    return ContainedPrograms(LISTED, lambda host, _: host == "model.test", Clients(), RequestLog())


def flow_of(peer: str = CONTAINED_ADDRESS, mode: str = "regular", **request: Any) -> http.HTTPFlow:
    flow = tflow.tflow(req=tutils.treq(**request))
    flow.client_conn.peername = (peer, 50000)
    flow.client_conn.proxy_mode = ProxyMode.parse(mode)
    return flow


async def is_refused(flow: http.HTTPFlow) -> bool:
    hook = addon().http_connect if flow.request.method == "CONNECT" else addon().requestheaders
    try:
        await hook(flow)
    except exceptions.AddonHalt:
        assert flow.response is not None
        assert (flow.response.status_code, flow.response.json()["error"]["code"]) == (403, "contained_program")
        assert flow.response.headers["connection"] == "close"
        assert b"test" not in (flow.response.content or b"").replace(b"latest", b"")
        return True
    return False


@pytest.mark.parametrize(
    ("host", "port", "refused"),
    [
        ("model.test", 443, False),
        ("listed.test", 443, False),
        ("listed.test", 80, True),
        ("other.test", 443, True),
        ("127.0.0.1", 8081, True),
    ],
)
async def test_only_decrypted_and_listed_hosts_are_reached(host: str, port: int, refused: bool) -> None:
    assert await is_refused(flow_of(method="CONNECT", host=host, port=port)) is refused
    assert await is_refused(flow_of(method="GET", host=host, port=port, headers=())) is refused
    assert not await is_refused(flow_of("127.0.0.1", method="CONNECT", host=host, port=port))
    assert not await is_refused(flow_of("127.0.0.1", method="GET", host=host, port=port, headers=()))


async def test_the_host_header_has_to_agree() -> None:
    headers = http.Headers(host="other.test")
    assert await is_refused(flow_of(method="GET", host="listed.test", port=443, headers=headers))


@pytest.mark.parametrize(
    ("method", "path", "refused"),
    [
        ("POST", "/v1/chat/completions", False),
        ("POST", "/v1/messages?beta=true", False),
        ("GET", "/v1/models", False),
        ("GET", "/v1/models/m", False),
        ("GET", "/healthz", False),
        ("POST", "/v1/reconstruct", True),
        ("GET", "/v1/keys", True),
        ("POST", "/v1/keys", True),
        ("GET", "/v1/modelsX", True),
        ("GET", "/metrics", True),
        ("GET", "/", True),
    ],
)
async def test_of_the_gateway_only_calls_of_models_are_reached(method: str, path: str, refused: bool) -> None:
    mode = "reverse:http://gateway.invalid:1"
    assert await is_refused(flow_of(mode=mode, method=method, path=path.encode())) is refused
    assert not await is_refused(flow_of("127.0.0.1", mode, method=method, path=path.encode()))


@pytest.mark.parametrize(
    ("host", "sent", "passes"),
    [
        ("listed.test", b"\x00\x01", True),
        ("listed.test", b"GET / HTTP/1.1\r\nHost: listed.test\r\n\r\n", True),
        ("listed.test", b"GET / HTTP/1.1\r\nHost: other.test\r\n\r\n", False),
        ("model.test", b"\x00\x01", False),
    ],
)
@pytest.mark.parametrize("peer", [CONTAINED_ADDRESS, "127.0.0.1"])
def test_a_tunnel_is_what_it_was_asked_for(host: str, sent: bytes, passes: bool, peer: str) -> None:
    with taddons.context():
        context: Any = SimpleNamespace(
            client=flow_of(peer).client_conn,
            server=SimpleNamespace(address=(host, 443), timestamp_start=None, tls=False),
            layers=[],
            options=None,
        )
        data: Any = SimpleNamespace(context=context, layer=None, data_client=lambda: sent, data_server=lambda: b"")
        data.layer = object.__new__(TCPLayer)
        ContainedTunnels(LISTED, RequestLog()).next_layer(data)
    kept = passes or peer == "127.0.0.1"
    assert isinstance(data.layer, TCPLayer if kept else Refused)
