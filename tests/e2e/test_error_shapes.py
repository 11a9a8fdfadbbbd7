"""Errors below the hooks, about requests that cannot be read, have the shape of the client's API as well."""

import json

import pytest

from tests.e2e.raw import answer_to, status_of
from tests.e2e.server import OPERATOR_KEY, Running

START = f"Host: gateway\r\nAuthorization: Bearer {OPERATOR_KEY}\r\nContent-Type: application/json\r\n"
CALLS = {"anthropic": "/v1/messages", "gemini": "/v1beta/models/m:generateContent", "openai": "/v1/responses"}


def family_of_error(body: bytes) -> str:
    error = json.loads(body)
    if error.get("type") == "error":
        return "anthropic"
    return "gemini" if "status" in error["error"] else "openai"


@pytest.mark.parametrize(
    ("rest", "status"),
    [
        ("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
        ("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", 400),
        ("Content-Length: 2\r\nX-A : b\r\n\r\n{}", 400),
        ("no field\r\n\r\n", 400),
        ("Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("X: " + "y" * 70_000 + "\r\n\r\n", 431),
        ("X: " + "y" * 200_000, 431),
        ("X: y\r\n" * 300 + "\r\n", 431),
    ],
    ids=["two-lengths", "length-and-chunks", "blank-in-name", "no-colon", "chunk", "long", "endless", "many"],
)
@pytest.mark.parametrize("family", CALLS)
def test_a_request_that_cannot_be_read(running: Running, family: str, rest: str, status: int) -> None:
    answer = answer_to(running.port, f"POST {CALLS[family]} HTTP/1.1\r\n{START}{rest}".encode())
    assert status_of(answer) == status
    assert family_of_error(answer.partition(b"\r\n\r\n")[2]) == family
    assert "a hook failed" not in running.output()


def test_the_headers_tell_the_api_of_an_unknown_path(running: Running) -> None:
    start = f"POST /other HTTP/1.1\r\n{START}Anthropic-Version: 2023-06-01\r\n"
    answer = answer_to(running.port, f"{start}Content-Length: 2\r\nContent-Length: 3\r\n\r\n".encode())
    assert family_of_error(answer.partition(b"\r\n\r\n")[2]) == "anthropic"
