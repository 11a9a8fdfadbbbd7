"""Addresses that lead to a listener or are private are refused, and the address that was checked is connected to."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import pytest
from mitmproxy import connection, exceptions
from mitmproxy.addons import proxyserver
from mitmproxy.flow import Error
from mitmproxy.options import Options
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.mode_specs import ProxyMode
from mitmproxy.proxy.server_hooks import ServerConnectionHookData
from mitmproxy.test import taddons, tflow, tutils

from addons.connection_addresses import ConnectionAddresses, is_on_this_machine, leads_to
from addons.patches.outbound_tunnel import OutboundTunnel
from addons.request_log import RequestLog
from gateway.config.contained_programs import CONTAINED_ADDRESS
from gateway.config.private_destinations import PermittedDestinations, check_destination
from tests.conftest import vectors

CASES = vectors("hosts/connection_addresses")
FAR = "203.0.113.9"


@pytest.mark.parametrize(("address", "listener", "reached"), CASES["leads_to"])
def test_an_address_leads_to_a_listener(address: str, listener: str, reached: bool) -> None:
    assert leads_to(address, [listener]) is reached


def destinations(web: tuple[str, int] | None, *permitted: str) -> ConnectionAddresses:
    allowed = PermittedDestinations(map(check_destination, permitted))
    return ConnectionAddresses([web] if web else [], allowed, RequestLog())


def server(host: str, port: int) -> ServerConnectionHookData:
    return ServerConnectionHookData(connection.Server(address=(host, port)), tflow.tclient_conn())


type Attempt = Callable[..., Awaitable[connection.Server]]


@pytest.fixture
def attempt(monkeypatch: pytest.MonkeyPatch) -> Attempt:
    """Attempts a connection to a host whose look-ups have these answers in turn, and no more. Returns the server."""

    async def connected(
        port: int, *answers: Any, peer: str, permitted: list[str], asked: bool = False, listed: str = "other.test"
    ) -> connection.Server:
        left = iter(answers)

        async def getaddrinfo(_: object, port: int, **__: object) -> list[Any]:
            answer = next(left)
            if isinstance(answer, Exception):
                raise answer
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answer]

        async def open_connection(*_: object) -> Any:
            raise OSError

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
        monkeypatch.setattr(asyncio, "open_connection", open_connection)
        data, own = server("name.test", port), destinations(("127.0.0.1", 8081), *permitted)
        data.client.peername = (peer, 50_000)
        own.use(own.permitted, [listed])
        if asked:
            flow = tflow.tflow(req=tutils.treq(method="CONNECT", host="name.test", port=port))
            flow.client_conn, flow.error = data.client, Error("not checked")
            with taddons.context(proxyserver.Proxyserver()):
                await own.http_connect_upstream(flow)
            data.server.error = flow.error.msg if flow.error else None
            return data.server
        with taddons.context(proxyserver.Proxyserver()), suppress(RuntimeError):
            await own.server_connect(data)
            found = data.server.address
            # mitmproxy knows a connection that it can use again by the name.
            own.server_connected(data)
            assert data.server.address == ("name.test", port)
            data.server.address = found
        return data.server

    return connected


@pytest.mark.parametrize("case", CASES["attempts"], ids=lambda case: case["case"])
async def test_an_address_is_checked_and_then_connected_to(attempt: Attempt, case: dict[str, Any]) -> None:
    for peer, answers in product(case["peers"], case["lookups"]):
        reached = await attempt(case["port"], *answers, peer=peer, permitted=case["permitted"])
        assert reached.error == case.get("error")
        assert reached.error or reached.address == (case["address"], case["port"])


@pytest.mark.parametrize("case", CASES["attempts"], ids=lambda case: case["case"])
async def test_another_proxy_is_asked_for_nothing_that_a_connection_could_not_go_to(
    attempt: Attempt, case: dict[str, Any]
) -> None:
    for peer, answers in product(case["peers"], case["lookups"]):
        reached = await attempt(case["port"], *answers, peer=peer, permitted=case["permitted"], asked=True)
        assert reached.error == case.get("error")


@pytest.mark.parametrize(
    ("listed", "port", "address", "error"),
    [
        ("name.test:443", 443, "10.0.0.5", None),
        ("other.test", 443, "10.0.0.5", "private_destination"),
        ("*.test", 443, "10.0.0.5", "private_destination"),
        ("name.test", 443, "127.0.0.1", "private_destination"),
        ("name.test", 8081, "127.0.0.1", "own_listener"),
    ],
)
async def test_a_contained_program_reaches_private_hosts_that_are_listed(
    attempt: Attempt, listed: str, port: int, address: str, error: str | None
) -> None:
    reached = await attempt(port, [address], peer=CONTAINED_ADDRESS, permitted=[], listed=listed)
    assert (reached.error, reached.address) == (error, (address if error is None else "name.test", port))
    # It is no list for clients on other machines.
    reached = await attempt(port, [address], peer=FAR, permitted=[], listed=listed)
    assert reached.error == (error or "private_destination")


async def test_a_name_that_only_the_other_proxy_resolves_is_asked_for(attempt: Attempt) -> None:
    reached = await attempt(443, socket.gaierror(), peer=FAR, permitted=[], asked=True)
    assert reached.error is None


async def test_a_check_that_fails_leaves_the_error(attempt: Attempt) -> None:
    with pytest.raises(RuntimeError):
        await attempt(443, RuntimeError("lookup failed"), peer=FAR, permitted=[], asked=True)


async def test_the_outbound_proxy_may_have_a_private_address() -> None:
    data = server("127.0.0.1", 3128)
    data.client.peername = (FAR, 50_000)
    own = destinations(None)
    with taddons.context(proxyserver.Proxyserver()):
        await own.server_connect(data)
        assert data.server.error == "private_destination"
        OutboundTunnel(Context(data.client, Options()), data.server, send_connect=True)
        await own.server_connect(data)
        assert data.server.error is None


async def test_a_listener_of_a_mode_counts() -> None:
    servers = [SimpleNamespace(mode=SimpleNamespace(transport_protocol="tcp"), listen_addrs=(("0.0.0.0", 1080),))]
    own = destinations(None)
    data = server("127.0.0.9", 1080)
    with taddons.context(proxyserver.Proxyserver()) as context:
        cast(Any, context.master.addons.get("proxyserver")).servers = servers
        await own.server_connect(data)
    assert data.server.error == "own_listener"


async def test_a_public_address_of_this_machine_is_private_to_others(
    monkeypatch: pytest.MonkeyPatch, attempt: Attempt
) -> None:
    monkeypatch.setattr("addons.connection_addresses.is_own_address", lambda address: str(address) == "8.8.8.8")
    reached = [await attempt(443, [address], peer=FAR, permitted=[]) for address in ("8.8.8.8", "8.8.4.4")]
    assert [each.error for each in reached] == ["private_destination", None]


@pytest.mark.parametrize("error", [OSError(), TimeoutError(), UnicodeError("label too long"), ValueError("null")])
async def test_a_name_that_does_not_resolve_is_not_looked_up_again(attempt: Attempt, error: Exception) -> None:
    assert (await attempt(443, error, peer=FAR, permitted=[])).address == ("unresolved.invalid", 443)
    # mitmproxy logs what a hook raises, and connects unless there is an error.
    assert (await attempt(443, RuntimeError(), peer=FAR, permitted=[])).error


async def test_the_gateways_upstreams_are_the_operators_choice() -> None:
    data = server("10.0.0.5", 443)
    data.client.peername = (FAR, 50_000)
    data.client.proxy_mode = ProxyMode.parse("reverse:http://gateway.invalid:1")
    with taddons.context(proxyserver.Proxyserver()):
        await destinations(None).server_connect(data)
    assert (data.server.error, data.server.address) == (None, ("10.0.0.5", 443))


@pytest.mark.parametrize("hook", ["http_connect", "requestheaders"])
async def test_another_proxy_is_not_asked_for_a_private_address(hook: str) -> None:
    """It may be private itself."""
    flow = tflow.tflow(req=tutils.treq(host="10.0.0.5", port=443))
    flow.client_conn.peername = (FAR, 50_000)
    flow.client_conn.proxy_mode = ProxyMode.parse("upstream:http://10.0.0.1:3128")
    addon = destinations(None)
    data = ServerConnectionHookData(connection.Server(address=("10.0.0.1", 3128)), flow.client_conn)
    with taddons.context(proxyserver.Proxyserver()):
        with pytest.raises(exceptions.AddonHalt):
            await getattr(addon, hook)(flow)
        await addon.server_connect(data)
    assert flow.response is not None
    assert flow.response.status_code == 403
    assert data.server.error is None


@pytest.mark.parametrize(("peer", "here"), CASES["on_this_machine"])
def test_a_client_is_on_this_machine(peer: str | None, here: bool) -> None:
    assert is_on_this_machine(None if peer is None else (peer, 1)) is here


def test_an_address_of_this_machine_is_on_this_machine() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 1))
        except OSError:
            pytest.skip("this machine has no address but loopback")
        assert is_on_this_machine(probe.getsockname())
