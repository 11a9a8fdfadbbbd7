"""Calls of Amazon Bedrock as AWS's SDK for Python sends them: signed ones are refused, others protected."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import trustme

from tests.e2e.conftest import Gateways
from tests.e2e.raw import answer_to
from tests.e2e.server import OPERATOR_KEY, PLAIN, Running
from tests.e2e.upstream import Recorded, Reply, Upstream, every_host_on_loopback

HOST = "bedrock-runtime.us-east-1.amazonaws.com"
MAIL = "anna.schmidt@acme.test"
BEARER = {"authorization": "Bearer bedrock-api-key-" + "of-the-tests" * 4}
SIGNED = {
    "authorization": "AWS4-HMAC-SHA256 Credential=" + "AKIA" + "EXAMPLE/20261126/us-east-1/bedrock/aws4_request, "
    "SignedHeaders=content-type;host;x-amz-date, Signature=" + "0a" * 32,
    "x-amz-date": "20261126T120000Z",
    "amz-sdk-invocation-id": "c0ffee",
}
PRESIGNED = "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=" + "0a" * 32
ASKED = {"messages": [{"role": "user", "content": [{"text": f"Write to {MAIL}"}]}]}
CLAUDE = {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": [{"role": "user", "content": MAIL}]}
MODEL = "/model/anthropic.claude-3-5-sonnet-20241022-v2%3A0"
PROFILE = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.amazon.nova-lite-v1%3A0"
EVENTS = "application/vnd.amazon.eventstream"


def provider(request: Recorded) -> Reply:
    """Answers with the words of the request; streams in a frame that is not JSON."""
    (message,) = request.json["messages"]
    answer = json.dumps({"output": {"message": {"role": "assistant", "content": message["content"]}}}).encode()
    if "stream" in request.path:
        return Reply(b"\x00\x00\x00\xff" + answer + b"\xfe\xff", headers={"content-type": EVENTS})
    return Reply(answer)


@pytest.fixture(scope="module")
def bedrock(authority: trustme.CA) -> Iterator[Upstream]:
    with Upstream(authority, HOST).running() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def served(gateways: Gateways, bedrock: Upstream) -> Running:
    return gateways("--intercept", f"{HOST}:{bedrock.port}", prepare=every_host_on_loopback)


@pytest.fixture
def client(served: Running, bedrock: Upstream) -> Iterator[httpx.Client]:
    bedrock.recorded.clear()
    bedrock.answer = provider
    base = f"https://{HOST}:{bedrock.port}"
    with served.proxied(base) as client:
        yield client


def post(client: httpx.Client, path: str, body: Any, headers: dict[str, str]) -> httpx.Response:
    """Sends a body without a media type, as `invoke` does."""
    return client.post(path, content=json.dumps(body), headers=headers)


@pytest.mark.parametrize("path", [f"{MODEL}/converse", f"{MODEL}/invoke", f"{MODEL}/converse-stream"])
@pytest.mark.parametrize("scheme", ["AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"])
def test_a_signed_request_is_refused_in_words_that_the_sdk_shows(
    client: httpx.Client, bedrock: Upstream, path: str, scheme: str
) -> None:
    headers = SIGNED | {"authorization": SIGNED["authorization"].replace("AWS4-HMAC-SHA256", scheme)}
    for body in (ASKED, {**ASKED, "more": "x" * 100_000}):
        answer = post(client, path, body, headers)
        assert (answer.status_code, answer.headers["x-amzn-errortype"]) == (400, "ValidationException")
        assert answer.headers["x-should-retry"] == "false"
        refused = answer.json()
        assert refused["code"] == "signature_not_supported"
        assert "AWS_BEARER_TOKEN_BEDROCK" in refused["message"]
        assert "intercept_hosts" in refused["message"]
    assert not bedrock.recorded


def test_so_is_a_signed_url(client: httpx.Client, bedrock: Upstream) -> None:
    assert post(client, f"{MODEL}/converse{PRESIGNED}", ASKED, {}).json()["code"] == "signature_not_supported"
    assert client.get(f"/models{PRESIGNED}").json()["code"] == "signature_not_supported"
    assert not bedrock.recorded


def test_so_is_one_at_the_gateway(served: Running) -> None:
    for headers in (SIGNED, SIGNED | {"x-svc-key": OPERATOR_KEY}):
        for path in (f"{MODEL}/converse", "/v1/chat/completions"):
            answer = httpx.post(f"{served.url}{path}", json=ASKED, headers=headers, trust_env=False, verify=PLAIN)
            assert answer.status_code == 400
            assert '"signature_not_supported"' in answer.text


@pytest.mark.parametrize("model", [MODEL, MODEL.replace("%3A", ":"), PROFILE])
@pytest.mark.parametrize(("method", "body"), [("converse", ASKED), ("invoke", CLAUDE)])
def test_a_request_with_an_api_key_is_protected_and_its_answer_restored(
    client: httpx.Client, bedrock: Upstream, model: str, method: str, body: Any
) -> None:
    answer = post(client, f"{model}/{method}", body, BEARER)
    assert answer.status_code == 200, answer.text
    assert MAIL in answer.text
    (sent,) = bedrock.recorded
    assert sent.header("authorization") == BEARER["authorization"]
    assert MAIL.encode() not in sent.body
    assert b"[EMAIL_ADDRESS_" in sent.body


@pytest.mark.parametrize("method", ["converse-stream", "invoke-with-response-stream"])
def test_a_stream_keeps_its_placeholders(client: httpx.Client, bedrock: Upstream, method: str) -> None:
    answer = post(client, f"{MODEL}/{method}", ASKED, BEARER)
    assert answer.headers["content-type"] == EVENTS
    assert answer.content == provider(bedrock.recorded[0]).body
    assert b"[EMAIL_ADDRESS_" in answer.content


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        (f"{MODEL}/converse", "no JSON", "invalid_json"),
        ("/model/a%2e%2e%2fb/converse", ASKED, "not_found"),
        (f"{MODEL}/async-invoke", ASKED, "not_found"),
        ("/model/anna.schmidt%40acme.test/converse", ASKED, "not_found"),
        ("/guardrail/x/version/1/apply", ASKED, "unsupported_media_type"),
    ],
)
def test_other_refusals_have_the_same_form(
    client: httpx.Client, bedrock: Upstream, path: str, body: Any, code: str
) -> None:
    content = body if isinstance(body, str) else json.dumps(body)
    answer = client.post(path, content=content, headers=BEARER)
    assert answer.json()["code"] == code
    assert answer.json()["message"]
    assert "x-amzn-errortype" in answer.headers
    assert not bedrock.recorded


def test_a_request_that_cannot_be_read_is_refused_in_the_same_form(served: Running) -> None:
    head = f"POST /model/x/converse HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}"
    answer = answer_to(served.port, head.encode())
    assert b"x-amzn-errortype: ValidationException" in answer
    assert b'"message":' in answer
