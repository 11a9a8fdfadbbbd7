"""The host of a connection, as the first bytes that its client sends name it."""

import inspect
from types import SimpleNamespace
from typing import Any, cast

import pytest
from mitmproxy.addons.next_layer import NeedsMoreData, NextLayer

from addons.patches.first_bytes import host_header

TCP = cast(Any, SimpleNamespace(client=SimpleNamespace(transport_protocol="tcp")))


def test_mitmproxy_calls_the_replaced_searches() -> None:
    source = inspect.getsource(NextLayer._ignore_connection)
    assert "self._get_host_header(" in source
    assert "self._get_client_hello(" in source


@pytest.mark.parametrize(
    ("data", "host"),
    [
        (b"GET / HTTP/1.1\r\nHost: a.test\r\n", "a.test"),
        (b"GET / HTTP/1.1\r\nX: y\r\nhost:  a.test:80 \r\n", "a.test:80"),
        (b"GET / HTTP/1.1\r\nX: y\r\n\r\nHost: body\r\n", None),
        (b"GET / HTTP/1.1\r\nHost:\r\n", None),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * 65536, None),
        (b"\x16\x03\x01", None),
        (b"SSH-2.0-x\r\n", None),
    ],
)
def test_the_host_of_a_head(data: bytes, host: str | None) -> None:
    assert host_header(TCP, data, b"") == host


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: a.te"])
def test_a_head_that_is_not_there_yet(data: bytes) -> None:
    with pytest.raises(NeedsMoreData):
        host_header(TCP, data, b"")
