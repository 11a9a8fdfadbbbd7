"""A flow's destination is set in one step, and is what mitmproxy's own properties would make of the URL."""

import pytest
from mitmproxy.net.http.http1 import assemble_request_head
from mitmproxy.test import tutils

from addons.forwarding import send_to


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.example.com/v1/chat/completions", "api.example.com"),
        ("https://api.example.com:443/v1", "api.example.com"),
        ("http://127.0.0.1:9000/v1?a=1&b=%20", "127.0.0.1:9000"),
        ("http://[::1]:8080/x", "[::1]:8080"),
        ("https://[2001:db8::1]/x", "[2001:db8::1]"),
        ("http://localhost", "localhost"),
    ],
)
def test_a_url_as_mitmproxy_reads_it(url: str, host: str) -> None:
    request, expected = tutils.treq(authority=b"old.example"), tutils.treq()
    send_to(request, url, [(b"X-Some", b"1")], b"{}")
    expected.url = url
    for name in ("scheme", "host", "port", "path"):
        assert getattr(request, name) == getattr(expected, name)
    assert list(request.headers.fields) == [(b"host", host.encode()), (b"X-Some", b"1"), (b"content-length", b"2")]
    assert (request.content, request.trailers, request.authority) == (b"{}", None, "")
    assert b"old.example" not in assemble_request_head(request)
