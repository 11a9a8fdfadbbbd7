"""Both handshakes of a WebSocket: what is accepted of each peer, and what each is sent."""

from typing import Any

import pytest
from mitmproxy import http
from mitmproxy.test import tutils

from addons.websocket_handshake import Handshake
from gateway.errors import BadRequest, BadUpstream, GatewayError, UpgradeRefused

TARGET = ("api.example", 443, "https")
# RFC 6455 section 1.3.
KEY, ACCEPT = "dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
FIELDS = {
    "connection": "keep-alive, Upgrade",
    "upgrade": "WebSocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": KEY,
}


def read(version: bytes = b"HTTP/1.1", **changed: str) -> Handshake | None:
    headers = http.Headers([(n.encode(), v.encode()) for n, v in (FIELDS | changed).items()])
    return Handshake.of(tutils.treq(http_version=version, path=b"/v1/responses"), headers, TARGET)


def test_a_request_without_an_upgrade_is_none() -> None:
    assert read(upgrade="h2c") is None


@pytest.mark.parametrize(
    ("version", "changed"),
    [
        (b"HTTP/1.0", {}),
        (b"HTTP/1.1", {"connection": "close"}),
        (b"HTTP/1.1", {"upgrade": "websocket, h2c"}),
        (b"HTTP/1.1", {"sec-websocket-version": "8"}),
        (b"HTTP/1.1", {"sec-websocket-key": ""}),
        (b"HTTP/1.1", {"sec-websocket-key": "canary"}),
        (b"HTTP/1.1", {"sec-websocket-key": "Y2FuYXJ5"}),
    ],
)
def test_a_handshake_that_breaks_a_rule_is_refused(version: bytes, changed: dict[str, str]) -> None:
    with pytest.raises(BadRequest) as refused:
        read(version, **changed)
    assert "canary" not in refused.value.message


def agreed(handshake: Handshake, **changed: str) -> http.Response:
    request = tutils.treq(headers=http.Headers([(b"content-length", b"0")]))
    handshake.ask(request)
    assert request.headers["sec-websocket-key"] != KEY
    assert "content-length" not in request.headers
    theirs = Handshake(request.headers["sec-websocket-key"].encode(), "", TARGET)
    response = http.Response.make(101, headers={"upgrade": "websocket"})
    theirs.answer(response)
    for name, value in changed.items():
        response.headers[name.replace("_", "-")] = value
    return response


def test_the_client_gets_the_answer_to_its_own_key() -> None:
    handshake = read()
    assert handshake is not None
    response = agreed(handshake)
    handshake.check(response)
    handshake.answer(response)
    assert response.headers["sec-websocket-accept"] == ACCEPT


@pytest.mark.parametrize(
    ("status", "changed", "error"),
    [
        (101, {"sec_websocket_accept": ACCEPT}, BadUpstream),
        (101, {"sec_websocket_extensions": "permessage-deflate"}, BadUpstream),
        (101, {"sec_websocket_protocol": "chat"}, BadUpstream),
        (101, {"upgrade": "h2c"}, BadUpstream),
        (404, {}, UpgradeRefused),
        (200, {}, UpgradeRefused),
        (401, {}, None),
        (429, {}, None),
    ],
)
def test_the_answer_of_the_upstream_is_checked(status: int, changed: Any, error: type[GatewayError] | None) -> None:
    handshake = read()
    assert handshake is not None
    response = agreed(handshake, **changed)
    response.status_code = status
    if error is None:
        handshake.check(response)
    else:
        with pytest.raises(error):
            handshake.check(response)
