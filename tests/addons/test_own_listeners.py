"""Which addresses lead to a listener, and that what was checked is what is connected to."""

import asyncio
import socket
from types import SimpleNamespace
from typing import Any, cast

import pytest
from mitmproxy import connection
from mitmproxy.addons import proxyserver
from mitmproxy.proxy.server_hooks import ServerConnectionHookData
from mitmproxy.test import taddons, tflow

from addons.mitm_errors import OWN_LISTENER
from addons.own_listeners import OwnListeners, leads_to


@pytest.mark.parametrize(
    ("address", "listener", "reached"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("0.0.0.0", "127.0.0.1", True),
        ("::", "::1", True),
        ("::ffff:127.0.0.1", "127.0.0.1", True),
        ("127.0.0.2", "127.0.0.1", False),
        ("127.0.0.2", "0.0.0.0", True),
        ("127.0.0.2", "::", True),
        ("::1", "127.0.0.1", False),
        ("192.0.2.1", "0.0.0.0", False),
        ("2001:db8::1", "::", False),
        ("192.0.2.1", "", False),
        ("127.0.0.1", "", True),
    ],
)
def test_which_addresses_lead_to_a_listener(address: str, listener: str, reached: bool) -> None:
    assert leads_to(address, [listener]) is reached


def server(host: str, port: int) -> ServerConnectionHookData:
    return ServerConnectionHookData(connection.Server(address=(host, port)), tflow.tclient_conn())


async def connected(monkeypatch: pytest.MonkeyPatch, host: str, answers: list[list[str]]) -> ServerConnectionHookData:
    """A connection attempt to a name at mitmweb's port, whose look-ups have these answers in turn."""

    async def getaddrinfo(_: object, port: int, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answers.pop(0)]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    own = OwnListeners(("127.0.0.1", 8081))
    data = server(host, 8081)
    with taddons.context(proxyserver.Proxyserver()):
        await own.server_connect(data)
    return data


@pytest.mark.anyio
async def test_a_name_that_resolves_to_a_listener_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await connected(monkeypatch, "rebound.test", [["127.0.0.1"]])).server.error == OWN_LISTENER
    assert (await connected(monkeypatch, "rebound.test", [["192.0.2.7", "127.0.0.1"]])).server.error == OWN_LISTENER


@pytest.mark.anyio
async def test_what_was_checked_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second look-up would lead to mitmweb."""
    data = await connected(monkeypatch, "rebound.test", [["192.0.2.7"], ["127.0.0.1"]])
    assert (data.server.error, data.server.address) == (None, ("192.0.2.7", 8081))


@pytest.mark.anyio
async def test_the_name_is_put_back_once_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    """mitmproxy knows a connection it can use again by the name."""

    async def getaddrinfo(_: object, port: int, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    own = OwnListeners(("127.0.0.1", 8081))
    data = server("provider.test", 8081)
    with taddons.context(proxyserver.Proxyserver()):
        await own.server_connect(data)
        assert data.server.address == ("192.0.2.7", 8081)
        own.server_connected(data)
    assert data.server.address == ("provider.test", 8081)


@pytest.mark.anyio
async def test_other_ports_are_not_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def getaddrinfo(*_: object, **__: object) -> list[Any]:
        raise AssertionError("looked up")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    data = server("provider.test", 443)
    with taddons.context(proxyserver.Proxyserver()):
        await OwnListeners(("127.0.0.1", 8081)).server_connect(data)
    assert (data.server.error, data.server.address) == (None, ("provider.test", 443))


@pytest.mark.anyio
async def test_a_listener_of_a_mode_counts() -> None:
    servers = [SimpleNamespace(mode=SimpleNamespace(transport_protocol="tcp"), listen_addrs=(("0.0.0.0", 1080),))]
    own = OwnListeners(None)
    data = server("127.0.0.9", 1080)
    with taddons.context(proxyserver.Proxyserver()) as context:
        cast(Any, context.master.addons.get("proxyserver")).servers = servers
        await own.server_connect(data)
    assert data.server.error == OWN_LISTENER
