"""Signed requests to Amazon Bedrock: signed anew for keys that were granted the upstream, refused for others."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import httpx2
import pytest
import trustme

from tests.e2e.api_keys import new_key
from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import everything, operator
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.test_bedrock import ASKED, CLAUDE, EVENTS, HOST, MAIL, MODEL, MODEL_ID, SIGNED, provider
from tests.e2e.upstream import Reply, Upstream, every_host_on_loopback
from tests.gateway.http.test_aws_signing import SECRET, TOKEN, expected
from tests.lazy import Lazy

anthropic, boto3, botocore_config = Lazy("anthropic"), Lazy("boto3"), Lazy("botocore.config")
botocore_errors = Lazy("botocore.exceptions")

CONFIG = """
[upstreams.aws]
wire = "bedrock"
base_url = "https://{host}:{port}"
aws_access_key_id = "env:TEST_AWS_KEY_ID"
aws_secret_access_key = "env:TEST_AWS_SECRET"
aws_session_token = "env:TEST_AWS_TOKEN"
[upstreams.relay]
wire = "bedrock"
base_url = "{plain}"
aws_region = "us-east-1"
aws_access_key_id = "env:TEST_AWS_KEY_ID"
aws_secret_access_key = "env:TEST_AWS_SECRET"
models = ["anthropic.*"]
[upstreams.other]
wire = "bedrock"
base_url = "https://bedrock-runtime.us-west-1.amazonaws.com"
aws_access_key_id = "env:TEST_AWS_KEY_ID"
aws_secret_access_key = "env:TEST_AWS_SECRET"
models = ["other.*"]
"""
KEY_ID = "AKIA" + "GATEWAYSOWNKEY12"
CLIENTS = {"aws_access_key_id": "AKIA" + "CLIENTSOWNKEY", "aws_secret_access_key": "client" * 6}


class Signing:
    """The gateway with AWS credentials, and the upstreams of its entrances."""

    def __init__(self, running: Running, tls: Upstream, plain: Upstream) -> None:
        self.running, self.upstreams = running, {"proxy": tls, "gateway": plain}
        self.keys = {name: new_key(running, name, *words) for name, words in KEYS.items()}
        self.keys["operator"] = OPERATOR_KEY

    def base(self, entrance: str) -> str:
        return f"https://{HOST}:{self.upstreams['proxy'].port}" if entrance == "proxy" else self.running.url

    def post(self, entrance: str, path: str, body: Any, headers: dict[str, str]) -> httpx.Response:
        proxied = self.running.proxied() if entrance == "proxy" else httpx.Client(trust_env=False)
        with proxied as client:
            return client.post(self.base(entrance) + path, content=json.dumps(body), headers=headers)

    def sdk(self, entrance: str, key: str) -> Any:
        """boto3 that signs with credentials of its own."""
        is_proxy = entrance == "proxy"
        given: dict[str, Any] = {"retries": {"total_max_attempts": 1}}
        if is_proxy:
            given["proxies"] = {"https": self.running.proxy}
        client = boto3.client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=self.base(entrance),
            verify=str(self.running.certs / "mitmproxy-ca-cert.pem") if is_proxy else None,
            config=botocore_config.Config(**given),
            **CLIENTS,
        )
        header = {"X-SVC-Key": self.keys[key]}
        client.meta.events.register("before-call.bedrock-runtime", lambda params, **_: params["headers"].update(header))
        return client


KEYS = {
    "granted": ("--aws-upstream", "aws", "--aws-upstream", "relay"),
    "foreign": ("--aws-upstream", "other"),
    "none": (),
}


@pytest.fixture(scope="module")
def signing(gateways: Gateways, authority: trustme.CA) -> Iterator[Signing]:
    with (
        pytest.MonkeyPatch.context() as patch,
        Upstream(authority, HOST).running() as tls,
        Upstream().running() as plain,
    ):
        for name, value in (("KEY_ID", KEY_ID), ("SECRET", SECRET), ("TOKEN", TOKEN)):
            patch.setenv(f"TEST_AWS_{name}", value)
        config = CONFIG.format(host=HOST, port=tls.port, plain=plain.url)
        options = ("--intercept", f"{HOST}:{tls.port}")
        running = gateways(*options, config=config, prepare=every_host_on_loopback, web=True, log_level="debug")
        yield Signing(running, tls, plain)


@pytest.fixture(params=["gateway", "proxy"])
def entrance(request: pytest.FixtureRequest, signing: Signing) -> str:
    for upstream in signing.upstreams.values():
        upstream.recorded.clear()
        upstream.answer = provider
    return str(request.param)


def check_signed(signing: Signing, entrance: str) -> None:
    """The request arrived protected, with a signature of the gateway's that verifies with botocore."""
    upstream = signing.upstreams[entrance]
    (sent,) = upstream.recorded
    assert MAIL.encode() not in upstream.seen
    assert CLIENTS["aws_access_key_id"].encode() not in upstream.seen
    given = dict(sent.headers)
    assert f"Credential={KEY_ID}/" in given["authorization"]
    assert given.get("x-amz-security-token") == (TOKEN if entrance == "proxy" else None)
    url = f"{upstream.scheme}://{given['host']}{sent.raw_path}"
    fields = [(name.encode(), value.encode()) for name, value in sent.headers]
    assert given["authorization"].endswith(expected(url, fields, sent.body, given.get("x-amz-security-token")))
    assert "content-type;host;x-amz-date" in given["authorization"]
    assert not [name for name in given if name.startswith("x-svc")]


