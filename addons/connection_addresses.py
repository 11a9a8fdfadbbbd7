"""Decides which addresses a connection may go to: resolves the host, checks its addresses and pins one of them.

No client reaches the gateway's own listeners, whatever name or spelling it uses: otherwise one small request for the
proxy's own address would make it connect to itself in a loop, and mitmweb or the gateway would take a remote client for
a local one. Proxy clients on other machines, and contained programs, reach private addresses only where the settings
permit it: otherwise they would have the gateway's machine and network at their disposal.
"""

import asyncio
import socket
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address

from mitmproxy import connection, ctx, http
from mitmproxy.flow import Error
from mitmproxy.proxy.mode_specs import ReverseMode, UpstreamMode
from mitmproxy.proxy.server_hooks import ServerConnectionHookData

from addons.contained_programs import is_contained
from addons.fail_closed import end_connection, fail_closed
from addons.logs import RareWarning
from addons.patches.outbound_tunnel import is_to_proxy
from addons.request_log import RequestLog
from gateway.config.private_destinations import (
    Address,
    ContainedDestinations,
    PermittedDestinations,
    address_of,
    is_private,
)
from gateway.errors import GatewayError
from gateway.http import types
from gateway.http.upstream_failures import Fault

_LOOKUP_SECONDS = 5.0
_UNCHECKED = "not checked"
# Stands for a host that does not resolve. It must not be looked up again: mitmproxy could get an address that was not
# checked.
_UNRESOLVED = "unresolved.invalid"

type HostPort = tuple[str, int]


