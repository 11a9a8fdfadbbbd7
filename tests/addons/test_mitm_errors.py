"""mitmproxy's own error pages speak as ours do, and repeat nothing of the request."""

import json
from http.client import HTTPResponse
from io import BytesIO
from types import SimpleNamespace
from typing import Any, cast

import pytest

from addons.mitm_errors import error_response
from gateway.http.content_encoding import too_large


def parsed(response: bytes) -> tuple[int, dict[str, Any], str | None]:
    stream = SimpleNamespace(makefile=lambda *_: BytesIO(response))
    reader = HTTPResponse(cast(Any, stream))
    reader.begin()
    body = json.loads(reader.read())
    assert reader.read() == b""
    assert reader.getheader("x-svc-request-id") == body["request_id"]
    return reader.status, body["error"], reader.getheader("connection")


@pytest.mark.parametrize(
    ("status", "answered", "code"),
    [
        (400, 400, "invalid_request"),
        (413, 413, "body_too_large"),
        (431, 400, "invalid_request"),
        (502, 502, "upstream_unreachable"),
        (503, 502, "upstream_unreachable"),
        (504, 504, "upstream_timeout"),
        (500, 500, "internal_error"),
        (599, 500, "internal_error"),
    ],
)
def test_the_page(status: int, answered: int, code: str) -> None:
    response = error_response(status, "canary-4711 <script>")
    assert b"canary" not in response
    got, error, connection = parsed(response)
    assert (got, error["code"], connection) == (answered, code, "close")
    limit = too_large(1024).message
    assert status != 413 or error["message"] == limit.replace("larger than 1024 bytes", "too large")