def test_what_boto3_has_signed_is_signed_anew(signing: Signing, entrance: str) -> None:
    with closing(signing.sdk(entrance, "granted")) as sdk:
        answer = sdk.converse(modelId=MODEL_ID, **ASKED)
        assert answer["output"]["message"]["content"][0]["text"] == f"Write to {MAIL}"
        check_signed(signing, entrance)
        signing.upstreams[entrance].recorded.clear()
        streamed = sdk.invoke_model_with_response_stream(modelId=MODEL_ID, body=json.dumps(CLAUDE))
        deltas = [json.loads(event["chunk"]["bytes"]).get("delta", {}) for event in streamed["body"]]
    assert "".join(each.get("text", "") for each in deltas) == MAIL
    check_signed(signing, entrance)


def test_so_is_what_anthropics_sdk_has_signed(signing: Signing, entrance: str) -> None:
    """It signs every header, and has the `:` of the model as it is."""
    given: dict[str, Any] = (
        {"proxy": signing.running.proxy, "verify": signing.running.trust} if entrance == "proxy" else {}
    )
    proxied = httpx2.Client(trust_env=False, timeout=30, **given)
    key_id, secret = CLIENTS.values()
    asked: Any = {"model": MODEL_ID, "max_tokens": 9, "messages": CLAUDE["messages"]}
    with anthropic.AnthropicBedrock(
        aws_access_key=key_id,
        aws_secret_key=secret,
        aws_region="us-east-1",
        base_url=signing.base(entrance),
        default_headers={"X-SVC-Key": signing.keys["granted"]},
        max_retries=0,
        http_client=proxied,
    ) as client:
        assert client.messages.create(**asked).content[0].text == MAIL
        check_signed(signing, entrance)
        signing.upstreams[entrance].recorded.clear()
        with client.messages.stream(**asked) as stream:
            assert stream.get_final_text() == MAIL
    check_signed(signing, entrance)


@pytest.mark.parametrize("key", ["foreign", "none", "operator"])
def test_a_key_without_the_grant_is_refused(signing: Signing, entrance: str, key: str) -> None:
    with closing(signing.sdk(entrance, key)) as sdk, pytest.raises(botocore_errors.ClientError) as refused:
        sdk.converse(modelId=MODEL_ID, **ASKED)
    assert "keys create --aws-upstream" in str(refused.value)
    answer = refused.value.response
    assert (answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"]) == (403, "AccessDeniedException")
    if entrance == "gateway":
        # However the key is sent.
        bearer = {"authorization": f"Bearer {signing.keys[key]}"}
        assert signing.post(entrance, f"{MODEL}/converse", ASKED, bearer).json()["code"] == "upstream_not_permitted"
    assert not any(upstream.recorded for upstream in signing.upstreams.values())


def test_signed_requests_without_a_key_of_the_gateway_are_refused(signing: Signing, entrance: str) -> None:
    for headers in (SIGNED, SIGNED | {"x-svc-key": "svck_" + "0" * 43}):
        for body in (ASKED, {**ASKED, "more": "x" * 100_000}):
            answer = signing.post(entrance, f"{MODEL}/converse", body, headers)
            assert (answer.status_code, answer.headers["x-amzn-errortype"]) == (401, "AccessDeniedException")
    assert not any(upstream.recorded for upstream in signing.upstreams.values())


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", f"{MODEL}/converse?X-Amz-Signature=0a", f"{MODEL}/count-tokens"]
)
def test_other_signed_calls_are_refused(signing: Signing, entrance: str, path: str) -> None:
    headers = SIGNED | {"x-svc-key": signing.keys["granted"]}
    answer = signing.post(entrance, path, ASKED, headers)
    assert (answer.status_code, "signature_not_supported" in answer.text) == (400, True)
    assert not any(upstream.recorded for upstream in signing.upstreams.values())