class ConnectionAddresses:
    """The addon. `others` are the listeners besides those that mitmproxy reports, `contained` the `contained_hosts`."""

    def __init__(
        self,
        others: Sequence[HostPort],
        permitted: PermittedDestinations,
        log: RequestLog,
        contained: Iterable[str] = (),
    ) -> None:
        self._others = others
        self._log = log
        self.use(permitted, contained)
        self._asked: dict[str, HostPort] = {}
        self._refused = RareWarning(
            "refused connections of other machines to destinations outside `proxy_private_destinations`: %d"
        )

    def use(self, permitted: PermittedDestinations, contained: Iterable[str]) -> None:
        """Replaces what the settings permit."""
        self.permitted = permitted
        self._contained = ContainedDestinations(contained, is_own_address)

    def done(self) -> None:
        self._refused.flush(at_once=True)

    @fail_closed
    async def http_connect(self, flow: http.HTTPFlow) -> None:
        """Refuses a tunnel before the client gets its 200. `server_connect` checks the address again."""
        await self._check(flow)

    @fail_closed
    async def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Checks what another proxy would be asked for: `server_connect` sees the address of that proxy alone."""
        if isinstance(flow.client_conn.proxy_mode, UpstreamMode) and flow.error is None:
            await self._check(flow)

    async def _check(self, flow: http.HTTPFlow) -> None:
        client, request = flow.client_conn, flow.request
        found = await self._checked(request.host, request.port, "tcp", client)
        if isinstance(found, Fault):
            raise found.error()

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        """Ends the connection of a refused tunnel; called by `fail_closed`."""
        end_connection(flow, error, self._log)

    async def http_connect_upstream(self, flow: http.HTTPFlow) -> None:
        """Checks what another proxy is about to be asked for, which `outbound_tunnel` sends once there is no error."""
        host, port = flow.request.host, flow.request.port
        found = await self._checked(host, port, "tcp", flow.client_conn)
        flow.error = Error(found.kind) if isinstance(found, Fault) else None

    async def server_connect(self, data: ServerConnectionHookData) -> None:
        server, mode = data.server, data.client.proxy_mode
        if server.address is None:
            return
        host, port = server.address[0], server.address[1]
        # mitmproxy connects after a hook that failed, unless there is an error.
        server.error = _UNCHECKED
        is_other_proxy = is_to_proxy(server) or (isinstance(mode, UpstreamMode) and (host, port) == mode.address)
        client = None if is_other_proxy else data.client
        found = await self._checked(host, port, server.transport_protocol, client)
        if isinstance(found, Fault):
            server.error = found.kind
            return
        if found is not None:
            # Connect to an address that was checked: a second lookup could return another one (DNS rebinding).
            pinned = await _first_answering(found, port) if server.transport_protocol == "tcp" else found[0]
            if pinned != host:
                self._asked[server.id] = (host, port)
                server.address = (pinned, port)
        server.error = None

    def server_connected(self, data: ServerConnectionHookData) -> None:
        asked = self._asked.pop(data.server.id, None)
        if asked is not None:
            # mitmproxy forbids this on an open connection, since it would have no effect on where that leads.
            vars(data.server)["address"] = asked

    server_connect_error = server_connected

    async def _checked(
        self, host: str, port: int, protocol: str, client: connection.Client | None
    ) -> Sequence[str] | Fault | None:
        """Returns the addresses to connect to, or why they are refused; None if the host needs no check."""
        is_remote = client is not None and _is_remote(client)
        ours = [address for address, known in self._listeners(protocol) if known == port]
        if not ours and not is_remote:
            return None
        try:
            # mitmproxy does not notice when a connection attempt is cancelled here, so it has to end by itself.
            async with asyncio.timeout(_LOOKUP_SECONDS):
                found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, ValueError):
            # A name that is too long or has an empty label raises UnicodeError.
            return [_UNRESOLVED]
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        if any(leads_to(address, ours) for address in addresses):
            return Fault.OWN_LISTENER
        contained = client is not None and is_contained(client)
        if is_remote and not all(self._is_open(host, port, address, contained=contained) for address in addresses):
            self._refused.count()
            return Fault.PRIVATE
        return addresses

    def _is_open(self, host: str, port: int, text: str, *, contained: bool) -> bool:
        """Returns whether clients on other machines, or contained programs, may connect to an address."""
        address = address_of(text)
        if address is None:
            return False
        closed = is_private(address) or is_own_address(address)
        listed = contained and self._contained.has(host, port, address)
        return not closed or listed or self.permitted.has(host, port, address)

    def _listeners(self, protocol: str) -> Iterable[HostPort]:
        for server in ctx.master.addons.get("proxyserver").servers:
            if server.mode.transport_protocol in (protocol, "both"):
                yield from ((address[0], address[1]) for address in server.listen_addrs)
        if protocol == "tcp":
            yield from self._others


def leads_to(address: str, listeners: Iterable[str]) -> bool:
    """Returns whether a connection to `address` can reach one of the listeners, given that they share its port."""
    wanted, bound = _connected(address), [address_of(listener) for listener in listeners]
    # One without an address, or with the unspecified one, listens on a host name or on all addresses of this machine.
    return wanted is not None and any(
        is_own_address(wanted) if each is None or each.is_unspecified else each == wanted for each in bound
    )


def is_own_address(address: Address) -> bool:
    """Returns whether the address may belong to this machine: only then can a socket be bound to it."""
    if address.is_loopback or address.is_unspecified:
        return True
    try:
        with socket.socket(_family(address), socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True


def is_on_this_machine(peer: types.Address) -> bool:
    """Returns whether a connection certainly comes from this machine.

    Some systems can bind to any address (`ip_nonlocal_bind`), but only a connection to an address of this machine
    starts at the same address. Connecting a datagram socket sends nothing.
    """
    address = address_of(peer[0]) if peer else None
    if address is None or address.is_loopback:
        return address is not None
    try:
        with socket.socket(_family(address), socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 1))
            return address_of(probe.getsockname()[0]) == address
    except OSError:
        return False


def _is_remote(client: connection.Client) -> bool:
    """Returns whether a connection is that of a proxy client on another machine, or contained as if it were on one.

    The gateway's listener connects to upstreams, which are the operator's choice.
    """
    if isinstance(client.proxy_mode, ReverseMode):
        return False
    return is_contained(client) or not is_on_this_machine(client.peername)


def _family(address: Address) -> socket.AddressFamily:
    return socket.AF_INET6 if address.version == 6 else socket.AF_INET


def _connected(text: str) -> Address | None:
    """Returns the address that the system connects to; None for a host name. The unspecified one leads to loopback."""
    address = address_of(text)
    if address is not None and address.is_unspecified:
        return IPv4Address("127.0.0.1") if address.version == 4 else IPv6Address("::1")
    return address


async def _first_answering(addresses: Sequence[str], port: int) -> str:
    """Returns the first address that accepts a connection, as connecting by name would; the first one if none does."""
    for address in addresses if len(addresses) > 1 else ():
        try:
            async with asyncio.timeout(_LOOKUP_SECONDS):
                _, writer = await asyncio.open_connection(address, port)
        except OSError:
            continue
        writer.close()
        return address
    return addresses[0]
