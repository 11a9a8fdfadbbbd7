"""Finds the host that a connection is for in its first bytes, as mitmproxy's `NextLayer` does.

Upstream would have to pass what it found to the `next_layer` hook, and to search for `Host` in linear time.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from mitmproxy.addons.next_layer import NeedsMoreData, NextLayer
from mitmproxy.proxy import layer
from mitmproxy.proxy.context import Context

CHECKED_WITH = "12.2.3"

PREFACE_BYTES = 64 * 1024
"""That a client may send before the protocol of its connection is known."""
_finder: Any = NextLayer


def host_names(data: layer.NextLayer) -> Iterator[str]:
    """Yields the names of the host that a connection leads to: as asked for, and as its first bytes have them."""
    context, sent = data.context, data.data_client()
    assert context.server.address is not None
    yield context.server.address[0]
    hello = _finder._get_client_hello(context, sent)
    if hello is not None and hello.sni:
        yield hello.sni
    named = _finder._get_host_header(context, sent, data.data_server())
    if named:
        yield named.rpartition(":")[0] if named.rpartition(":")[2].isdecimal() else named


def host_header(context: Context, data_client: bytes, data_server: bytes) -> str | None:
    """Returns the `Host` of an incomplete request head. Replaces mitmproxy's search, which takes cubic time.

    Raises NeedsMoreData until the field or the end of the head has arrived, or 64 KiB of it.
    """
    if context.client.transport_protocol != "tcp" or data_server or not starts_like_http(data_client):
        return None
    for line in data_client.split(b"\n")[1:-1]:
        if line in (b"", b"\r"):
            return None
        name, _, value = line.partition(b":")
        if name.lower() == b"host":
            return value.strip().decode("utf-8", "surrogateescape") or None
    if len(data_client) > PREFACE_BYTES:
        return None
    raise NeedsMoreData


def starts_like_http(data: bytes) -> bool:
    return data[:3].isalpha() and b"HTTP/" in data.partition(b"\n")[0]


def replace_searches() -> None:
    """Replaces mitmproxy's search for `Host`, and has it remember the last ClientHello, in this process.

    mitmproxy and `UnprotectedTunnels` parse the same ClientHello.
    """
    _finder._get_host_header = staticmethod(host_header)
    _finder._get_client_hello = staticmethod(lru_cache(maxsize=1)(NextLayer._get_client_hello))
