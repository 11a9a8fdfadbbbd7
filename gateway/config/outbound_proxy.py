"""The proxies through which upstreams are reached, and the hosts that are reached directly.

`no_proxy` follows the rules of curl and Go: `example.com` is that name and all below it, `.example.com` only those
below, and an address or network is compared with addresses alone, since no name is resolved for it. `localhost` and
loopback addresses are never asked of another machine.
"""

import os
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from gateway.config.host_patterns import check_host_name
from gateway.config.listener_addresses import in_url, is_loopback, listener_url
from gateway.config.private_destinations import PermittedDestinations, address_of, check_destination, network_of
from gateway.config.secret_references import resolve

ENVIRONMENT = "environment"
_DIRECT = frozenset({"", "direct"})
_PORTS = {"http": 80, "https": 443}
_USAGE = "write the proxy as http://host:port or https://host:port"

type HostPort = tuple[str, int]


@dataclass(frozen=True, slots=True)
class OutboundProxy:
    """A proxy that opens tunnels with CONNECT. `credentials` are `user:password`."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    credentials: SecretStr | None = field(default=None, repr=False)

    @property
    def address(self) -> HostPort:
        return self.host, self.port

    @property
    def url(self) -> str:
        """Its URL without credentials."""
        return listener_url(self.host, self.port, tls=self.scheme == "https")

    @property
    def authorization(self) -> bytes | None:
        """The value of `Proxy-Authorization` (RFC 7617)."""
        if self.credentials is None:
            return None
        return b"Basic " + b64encode(self.credentials.get_secret_value().encode())


class OutboundProxies:
    """Finds the proxy for a host. `of_upstream` has the upstreams with a setting of their own, None for direct."""

    def __init__(
        self,
        default: OutboundProxy | None = None,
        of_upstream: Mapping[str, OutboundProxy | None] | None = None,
        no_proxy: Iterable[str] = (),
    ) -> None:
        self._default = default
        self._of_upstream = dict(of_upstream or {})
        entries = list(no_proxy)
        self._none = "*" in entries
        self._direct = PermittedDestinations(name for entry in entries if entry != "*" for name in _destinations(entry))
        self._at = {each.address: each for each in (default, *self._of_upstream.values()) if each is not None}

    def __iter__(self) -> Iterator[OutboundProxy]:
        return iter(self._at.values())

    def at(self, address: HostPort) -> OutboundProxy | None:
        """Returns the proxy that listens at an address."""
        return self._at.get(address)

    def route(self, host: str, port: int, upstream: str = "") -> OutboundProxy | None:
        """Returns the proxy through which a host is reached, None if directly.

        `upstream` is the name of the upstream, if the host is that of a configured one.
        """
        found = self._of_upstream.get(upstream, self._default)
        if found is None or self._none or is_loopback(host.removesuffix(".")):
            return None
        # A pooled connection to the proxy itself cannot be told from one that is opened directly to its address.
        is_proxy = (host, port) in self._at
        return None if not is_proxy and self._direct.has(host, port, address_of(host.strip("[]"))) else found


def check_proxy(value: str) -> str:
    """Checks the URL of a proxy, `environment`, or `direct`. Raises ValueError, which does not repeat it."""
    if value not in _DIRECT and value != ENVIRONMENT:
        _proxy(value)
    return value


def check_no_proxy(entry: str) -> str:
    """Normalizes an entry of `no_proxy`. Raises ValueError, which does not repeat it."""
    text = entry.strip().lower()
    if text == "*":
        return text
    dot = "." if text.startswith((".", "*.")) else ""
    bare = check_destination(text.removeprefix("*").removeprefix("."))
    if "*" in bare:
        raise ValueError("write a name, .suffix, an address or a network; `*` alone is every host")
    return dot + bare


def check_credentials(value: str) -> str:
    """Checks `user:password`. Raises ValueError, which does not repeat it."""
    user, colon, _ = value.partition(":")
    if not user or not colon or not value.isprintable():
        raise ValueError("write them as user:password, in printable characters")
    return value


def outbound_proxies(
    proxy: str | None,
    credentials: SecretStr | None,
    no_proxy: Iterable[str],
    of_upstream: Mapping[str, tuple[str | None, str | None]],
) -> OutboundProxies:
    """Builds the proxies of the settings; `of_upstream` has the URL and the reference to the credentials of each.

    Raises ValueError with the name of the setting.
    """
    entries = list(no_proxy)
    default = _named(proxy or "")
    if proxy == ENVIRONMENT:
        entries += _no_proxy_of_environment()
    if credentials is not None:
        if default is None and proxy != ENVIRONMENT:
            raise ValueError("upstream_proxy_credentials: set `upstream_proxy` to the URL of the proxy they are for")
        default = default and replace(default, credentials=credentials)
    for name, (url, reference) in of_upstream.items():
        if reference is not None and (url or "") in {*_DIRECT, ENVIRONMENT}:
            raise ValueError(f"upstreams.{name}.proxy_credentials: set `proxy` to the URL of the proxy they are for")
    own = {
        name: _own(name, url, reference, default) for name, (url, reference) in of_upstream.items() if url is not None
    }
    known = {default.address: default} if default is not None else {}
    for name, each in own.items():
        if each is not None and known.setdefault(each.address, each) != each:
            raise ValueError(f"upstreams.{name}.proxy: another setting has this proxy with other credentials or scheme")
    return OutboundProxies(default, own, entries)


def _own(name: str, url: str, reference: str | None, default: OutboundProxy | None) -> OutboundProxy | None:
    found = _named(url)
    if found is None or url == ENVIRONMENT:
        return found
    if reference is None:
        return default if default is not None and replace(default, credentials=None) == found else found
    try:
        return replace(found, credentials=SecretStr(check_credentials(str(resolve(reference)))))
    except ValueError as error:
        raise ValueError(f"upstreams.{name}.proxy_credentials: {error}") from None


def _named(value: str) -> OutboundProxy | None:
    """Returns the proxy that a setting names."""
    if value == ENVIRONMENT:
        return _of_environment()
    return None if value in _DIRECT else _proxy(value)


def _destinations(entry: str) -> tuple[str, ...]:
    """Returns an entry in the form of `PermittedDestinations`."""
    bare = entry.removeprefix(".")
    if bare != entry:
        return (f"*.{bare}",)
    return (bare,) if network_of(bare) is not None else (bare, f"*.{bare}")


def _proxy(url: str, *, may_have_credentials: bool = False) -> OutboundProxy:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        usable = parts.scheme in _PORTS and port != 0 and not parts.query and not parts.fragment
        usable = usable and parts.path in ("", "/")
        check_host_name(in_url(host))
    except ValueError:
        # The messages of the libraries quote the URL.
        raise ValueError(_USAGE) from None
    if not usable:
        raise ValueError(_USAGE)
    credentials = None
    if parts.username is not None or parts.password is not None:
        if not may_have_credentials:
            raise ValueError(
                "remove the credentials from the URL, and set `upstream_proxy_credentials` (`proxy_credentials` of an"
                " upstream) to `file:PATH` or `env:NAME`, where user:password is"
            )
        given = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        credentials = SecretStr(check_credentials(given))
    scheme = cast(Literal["http", "https"], parts.scheme)
    return OutboundProxy(scheme, host, port or _PORTS[scheme], credentials)


def _variable(name: str) -> str:
    return (os.environ.get(name.lower()) or os.environ.get(name) or "").strip()


def _of_environment() -> OutboundProxy | None:
    """Returns the proxy of `HTTPS_PROXY`, which may have credentials and lack a scheme, as other programs permit."""
    url = _variable("HTTPS_PROXY")
    if not url:
        return None
    try:
        return _proxy(url if "://" in url else f"http://{url}", may_have_credentials=True)
    except ValueError as error:
        raise ValueError(f"HTTPS_PROXY (`upstream_proxy` is `environment`): {error}") from None


def _no_proxy_of_environment() -> list[str]:
    entries = [entry for entry in _variable("NO_PROXY").split(",") if entry.strip()]
    found: list[str] = []
    for number, entry in enumerate(entries, 1):
        try:
            found.append(check_no_proxy(entry))
        except ValueError as error:
            raise ValueError(f"NO_PROXY, entry {number} (`upstream_proxy` is `environment`): {error}") from None
    return found
