"""Checks for `doctor` that each upstream can be connected to, through the outbound proxy where it has one.

Nothing is sent to an upstream but the start of TLS; a proxy is asked to connect, or for plain HTTP to forward `HEAD /`.
"""

import asyncio
import ssl
from pathlib import Path
from time import monotonic

import certifi

from gateway.config.listener_addresses import in_url
from gateway.config.outbound_proxy import OutboundProxy
from gateway.config.upstreams import UpstreamSettings, host_and_port
from gateway.http.upstream_failures import Fault, of_exception, of_proxy, of_proxy_status

_SECONDS = 5
_OF_PROXY = (407, 502, 503, 504)
_REACH = "check its base_url, whether it is running, and the firewall"
_REMEDIES = {
    Fault.UNRESOLVED: "check the host in its base_url, and this machine's DNS",
    Fault.UNTRUSTED: "name the authority's file in upstream_ca or ca_file",
    Fault.OTHER_NAME: "check the host in its base_url; it must be the name in the certificate",
    Fault.EXPIRED: "check this machine's clock, then the upstream's certificate",
    Fault.NO_TLS: "check that its base_url names a port that speaks TLS, or write http://",
    Fault.PROXY_UNREACHABLE: "check host and port of upstream_proxy (`proxy` of the upstream), and the firewall",
    Fault.PROXY_TLS: "name the file of the proxy's authority in upstream_ca, or write http:// in upstream_proxy",
    Fault.PROXY_CREDENTIALS: "check the user:password that upstream_proxy_credentials (proxy_credentials) leads to",
    Fault.PROXY_DENIED: "have the proxy permit CONNECT to this host and port, or list the host in no_proxy",
    Fault.PROXY_FAILED: "check the host in its base_url, and whether the proxy may connect to it",
}


def reach_upstream(upstream: UpstreamSettings, proxy: OutboundProxy | None) -> tuple[str, str]:
    """Connects to an upstream. Returns what was found, and what to do about it if that is a problem."""
    host, port = host_and_port(upstream.base_url)
    context = _trusted(upstream.ca_file) if upstream.base_url.startswith("https:") else None
    started = monotonic()
    fault = asyncio.run(_reach((host, port), context, proxy, upstream.ca_file))
    if fault is not None:
        return f"{host}:{port} {fault.value[1]}", _REMEDIES.get(fault, _REACH)
    through = f" through {proxy.url}" if proxy is not None else ""
    return f"{host}:{port} reached{through} in {round((monotonic() - started) * 1000)} ms", ""


def reach_proxy(proxy: OutboundProxy, ca_file: Path | None) -> tuple[str, str]:
    """Connects to a proxy, with TLS where it uses TLS, and asks it for nothing. Returns the same."""
    started = monotonic()
    fault = asyncio.run(_reach(None, None, proxy, ca_file))
    if fault is not None:
        reason = fault.value[1].removeprefix("cannot be reached: ")
        return f"{proxy.url}: {reason}", _REMEDIES.get(fault, _REMEDIES[Fault.PROXY_UNREACHABLE])
    return f"{proxy.url} reached in {round((monotonic() - started) * 1000)} ms", ""


async def _reach(
    place: tuple[str, int] | None, context: ssl.SSLContext | None, proxy: OutboundProxy | None, ca_file: Path | None
) -> Fault | None:
    """Connects to a place, or to the proxy alone. Returns why that failed."""
    first = proxy.address if proxy is not None else place
    assert first is not None
    outer = context if proxy is None else _trusted(ca_file) if proxy.scheme == "https" else None
    try:
        async with asyncio.timeout(_SECONDS):
            try:
                reader, writer = await asyncio.open_connection(*first, ssl=outer, all_errors=True)
            except (OSError, ExceptionGroup) as error:
                fault = Fault.TIMED_OUT if isinstance(error, TimeoutError) else of_exception(error) or Fault.UNKNOWN
                return fault if proxy is None else of_proxy(fault)
            try:
                return None if proxy is None or place is None else await _through(reader, writer, proxy, place, context)
            finally:
                # A TLS connection would not be closed before the loop ends.
                writer.transport.abort()
    except TimeoutError:
        return Fault.TIMED_OUT if place is not None else Fault.PROXY_UNREACHABLE
    except OSError as error:
        return of_exception(error) or Fault.UNKNOWN


async def _through(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    proxy: OutboundProxy,
    place: tuple[str, int],
    context: ssl.SSLContext | None,
) -> Fault | None:
    """Has the proxy connect to a place, and begins TLS there. Without TLS, it forwards a request."""
    host, port = place
    name = f"{in_url(host)}:{port}"
    fields = b"" if proxy.authorization is None else b"Proxy-Authorization: " + proxy.authorization + b"\r\n"
    asked = f"HEAD http://{name}/" if context is None else f"CONNECT {name}"
    writer.write(f"{asked} HTTP/1.1\r\nHost: {name}\r\n".encode() + fields + b"\r\n")
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        # All other answers to a request may be the upstream's.
        fault = of_proxy_status(status) if context is not None or status in _OF_PROXY else None
    except (EOFError, asyncio.LimitOverrunError, ValueError, IndexError):
        return Fault.PROXY_FAILED
    if fault is None and context is not None:
        await writer.start_tls(context, server_hostname=host)
    return fault


def _trusted(ca_file: Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=certifi.where())
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    return context
