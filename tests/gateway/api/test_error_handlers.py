"""Errors of every kind become responses in one format."""

import logging
from typing import Any

import httpx
import pytest

from gateway.container import Container

TEXT = {"text": "Write to anna@acme.test"}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "param"),
    [
        ("GET", "/v1/unknown", None, 404, "not_found", None),
        ("DELETE", "/v1/protect", None, 405, "method_not_allowed", None),
        ("POST", "/v1/protect", {}, 422, "validation_error", "text"),
        ("POST", "/v1/protect", TEXT | {"session_ttl_seconds": 1}, 422, "validation_error", "session_ttl_seconds"),
        ("POST", "/v1/protect", TEXT | {"colour": 1}, 422, "validation_error", "colour"),
        ("POST", "/v1/protect", TEXT | {"anna@acme.test": 1}, 422, "validation_error", None),
        ("POST", "/v1/protect", [], 400, "invalid_json", None),
        ("GET", "/v1/receipts/req_01", None, 404, "receipt_not_found", "request_id"),
    ],
)
async def test_an_error_has_a_code(
    client: httpx.AsyncClient, method: str, path: str, body: Any, status: int, code: str, param: str | None
) -> None:
    answer = await client.request(method, path, json=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    assert "anna" not in answer.text
    assert answer.headers["x-svc-request-id"] == answer.json()["request_id"]
    assert answer.headers.get("allow") == ("POST" if status == 405 else None)
    assert (await client.request(method, path, json=body, headers={"authorization": "Bearer no"})).status_code == 401


async def test_a_failure_is_logged_without_its_text(
    client: httpx.AsyncClient, container: Container, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("canary-4711")

    monkeypatch.setattr(container.operations, "protect", fail)
    with caplog.at_level(logging.DEBUG):
        answer = await client.post("/v1/protect", json=TEXT)
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert "canary" not in answer.text + caplog.text
    assert "ValueError" in caplog.text and answer.json()["request_id"] in caplog.text


async def test_an_answer_to_head_has_no_body(client: httpx.AsyncClient) -> None:
    answer = await client.head("/v1/unknown")
    assert (answer.status_code, answer.content) == (404, b"")
