"""Refuses connections to the gateway's own listeners, whatever name or spelling a client uses for them.

Otherwise one small request for the proxy's own address would make it connect to itself in a loop, and mitmweb or the
gateway would take a remote client for a local one.
"""

import asyncio
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

from mitmproxy import ctx, http
from mitmproxy.proxy.server_hooks import ServerConnectionHookData

from addons.fail_closed import answer_with
from addons.mitm_errors import OWN_LISTENER
from gateway.http.upstream_failures import Fault
from gateway.ids import new_request_id

_LOOKUP_SECONDS = 5.0

type HostPort = tuple[str, int]
type _Address = IPv4Address | IPv6Address


class OwnListeners:
    """The addon. `web` is the host and port of mitmweb; mitmproxy reports its own listeners."""

    def __init__(self, web: HostPort | None) -> None:
        self._web = web
        self._asked: dict[str, HostPort] = {}

    async def http_connect(self, flow: http.HTTPFlow) -> None:
        """Refuses a tunnel before the client gets its 200. `server_connect` checks the address again."""
        if await self._checked(flow.request.host, flow.request.port, "tcp") is None:
            flow.response = answer_with(Fault.OWN_LISTENER.error(), new_request_id(), "CONNECT")
            flow.response.headers["connection"] = "close"

    async def server_connect(self, data: ServerConnectionHookData) -> None:
        server = data.server
        if server.address is None:
            return
        host, port = server.address[0], server.address[1]
        checked = await self._checked(host, port, server.transport_protocol)
        if checked is None:
            server.error = OWN_LISTENER
        elif checked != host:
            # Connect to the address that was checked: a second lookup could return another one (DNS rebinding).
            self._asked[server.id] = (host, port)
            server.address = (checked, port)

    def server_connected(self, data: ServerConnectionHookData) -> None:
        asked = self._asked.pop(data.server.id, None)
        if asked is not None:
            data.server.address = asked

    server_connect_error = server_connected

    async def _checked(self, host: str, port: int, protocol: str) -> str | None:
        """Returns the host, or one of its addresses to connect to; None if one of them is a listener of ours."""
        ours = [address for address, known in self._listeners(protocol) if known == port]
        if not ours:
            return host
        try:
            # mitmproxy does not notice when a connection attempt is cancelled here, so it has to end by itself.
            async with asyncio.timeout(_LOOKUP_SECONDS):
                found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            # Must not be looked up again: mitmproxy could get an address that was not checked.
            return "unresolved.invalid"
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        if any(leads_to(address, ours) for address in addresses):
            return None
        return addresses[0] if len(addresses) == 1 else await _first_answering(addresses, port)

    def _listeners(self, protocol: str) -> Iterable[HostPort]:
        for server in ctx.master.addons.get("proxyserver").servers:
            if server.mode.transport_protocol in (protocol, "both"):
                yield from ((address[0], address[1]) for address in server.listen_addrs)
        if self._web is not None and protocol == "tcp":
            yield self._web


def leads_to(address: str, listeners: Iterable[str]) -> bool:
    """Returns whether a connection to `address` can reach one of the listeners, given that they share its port."""
    wanted = _normal(address)
    if wanted is None:
        return False
    for listener in listeners:
        bound = _normal(listener, wildcard=True)
        if bound is None or bound.is_unspecified:
            # It listens on all addresses of this machine, or on a host name.
            if is_own_address(wanted):
                return True
        elif bound == wanted:
            return True
    return False


def is_own_address(address: _Address) -> bool:
    """Returns whether the address belongs to this machine: only then can a socket be bound to it."""
    if address.is_loopback or address.is_unspecified:
        return True
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


def _normal(address: str, *, wildcard: bool = False) -> _Address | None:
    """Returns the address that the system would connect to; None for a host name.

    `wildcard` keeps the unspecified address.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return None
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    if found.is_unspecified and not wildcard:
        # Connecting to it reaches the loopback address.
        return IPv4Address("127.0.0.1") if found.version == 4 else IPv6Address("::1")
    return found


async def _first_answering(addresses: list[str], port: int) -> str:
    """Returns the first address that accepts a connection, as connecting by name would; the first one if none does."""
    for address in addresses:
        try:
            async with asyncio.timeout(_LOOKUP_SECONDS):
                _, writer = await asyncio.open_connection(address, port)
        except OSError:
            continue
        writer.close()
        return address
    return addresses[0]
