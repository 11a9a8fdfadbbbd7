"""A digest tells credentials apart, is the same wherever a client puts it, and gives nothing away."""

import hmac
from hashlib import sha256

import pytest

from gateway.auth.credential_digests import CredentialDigests

SECRET = b"sk-of-the-provider"
DIGESTS = CredentialDigests(b"k" * 32)


@pytest.mark.parametrize(
    "given",
    [
        {b"authorization": b"Bearer " + SECRET},
        {b"authorization": b"  bearer  " + SECRET + b" "},
        {b"authorization": b"", b"x-api-key": SECRET},
        {b"authorization": b"AWS4-HMAC-SHA256 Credential=a, Signature=b", b"api-key": SECRET},
        {b"x-goog-api-key": SECRET, b"cookie": b"other"},
    ],
)
def test_it_is_the_same_wherever_the_credential_is(given: dict[bytes, bytes]) -> None:
    assert DIGESTS.of_call(given) == DIGESTS.digest(SECRET)


def test_calls_without_a_credential_have_none() -> None:
    assert DIGESTS.of_call({b"cookie": SECRET, b"x-api-key": b" "}) == DIGESTS.digest(b"") == ""


def test_it_depends_on_the_installation_key_alone_and_confirms_no_guess_without_it() -> None:
    digest = DIGESTS.digest(b"1234")
    assert digest == CredentialDigests(b"k" * 32).digest(b"1234")
    unkeyed = {sha256(b"1234").hexdigest()[:16], hmac.digest(b"k" * 32, b"1234", "sha256").hex()[:16]}
    others = {CredentialDigests(b"K" * 32).digest(b"1234"), DIGESTS.digest(b"1235")}
    assert digest not in others | {f"cred_{each}" for each in unkeyed}
