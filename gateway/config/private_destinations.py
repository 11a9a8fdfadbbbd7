"""Tells addresses that anyone on the internet may reach from private ones, and which of these the settings permit.

A permitted destination is `host`, `host:port`, an IP address or a network (`10.0.0.0/8`), both also with a port. With a
port, IPv6 is written in brackets: `[fd00::/8]:443`.
"""

import re
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from gateway.config.host_patterns import HostMatcher, check_host_pattern, host_regexes

type Address = IPv4Address | IPv6Address
type _Network = IPv4Network | IPv6Network

_PLACE = re.compile(r"(?:\[(?P<bracketed>[0-9a-f:./]+)\]|(?P<plain>[^\[\]]+?))(?::(?P<port>\d{1,5}))?\Z", re.IGNORECASE)
_PREFIX = re.compile(r"/\d{1,3}\Z")
# Global unicast addresses (RFC 4291). All others are local or lead to no host.
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# Networks that translate to the IPv4 address in the last 32 bits: NAT64 (RFC 6052) and SIIT (RFC 7915).
_TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("::ffff:0:0:0/96"))

# Private networks of sites (RFC 1918, RFC 4193), and addresses there at which Amazon and Google hand out credentials.
_SITES = tuple(map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")))
_CREDENTIALS = tuple(map(IPv6Address, ("fd00:ec2::254", "fd20:ce::254")))


def address_of(text: str) -> Address | None:
    """Returns the address that the system connects to, without zone, and IPv4 for a mapped one; None for a name."""
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found


def is_private(address: Address) -> bool:
    """Tells whether an address is not global: of this machine, a private network or a special purpose, or multicast."""
    if isinstance(address, IPv4Address):
        return not address.is_global or address.is_multicast
    inner = _translated(address)
    if inner is not None:
        return is_private(inner)
    # Relays of 6to4 are deprecated (RFC 7526), and lead to the IPv4 address that it contains.
    return address not in _GLOBAL_UNICAST or not address.is_global or address.sixtofour is not None


def check_destination(destination: str) -> str:
    """Normalizes a permitted destination. Raises ValueError with a message that does not repeat it."""
    text = destination.strip().lower()
    found = network_of(text)
    if found is None:
        if _PREFIX.search(text.partition("]")[0]):
            raise ValueError("write a network as its first address with its prefix, such as 10.0.0.0/8 or fd00::/8")
        return check_host_pattern(text)
    network, port = found
    if port is not None and not 1 <= port <= 65535:
        raise ValueError("a port must be between 1 and 65535")
    if port is None:
        return str(network)
    return f"[{network}]:{port}" if network.version == 6 else f"{network}:{port}"


class PermittedDestinations:
    """The private destinations that clients on other machines may reach, as `check_destination` returns them."""

    def __init__(self, destinations: Iterable[str]) -> None:
        names: list[str] = []
        self._networks: list[tuple[_Network, int | None]] = []
        for each in destinations:
            network = network_of(each)
            if network is None:
                names.append(each)
            else:
                self._networks.append(network)
        self._names = HostMatcher(host_regexes(names))

    def has(self, host: str, port: int, address: Address | None) -> bool:
        """Tells whether `address`, to which a client's `host` leads, is permitted by that name or itself."""
        reached = _translated(address) or address
        return self._names(host, port) or any(
            reached is not None and reached in network for network, known in self._networks if known in (None, port)
        )


class ContainedDestinations:
    """The private destinations that contained programs may reach: hosts that are listed without a wildcard.

    A listed address is that address, and `localhost` this machine. Another name leads to private networks alone, since
    the owner of its zone chooses where: neither to an address of this machine, which `is_own` tells, nor to link-local
    ones and others at which clouds hand out credentials.
    """

    def __init__(self, patterns: Iterable[str], is_own: Callable[[Address], bool]) -> None:
        self._hosts = HostMatcher(host_regexes(pattern for pattern in patterns if "*" not in pattern))
        self._is_own = is_own

    def has(self, host: str, port: int, address: Address) -> bool:
        """Tells whether `address`, to which a contained program's `host` leads, is permitted."""
        name = host.rstrip(".").lower()
        if not self._hosts(host, port):
            return False
        if address_of(name.strip("[]")) is not None:
            return True
        if name == "localhost":
            return address.is_loopback
        reached = _translated(address) or address
        is_within = any(reached in network for network in _SITES) and reached not in _CREDENTIALS
        return is_within and not self._is_own(reached)


def _translated(address: Address | None) -> IPv4Address | None:
    """Returns the IPv4 address that an IPv6 address is translated to, if it is one of those."""
    if isinstance(address, IPv6Address) and any(address in network for network in _TRANSLATED):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def network_of(text: str) -> tuple[_Network, int | None] | None:
    """Returns the network, of one address or more, and the port of a destination; None if it is a name."""
    try:
        return ip_network(text), None
    except ValueError:
        found = _PLACE.match(text)
    if found is None:
        return None
    try:
        network = ip_network(found["bracketed"] or found["plain"])
    except ValueError:
        return None
    return network, int(found["port"]) if found["port"] else None
