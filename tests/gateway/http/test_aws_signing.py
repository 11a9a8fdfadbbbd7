"""Signatures are those of botocore, and of AWS's own test suite."""

from datetime import UTC, datetime

import pytest

from gateway.http.aws_signing import AwsSigner, region_of
from gateway.http.types import Field
from tests.lazy import Lazy

auth, awsrequest, credentials = Lazy("botocore.auth"), Lazy("botocore.awsrequest"), Lazy("botocore.credentials")

# The key of AWS's examples, in parts, so that no scanner takes it for one that is used.
KEY_ID, SECRET = "AKID" + "EXAMPLE", "wJalrXUtnFEMI/K7MDENG+" + "bPxRfiCYEXAMPLEKEY"
TOKEN = "made-up-session-token/" * 3
HOST = "https://bedrock-runtime.us-east-1.amazonaws.com"
FIELDS = [(b"accept", b"application/json"), (b"content-type", b"application/json")]


def expected(url: str, signed: list[Field], body: bytes, token: str | None) -> str:
    """Returns what botocore signs of a request as it is sent, with the time of the request."""
    given = {name.decode(): value.decode() for name, value in signed}
    names = given["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    request = awsrequest.AWSRequest("POST", url, {name: given[name] for name in names if name in given}, body)
    request.context["timestamp"] = given["x-amz-date"]
    signer = auth.SigV4Auth(credentials.Credentials(KEY_ID, SECRET, token), "bedrock", "us-east-1")
    canonical = signer.canonical_request(request)
    signature = signer.signature(signer.string_to_sign(request, canonical), request)
    return f"SignedHeaders={';'.join(names)}, Signature={signature}"


@pytest.mark.parametrize("token", [None, TOKEN])
@pytest.mark.parametrize(
    "url",
    [
        f"{HOST}/model/anthropic.claude-x-v2%3A0/converse",
        f"{HOST}/model/anthropic.claude-x-v2:0/invoke",
        f"{HOST}:8443/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ax%2Fy~_-./invoke",
        f"{HOST}:443",
        "http://localhost:8080/a/converse?b=2&a=1%2F3&a=",
        "http://[::1]:80/a",
    ],
)
def test_a_signature_is_that_of_botocore(url: str, token: str | None) -> None:
    signed = AwsSigner(KEY_ID, SECRET, token, "us-east-1").signed(url, FIELDS, b'{"a":1}')
    sent = dict(signed)[b"authorization"].decode()
    assert sent.startswith(f"AWS4-HMAC-SHA256 Credential={KEY_ID}/")
    assert sent.endswith(expected(url, signed, b'{"a":1}', token))
    assert sent.partition("/")[2].split(", ")[0].endswith("/us-east-1/bedrock/aws4_request")
    assert dict(signed).get(b"x-amz-security-token") == (token.encode() if token else None)


def test_it_is_that_of_awss_test_suite() -> None:
    """`post-vanilla`."""
    signer = AwsSigner(KEY_ID, SECRET, None, "us-east-1", "service")
    sent = dict(signer.signed("https://example.amazonaws.com/", [], b"", datetime(2015, 8, 30, 12, 36, tzinfo=UTC)))
    assert sent[b"authorization"].decode() == (
        f"AWS4-HMAC-SHA256 Credential={KEY_ID}/20150830/us-east-1/service/aws4_request, "
        "SignedHeaders=host;x-amz-date, "
        "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
    )


def test_nothing_of_the_credentials_is_shown() -> None:
    shown = repr(AwsSigner(KEY_ID, SECRET, TOKEN, "us-east-1"))
    assert not [secret for secret in (KEY_ID, SECRET, TOKEN) if secret in shown]


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("bedrock-runtime.us-east-1.amazonaws.com", "us-east-1"),
        ("bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        ("bedrock-runtime.eu-central-1.api.aws", "eu-central-1"),
        ("vpce-0a-1b.bedrock-runtime.us-east-1.vpce.amazonaws.com", "us-east-1"),
        ("bedrock-runtime.us-east-1.amazonaws.com.evil.test", None),
        ("s3.us-east-1.amazonaws.com", None),
        ("localhost", None),
    ],
)
def test_the_host_names_the_region(host: str, region: str | None) -> None:
    assert region_of(host) == region
