"""Which connections get the certificate of the settings, and which are refused for want of TLS."""

from pathlib import Path
from typing import Any

import pytest
from mitmproxy import exceptions, options, tls
from mitmproxy.connection import Client
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import ClientTLSLayer, modes
from mitmproxy.proxy.mode_specs import ProxyMode

from addons.certificate_files import CertificateFiles
from addons.listener_tls import ListenerTls, mode_speaks_tls
from addons.master import NOWHERE
from addons.patches.connection_limits import Clients, ClientState, Phase
from gateway.config.settings import Settings
from tests.certificates import write_certificate

# A ClientHello of OpenSSL for the name `localhost` need not be complete: its first record announces its length.
BEGUN = bytes.fromhex("16030100c8010000c40303")


@pytest.fixture
def addon(tmp_path: Path) -> ListenerTls:
    certificate, key = write_certificate(tmp_path)
    settings = Settings(tls_certificate=certificate, tls_key=key)
    clients = Clients()
    clients.add(ClientState("client", ""))
    return ListenerTls(CertificateFiles(certificate, key), settings, clients)


def context(mode: str = "regular") -> Context:
    client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), proxy_mode=ProxyMode.parse(mode), id="client")
    made = Context(client, options.Options())
    modes.HttpProxy(made)
    return made


def asked(addon: ListenerTls, data: bytes, mode: str = "regular") -> layer.NextLayer:
    """Asks for the layer of a connection that begins with these bytes."""
    made = context(mode)
    question = layer.NextLayer(made)
    question.events = [events.DataReceived(made.client, data)] if data else []
    addon.next_layer(question)
    return question


@pytest.mark.parametrize("data", [b"", b"\x16", b"\x16\x03", BEGUN])
def test_an_incomplete_client_hello_is_waited_for(addon: ListenerTls, data: bytes) -> None:
    with pytest.raises(exceptions.AddonHalt):
        asked(addon, data)


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x00\x04\x01\x00\x00\x00", b"\x16\x09\x01"])
def test_mitmproxy_refuses_what_is_no_client_hello(addon: ListenerTls, data: bytes) -> None:
    assert asked(addon, data).layer is None


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 400 "),
        (b"P", b"HTTP/1.1 400 "),
        (b"CONNECT a.test:443 HTTP/1.1\r\n", b"HTTP/1.1 400 "),
        (b"\x05\x01\x00", b""),
    ],
)
def test_plain_http_gets_an_answer_and_other_bytes_none(addon: ListenerTls, data: bytes, answer: bytes) -> None:
    question = asked(addon, data)
    assert question.layer is not None
    client = question.context.client
    first, *rest = question.layer.handle_event(events.Start())
    if answer:
        assert isinstance(first, commands.SendData)
        assert first.data.startswith(answer)
        assert b'"tls_required"' in first.data
        first, *rest = rest
    assert isinstance(first, commands.CloseTcpConnection)
    assert first.half_close
    assert rest == []
    assert list(question.layer.handle_event(events.DataReceived(client, b"a" * 60_000))) == []
    for last in (events.DataReceived(client, b"a" * 60_000), events.ConnectionClosed(client)):
        assert [type(each) for each in question.layer.handle_event(last)] == [commands.CloseConnection]
    state = addon._clients.of(client)
    assert state is not None
    assert state.phase is Phase.CLOSING


@pytest.mark.parametrize("mode", ["socks5", "transparent", "reverse:http://a.test", "local:program"])
def test_other_modes_are_left_alone(addon: ListenerTls, mode: str) -> None:
    assert asked(addon, b"GET / HTTP/1.1\r\n", mode).layer is None


@pytest.mark.parametrize(
    ("listeners", "speaking"),
    [(["gateway"], [f"reverse:{NOWHERE}"]), (["proxy"], ["regular", "upstream:http://a.test:1"]), (["web"], [])],
)
def test_only_the_listeners_in_the_setting_have_the_certificate(
    listeners: list[str], speaking: list[str], tmp_path: Path
) -> None:
    certificate, key = write_certificate(tmp_path)
    settings = Settings(tls_certificate=certificate, tls_key=key, tls_listeners=listeners)
    every = [f"reverse:{NOWHERE}", "regular", "upstream:http://a.test:1", "socks5", "reverse:http://b.test"]
    assert [mode for mode in every if mode_speaks_tls(settings, ProxyMode.parse(mode))] == speaking
    assert not any(mode_speaks_tls(Settings(), ProxyMode.parse(mode)) for mode in every)


def test_the_outer_connection_gets_the_certificate_and_a_tunnel_in_it_does_not(addon: ListenerTls) -> None:
    made = context()
    ClientTLSLayer(made)
    outer = tls.TlsData(made.client, made)
    addon.tls_start_client(outer)
    assert outer.ssl_conn is not None
    made.client.sni, made.client.alpn, made.client.tls_version = "listener.test", b"http/1.1", "TLSv1.3"
    addon.tls_established_client(outer)
    client: Any = made.client
    assert (client.tls, client.sni, client.alpn, client.tls_version) == (False, None, None, None)
    inner = made.fork()
    ClientTLSLayer(inner)
    data = tls.TlsData(inner.client, inner)
    addon.tls_start_client(data)
    assert data.ssl_conn is None
    inner.client.sni = "api.openai.com"
    addon.tls_established_client(data)
    assert (inner.client.tls, inner.client.sni) == (True, "api.openai.com")
