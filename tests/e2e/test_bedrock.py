"""Calls of Amazon Bedrock by AWS's SDK for Python, at both entrances, and requests that no SDK sends."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest
import trustme

from tests.e2e.conftest import Gateways
from tests.e2e.raw import answer_to
from tests.e2e.server import OPERATOR_KEY, PLAIN, Running
from tests.e2e.upstream import Recorded, Reply, Upstream, every_host_on_loopback
from tests.gateway.wires import test_anthropic_streams as claude
from tests.gateway.wires.test_bedrock_streams import USAGE, chunked, delta, framed, pieces, stop
from tests.lazy import Lazy

boto3, botocore = Lazy("boto3"), Lazy("botocore")
botocore_config, botocore_errors = Lazy("botocore.config"), Lazy("botocore.exceptions")

HOST = "bedrock-runtime.us-east-1.amazonaws.com"
MAIL = "anna.schmidt@acme.test"
KEY = "bedrock-api-key-" + "of-the-tests" * 4
BEARER = {"authorization": f"Bearer {KEY}"}
MODEL_ID = "anthropic.claude-x-v2:0"
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
    """Says the last words of the user and calls a tool with them, in the form of the call."""
    content = request.json["messages"][-1]["content"]
    said = content if isinstance(content, str) else content[-1]["text"]
    headers = {"content-type": EVENTS if "stream" in request.path else "application/json"}
    headers |= {"x-amzn-requestid": "r-1", "x-amzn-bedrock-input-token-count": "5"}
    if "converse" in request.path:
        call: Any = {"toolUse": {"toolUseId": "t1", "name": "send"}}
        if "stream" not in request.path:
            call["toolUse"]["input"] = {"to": said}
            blocks = [{"text": said}, call]
            answer = {"output": {"message": {"role": "assistant", "content": blocks}}, "stopReason": "tool_use"}
            return Reply(json.dumps({**answer, "usage": USAGE, "metrics": {"latencyMs": 1}}).encode(), headers=headers)
        deltas = [delta(0, text=each) for each in pieces(said, 3)]
        deltas += [stop(0), {"contentBlockStart": {"contentBlockIndex": 1, "start": call}}]
        deltas += [delta(1, toolUse={"input": each}) for each in pieces(json.dumps({"to": said}), 3)]
        ends = [stop(1), {"messageStop": {"stopReason": "tool_use"}}, {"metadata": {"usage": USAGE, "metrics": {}}}]
        return Reply(framed([{"messageStart": {"role": "assistant"}}, *deltas, *ends]), headers=headers)
    bodies = [
        claude.start(),
        *claude.blocks(claude.text_block(said), claude.call_block(to=said)),
        *claude.end("tool_use"),
    ]
    if "stream" in request.path:
        return Reply(chunked(bodies), headers=headers)
    use = {"type": "tool_use", "id": "t1", "name": "send", "input": {"to": said}}
    message = {**bodies[0]["message"], "content": [{"type": "text", "text": said}, use], "stop_reason": "tool_use"}
    return Reply(json.dumps(message).encode(), headers=headers)


@pytest.fixture(scope="module")
def bedrock(authority: trustme.CA) -> Iterator[Upstream]:
    with Upstream(authority, HOST).running() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def plain() -> Iterator[Upstream]:
    with Upstream().running() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def served(gateways: Gateways, bedrock: Upstream, plain: Upstream) -> Running:
    config = f'[upstreams.bedrock]\nwire = "bedrock"\nbase_url = "{plain.url}"\napi_key_env = "SVC_BEDROCK_KEY"\n'
    options = ("--intercept", f"{HOST}:{bedrock.port}")
    return gateways(*options, config=config, prepare=every_host_on_loopback, bedrock_key=KEY)


@pytest.fixture
def client(served: Running, bedrock: Upstream) -> Iterator[httpx.Client]:
    bedrock.recorded.clear()
    bedrock.answer = provider
    base = f"https://{HOST}:{bedrock.port}"
    with served.proxied(base) as client:
        yield client


@pytest.fixture(params=["gateway", "proxy"])
def sdk(
    request: pytest.FixtureRequest, served: Running, bedrock: Upstream, plain: Upstream, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Any, Upstream]]:
    """boto3 at one of the entrances, and the upstream there."""
    is_proxy = request.param == "proxy"
    upstream = bedrock if is_proxy else plain
    upstream.recorded.clear()
    upstream.answer = provider
    given: dict[str, Any] = {"retries": {"total_max_attempts": 1}}
    if is_proxy:
        monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
        given["proxies"] = {"https": served.proxy}
    else:
        given["signature_version"] = botocore.UNSIGNED
    client = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=f"https://{HOST}:{upstream.port}" if is_proxy else served.url,
        verify=str(served.certs / "mitmproxy-ca-cert.pem") if is_proxy else None,
        config=botocore_config.Config(**given),
    )
    if not is_proxy:
        add = client.meta.events.register
        add("before-call.bedrock-runtime", lambda params, **_: params["headers"].update({"X-SVC-Key": OPERATOR_KEY}))
    with closing(client):
        yield client, upstream


def check_sent(upstream: Upstream, method: str) -> None:
    (sent,) = upstream.recorded
    assert sent.raw_path == f"/model/anthropic.claude-x-v2%3A0/{method}"
    assert sent.header("authorization") == f"Bearer {KEY}"
    assert b"[EMAIL_ADDRESS_" in sent.body
    assert MAIL.encode() not in upstream.seen
    assert OPERATOR_KEY.encode() not in upstream.seen


TOOLS: Any = {"tools": [{"toolSpec": {"name": "send", "inputSchema": {"json": {"type": "object"}}}}]}


def test_converse(sdk: tuple[Any, Upstream]) -> None:
    answer = sdk[0].converse(modelId=MODEL_ID, toolConfig=TOOLS, **ASKED)
    text, call = answer["output"]["message"]["content"]
    assert text["text"] == f"Write to {MAIL}"
    assert call["toolUse"]["input"] == {"to": f"Write to {MAIL}"}
    headers = answer["ResponseMetadata"]["HTTPHeaders"]
    assert (headers["x-amzn-requestid"], headers["x-amzn-bedrock-input-token-count"]) == ("r-1", "5")
    check_sent(sdk[1], "converse")


def test_converse_stream(sdk: tuple[Any, Upstream]) -> None:
    answer = sdk[0].converse_stream(modelId=MODEL_ID, toolConfig=TOOLS, **ASKED)
    deltas = [event["contentBlockDelta"]["delta"] for event in answer["stream"] if "contentBlockDelta" in event]
    assert "".join(each.get("text", "") for each in deltas) == f"Write to {MAIL}"
    called = "".join(each["toolUse"]["input"] for each in deltas if "toolUse" in each)
    assert json.loads(called) == {"to": f"Write to {MAIL}"}
    check_sent(sdk[1], "converse-stream")


def test_invoke(sdk: tuple[Any, Upstream]) -> None:
    answer = json.loads(sdk[0].invoke_model(modelId=MODEL_ID, body=json.dumps(CLAUDE))["body"].read())
    assert answer["content"][0]["text"] == MAIL
    assert answer["content"][1]["input"] == {"to": MAIL}
    check_sent(sdk[1], "invoke")


def test_invoke_with_response_stream(sdk: tuple[Any, Upstream]) -> None:
    answer = sdk[0].invoke_model_with_response_stream(modelId=MODEL_ID, body=json.dumps(CLAUDE))
    found = [json.loads(event["chunk"]["bytes"]) for event in answer["body"]]
    deltas = [each["delta"] for each in found if each["type"] == "content_block_delta"]
    assert "".join(each.get("text", "") for each in deltas) == MAIL
    assert json.loads("".join(each.get("partial_json", "") for each in deltas)) == {"to": MAIL}
    check_sent(sdk[1], "invoke-with-response-stream")


def test_errors_of_the_provider_and_of_the_gateway(sdk: tuple[Any, Upstream]) -> None:
    headers = {"x-amzn-errortype": "ValidationException", "content-type": "application/json"}
    sdk[1].answer = lambda _: Reply(json.dumps({"message": f"Not {MAIL}."}).encode(), 400, headers)
    image: Any = {"image": {"format": "png", "source": {"bytes": b"PNG"}}}
    for content, said in (({"text": "Hi."}, "Not"), (image, "Parts that are not text")):
        with pytest.raises(botocore_errors.ClientError, match=said):
            sdk[0].converse(modelId=MODEL_ID, messages=[{"role": "user", "content": [content]}])
    assert len(sdk[1].recorded) == 1


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
