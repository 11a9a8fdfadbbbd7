"""Checks the URL of a PostgreSQL database. No message repeats it."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import SecretStr

VERIFIED = "verify-full"
_SCHEMES = {"postgresql", "postgres"}
_SECRETS = {"password", "sslpassword"}
# Each says where the server is or how it is trusted; others could weaken the connection.
_PARAMETERS = {
    *("application_name", "channel_binding", "connect_timeout", "host", "passfile", "port", "sslcert", "sslcrl"),
    *("sslkey", "sslmode", "sslrootcert", "ssl_min_protocol_version", "target_session_attrs", "user"),
}


class Database(NamedTuple):
    """Where the PostgreSQL database is, and the password, unless libpq finds it in a file of its own."""

    url: str
    password: SecretStr | None = None


class DatabaseParts(NamedTuple):
    """The parts of a URL. `hosts` are names, addresses, or folders of sockets."""

    user: str
    hosts: tuple[str, ...]
    ports: tuple[str, ...]
    name: str
    parameters: Mapping[str, str]

    @property
    def is_local(self) -> bool:
        """Whether no host is another machine."""
        return all(map(_is_local, self.hosts))


def check_database(url: str) -> str:
    """Returns the URL. Raises ValueError."""
    parse_database(url)
    return url


def parse_database(url: str) -> DatabaseParts:
    """Takes a URL apart. Raises ValueError, whose message does not repeat it."""
    scheme, netloc, path, query, fragment = urlsplit(url)
    name = unquote(path.removeprefix("/"))
    if scheme not in _SCHEMES or not name or "/" in name or fragment:
        raise ValueError("write the database as postgresql://host/name")
    user, _, places = netloc.rpartition("@")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise ValueError("the parameters after the question mark cannot be read") from None
    parameters = dict(pairs)
    if ":" in user or _SECRETS & parameters.keys():
        raise ValueError(
            "the URL must not contain a password; set `database_password`, or write it to a file of libpq (`~/.pgpass`)"
        )
    if len(parameters) < len(pairs) or parameters.keys() - _PARAMETERS:
        raise ValueError(f"the only parameters are {', '.join(sorted(_PARAMETERS))}, each at most once")
    hosts, ports = _hosts(places)
    if "host" in parameters:
        if places:
            raise ValueError("name the host once")
        hosts, ports = tuple(parameters.pop("host").split(",")), tuple(parameters.pop("port", "").split(","))
    elif "port" in parameters:
        raise ValueError("write the port after the host")
    if not all(hosts):
        raise ValueError("name the host, or the folder of the socket as ?host=/var/run/postgresql")
    user = unquote(user) or parameters.pop("user", "")
    parts = DatabaseParts(user, hosts, ports, name, parameters)
    if not parts.is_local and parameters.get("sslmode", VERIFIED) != VERIFIED:
        raise ValueError(
            f"a server on another machine needs TLS with a verified name: leave out sslmode, or {VERIFIED}"
        )
    return parts


def _hosts(places: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    hosts, ports = [], []
    for place in places.split(","):
        if place.startswith("["):
            host, _, rest = place[1:].partition("]")
            port = rest.removeprefix(":")
        else:
            host, _, port = place.partition(":")
        if port and not (port.isascii() and port.isdecimal()):
            raise ValueError("a port is a number")
        hosts.append(unquote(host))
        ports.append(port)
    return tuple(hosts), tuple(ports)


def _is_local(host: str) -> bool:
    if host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
