"""Requests with an AWS signature are recognized wherever it is."""

import pytest

from gateway.auth.signatures import refuse_signed
from gateway.errors import BadRequest
from gateway.http.types import Field

SIGNED = b"AWS4-HMAC-SHA256 Credential=" + b"AKIA" + b"EXAMPLE/20261126/us-east-1/bedrock/aws4_request, Signature=0"


@pytest.mark.parametrize(
    ("fields", "query"),
    [
        ([(b"Authorization", SIGNED)], ""),
        ([(b"host", b"h"), (b"authorization", b" aws4-ecdsa-p256-sha256 Credential=x")], "a=1"),
        ([], "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=1"),
        ([(b"authorization", b"Bearer x")], "a=1&x-amz-signature=00"),
        ([], "X%2DAmz-Signature=00"),
    ],
)
def test_a_signed_request_is_refused(fields: list[Field], query: str) -> None:
    with pytest.raises(BadRequest) as refused:
        refuse_signed(fields, query)
    assert refused.value.code == "signature_not_supported"
    assert "AWS_BEARER_TOKEN_BEDROCK" in refused.value.message


@pytest.mark.parametrize("value", [b"Bearer AWS4-HMAC-SHA256", b"Basic eA==", b"AWS4"])
def test_other_requests_pass(value: bytes) -> None:
    refuse_signed([(b"authorization", value), (b"x-amz-date", b"1")], "x-amz-date=1&q=X-Amz-Signature")


def test_a_destination_that_signs_anew_decides_about_headers_alone() -> None:
    refuse_signed([(b"authorization", SIGNED)], "", signs_anew=True)
    with pytest.raises(BadRequest):
        refuse_signed([], "X-Amz-Signature=00", signs_anew=True)
