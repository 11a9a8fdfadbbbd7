"""The gateway's errors as the official SDKs show them: with the message, and without retrying in vain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import httpx2
import pytest

import gateway.errors
from gateway.errors import (
    BadRequest,
    BadUpstream,
    Conflict,
    Forbidden,
    GatewayError,
    InternalError,
    NotFound,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unprocessable,
    UnsupportedMedia,
    UpstreamTimeout,
)
from gateway.models import Family
from gateway.wires.error_shapes import code_in, error_shape_of, family_of, shaped, shaped_headers
from tests.lazy import Lazy
from tests.tables import table

CASES = table(__file__)

anthropic, openai, genai = Lazy("anthropic"), Lazy("openai"), Lazy("google.genai")

ERRORS = {
    error.default_code: error("Nothing was sent; do something else.", param="messages")
    for error in vars(gateway.errors).values()
    if isinstance(error, type) and issubclass(error, GatewayError) and error is not GatewayError
}
ERRORS |= {
    error.code: error
    for error in (
        Forbidden("Nothing was sent; do something else.", code="blocked_by_policy"),
        NotFound("Nothing was sent; do something else.", code="model_not_found"),
        NotFound("Nothing was sent; do something else.", code="policy_not_found"),
        NotFound("Nothing was sent; do something else.", code="unknown_route"),
        UnsupportedMedia("Nothing was sent; do something else.", code="attachment_refused"),
        Unavailable("Nothing was sent; do something else.", code="overloaded", retry_after=1),
        Unavailable("Nothing was sent; do something else.", code="receipt_log_broken"),
    )
}
MAY_PASS = frozenset({408, 409, 429, 502, 503, 504})


def head(error: GatewayError) -> dict[str, str]:
    return {"content-type": "application/json", **error.headers("req_1")}


class Gateway:
    """Answers every call with an error."""

    def __init__(self, error: GatewayError, family: Family) -> None:
        self.error = error
        self.calls = 0
        self.status, self.body = shaped(error, "req_1", family)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.calls += 1
        return httpx2.Response(self.status, json=self.body, headers=head(self.error))


def ask_openai(gateway: Gateway, retries: int) -> Any:
    transport = httpx2.MockTransport(gateway)
    client = openai.OpenAI(
        api_key="k", base_url="http://g.test/v1", max_retries=retries, http_client=httpx2.Client(transport=transport)
    )
    with pytest.raises(openai.APIStatusError) as raised:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi."}])
    assert raised.value.code == gateway.error.code
    assert raised.value.param == "messages" or gateway.error.param is None
    return raised.value


def ask_anthropic(gateway: Gateway, retries: int) -> Any:
    transport = httpx2.MockTransport(gateway)
    client = anthropic.Anthropic(
        api_key="k", base_url="http://g.test", max_retries=retries, http_client=httpx2.Client(transport=transport)
    )
    with pytest.raises(anthropic.APIStatusError) as raised:
        client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "Hi."}])
    body: Any = raised.value.body
    assert body["error"]["details"]["error_code"] == gateway.error.code
    # Agents show 404 as a problem with the model's name.
    assert (raised.value.status_code == 404) is (gateway.error.code == "model_not_found")
    return raised.value


def ask_gemini(gateway: Gateway, _: int) -> Any:
    def answer(request: httpx.Request) -> httpx.Response:
        gateway.calls += 1
        return httpx.Response(gateway.status, json=gateway.body, headers=head(gateway.error))

    http = httpx.Client(transport=httpx.MockTransport(answer))
    options = genai.types.HttpOptions(base_url="http://g.test", httpx_client=http)
    client = genai.Client(vertexai=False, api_key="k", http_options=options)
    with pytest.raises(genai.errors.APIError) as raised:
        client.models.generate_content(model="m", contents="Hi.")
    assert raised.value.code == gateway.error.status
    return raised.value


SDKS: dict[Family, Callable[[Gateway, int], Exception]] = {
    "openai": ask_openai,
    "anthropic": ask_anthropic,
    "gemini": ask_gemini,
}


@pytest.mark.slow
@pytest.mark.parametrize("code", ERRORS)
@pytest.mark.parametrize("family", SDKS)
def test_the_message_is_shown_and_nothing_is_retried_in_vain(family: Family, code: str) -> None:
    error = ERRORS[code]
    may_pass = error.status in MAY_PASS and code != "receipt_log_broken"
    gateway = Gateway(error, family)
    shown = SDKS[family](gateway, 0 if may_pass else 2)
    assert error.message in str(shown)
    assert gateway.calls == 1
    assert code_in(gateway.body) == code
    assert ("x-should-retry" in head(error)) is not may_pass


def encoded(fields: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in fields.items()]


@pytest.mark.parametrize(("fields", "family"), CASES["families"])
def test_the_api_of_a_client_shows_in_its_headers(fields: dict[str, str], family: Family) -> None:
    assert family_of(encoded(fields)) == family


@pytest.mark.parametrize(("fields", "shape"), CASES["shapes"])
def test_clients_of_bedrock_show_in_host_and_headers(fields: dict[str, str], shape: Family) -> None:
    assert error_shape_of(encoded(fields)) == shape


@pytest.mark.parametrize("code", ERRORS)
def test_an_error_for_the_sdks_of_aws_and_cohere(code: str) -> None:
    error = ERRORS[code]
    status, body = shaped(error, "req_1", "bedrock")
    assert shaped(error, "req_1", "cohere") == (status, body)
    assert (status, body["message"], code_in(body)) == (error.status, error.message, code)
    headers = shaped_headers(error, "req_1", "bedrock")
    assert headers["x-amzn-errortype"].endswith("Exception")
    assert "x-amzn-errortype" not in shaped_headers(error, "req_1", "openai")


@pytest.mark.parametrize("code", ERRORS)
def test_an_error_for_clients_of_ollama_is_a_text(code: str) -> None:
    status, body = shaped(ERRORS[code], "req_1", "ollama")
    assert (status, body["error"], code_in(body)) == (ERRORS[code].status, ERRORS[code].message, code)


# Errors as clients of Anthropic's and of Gemini's API are shown them.
SHOWN: list[tuple[GatewayError, str, str]] = [
    (BadRequest("No."), "invalid_request_error", "INVALID_ARGUMENT"),
    (Unauthorized("No."), "authentication_error", "UNAUTHENTICATED"),
    (Forbidden("No.", code="blocked_by_policy"), "permission_error", "PERMISSION_DENIED"),
    (NotFound("No.", code="unknown_route"), "invalid_request_error", "NOT_FOUND"),
    (NotFound("No.", code="model_not_found"), "not_found_error", "NOT_FOUND"),
    (Conflict("No."), "invalid_request_error", "ABORTED"),
    (TooLarge("No."), "request_too_large", "INVALID_ARGUMENT"),
    (Unprocessable("No."), "invalid_request_error", "INVALID_ARGUMENT"),
    (TooManyRequests("No."), "rate_limit_error", "RESOURCE_EXHAUSTED"),
    (InternalError("No."), "api_error", "INTERNAL"),
    (BadUpstream("No."), "api_error", "UNAVAILABLE"),
    (Unavailable("No."), "api_error", "UNAVAILABLE"),
    (Unavailable("No.", code="overloaded"), "overloaded_error", "UNAVAILABLE"),
    (UpstreamTimeout("No."), "timeout_error", "DEADLINE_EXCEEDED"),
]


@pytest.mark.parametrize(("error", "kind", "status"), SHOWN)
def test_an_error_has_the_shape_of_the_api(error: GatewayError, kind: str, status: str) -> None:
    error.param = "model"
    assert shaped(error, "r", "anthropic")[1] == {
        "type": "error",
        "error": {"type": kind, "message": "No.", "details": {"error_code": error.code, "param": "model"}},
        "request_id": "r",
    }
    code, body = shaped(error, "r", "gemini")
    shown = body["error"]
    assert (shown["code"], shown["message"], shown["status"]) == (code, "No.", status)
    (info,) = shown["details"]
    assert info["reason"] == error.code.upper()
    assert info["metadata"] == {"code": error.code, "request_id": "r", "param": "model"}