@pytest.mark.parametrize("name", [MAIL.replace("@", "%40"), "anthropic.4111-1111-1111-1111"])
def test_a_signed_path_with_private_text_says_so(signing: Signing, entrance: str, name: str) -> None:
    headers = SIGNED | {"x-svc-key": signing.keys["granted"]}
    answer = signing.post(entrance, f"/model/{name}/converse", ASKED, headers)
    assert answer.status_code in {400, 404}
    assert "id or the ARN of a model" in answer.text or "`model`, in the body or in the path" in answer.text
    assert "4111" not in answer.text
    assert not any(upstream.recorded for upstream in signing.upstreams.values())


def test_a_signature_for_another_host_is_refused(signing: Signing) -> None:
    headers = SIGNED | {"x-svc-key": signing.keys["granted"]}
    with signing.running.proxied() as client:
        answer = client.post(
            f"https://bedrock-runtime.us-west-2.amazonaws.com{MODEL}/converse", json=ASKED, headers=headers
        )
    assert answer.json()["code"] == "signature_not_supported"


def test_a_bearer_key_of_the_clients_is_not_replaced(signing: Signing, entrance: str) -> None:
    headers = {"authorization": "Bearer bedrock-" + "k" * 32, "x-svc-key": signing.keys["none"]}
    assert signing.post(entrance, f"{MODEL}/converse", ASKED, headers).status_code == 200
    (sent,) = signing.upstreams[entrance].recorded
    assert sent.header("authorization") == headers["authorization"]


def test_the_credentials_are_nowhere_but_at_the_upstream(signing: Signing, entrance: str) -> None:
    def quoting(request: Any) -> Reply:
        quoted = {"message": f"Not {request.header('authorization')} {request.header('x-amz-security-token')}"}
        headers = {"content-type": "application/json", "x-amzn-errortype": "InvalidSignatureException"}
        return Reply(json.dumps(quoted).encode(), 403, headers)

    signing.upstreams[entrance].answer = quoting
    answer = signing.post(entrance, f"{MODEL}/converse", ASKED, SIGNED | {"x-svc-key": signing.keys["granted"]})
    assert answer.status_code == 403
    signing.upstreams[entrance].answer = provider
    streamed = signing.post(
        entrance, f"{MODEL}/converse-stream", ASKED, SIGNED | {"x-svc-key": signing.keys["granted"]}
    )
    assert streamed.headers["content-type"] == EVENTS
    with operator(signing.running) as web:
        shown = everything(web)
    files = b"".join(file.read_bytes() for file in signing.running.data.rglob("*") if file.is_file())
    for place in (shown, files, signing.running.output().encode(), answer.content, bytes(str(answer.headers), "utf-8")):
        for secret in (KEY_ID, SECRET, TOKEN):
            assert secret.encode() not in place


def test_the_key_may_be_in_the_url_of_the_proxy(gateways: Gateways, authority: trustme.CA) -> None:
    with Upstream(authority, HOST).running() as tls, pytest.MonkeyPatch.context() as patch:
        tls.answer = provider
        for name, value in (("KEY_ID", KEY_ID), ("SECRET", SECRET), ("TOKEN", TOKEN)):
            patch.setenv(f"TEST_AWS_{name}", value)
        config = CONFIG.format(host=HOST, port=tls.port, plain="http://localhost:1")
        options = ("--intercept", f"{HOST}:{tls.port}")
        running = gateways(*options, config=config, prepare=every_host_on_loopback, proxy_key="true")
        for words, status in ((KEYS["granted"], 200), (KEYS["none"], 403)):
            proxy = running.proxy.replace("://", f"://key:{new_key(running, 'of the proxy', *words)}@")
            with httpx.Client(proxy=proxy, verify=running.trust, trust_env=False, timeout=30) as client:
                answer = client.post(f"https://{HOST}:{tls.port}{MODEL}/converse", json=ASKED, headers=SIGNED)
            assert answer.status_code == status
        assert [f"Credential={KEY_ID}/" in str(request.header("authorization")) for request in tls.recorded] == [True]
