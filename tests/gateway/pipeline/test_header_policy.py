"""Headers and query: what crosses, what never does, and whose credential goes with it."""

import pytest

from gateway.errors import NotFound
from gateway.pipeline.header_policy import CREDENTIALS, Envelope, clean, forwarded_headers
from gateway.policy import Policy
from gateway.protection.protector import Protector

# Put together, so that no scanner of this repository takes it for a live one.
KEY = b"Bearer " + b"sk-" + b"canary4711" * 4
MAIL = b"anna.schmidt@acme.test"


def cross(
    protector: Protector,
    policy: Policy,
    *fields: tuple[bytes, bytes],
    credential: str | None = None,
    keep: bool = False,
) -> dict[bytes, bytes]:
    envelope = Envelope(fields, credential=credential, credentials=CREDENTIALS if keep else frozenset())
    crossing = forwarded_headers(envelope, protector, policy)
    assert len({name.lower() for name, _ in crossing}) == len(crossing), "no header may cross twice"
    return {name.lower(): value for name, value in crossing}


WRITTEN = {b"content-type": b"application/json", b"accept-encoding": b"identity"}


def test_what_is_always_written(protector: Protector, policy: Policy) -> None:
    assert cross(protector, policy) == WRITTEN


@pytest.mark.parametrize(
    "name",
    """Host Connection Content-Length Transfer-Encoding Content-Encoding Accept-Encoding Content-Type X-Forwarded-For
    Forwarded Via X-Real-IP CF-Connecting-IP Referer Origin From Upgrade X-SVC-Key x-svc-anything Proxy-Authorization
    TE Expect""".split(),
)
def test_what_never_crosses(protector: Protector, policy: Policy, name: str) -> None:
    assert cross(protector, policy, (name.encode(), b"something"), keep=True) == WRITTEN


def test_a_harmless_header_crosses_as_it_is(protector: Protector, policy: Policy) -> None:
    crossing = cross(protector, policy, (b"User-Agent", b"tool/1.0 caf\xe9"), (b"OpenAI-Beta", b"assistants=v2"))
    assert crossing == {**WRITTEN, b"user-agent": b"tool/1.0 caf\xe9", b"openai-beta": b"assistants=v2"}


@pytest.mark.parametrize("name", [b"User-Agent", b"X-User", b"OpenAI-Organization"])
def test_a_header_with_private_text_stays(protector: Protector, policy: Policy, name: bytes) -> None:
    assert cross(protector, policy, (name, b"tool (" + MAIL + b")")) == WRITTEN


@pytest.mark.parametrize(
    "name",
    """X-Forwarded-User X-Auth-Request-User Remote-User X-Remote-User X-Webauth-User X-User-Id X-Session-Token
    X-Auth-Token X-Password X-Amz-Security-Token X-Csrf-Token X-Imei X-Hostname X-Geo X-Client-Cert-Subject
    X-Ms-Client-Principal-Name X-Goog-Authenticated-User-Id X-Forwarded-Email X-Amzn-Oidc-Identity X-Client-Ip
    """.split(),
)
def test_what_tells_who_somebody_is_never_crosses(protector: Protector, policy: Policy, name: str) -> None:
    assert cross(protector, policy, (name.encode(), b"aschmidt"), keep=True) == WRITTEN


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"User-Agent", b"OpenAI/Python 1.99.1"),
        (b"OpenAI-Organization", b"org-8Jx2mQz7LpVw41Tk"),
        (b"OpenAI-Project", b"proj_8Jx2mQz7LpVw41Tk"),
        (b"X-Stainless-Runtime-Version", b"3.13.0"),
        (b"X-Stainless-Retry-Count", b"0"),
        (b"Anthropic-Version", b"2023-06-01"),
        (b"Idempotency-Key", b"stainless-python-retry-2c3f5a1e-7b0d-4f7e-9d0a-6a1f0c9b8e7d"),
        (b"X-Goog-User-Project", b"billing-project"),
        (b"X-Title", b"Release notes"),
        (b"X-Request-Id", b"2c3f5a1e-7b0d-4f7e-9d0a-6a1f0c9b8e7d"),
    ],
)
def test_what_clients_of_providers_send_crosses(
    protector: Protector, policy: Policy, name: bytes, value: bytes
) -> None:
    assert cross(protector, policy, (name, value)) == {**WRITTEN, name.lower(): value}


@pytest.mark.parametrize(
    ("name", "value"), [(b"X-SSN", b"536482917"), (b"X-Passport-Number", b"C01X00T47"), (b"Kundennummer", b"88172635")]
)
def test_a_header_is_searched_after_its_name(protector: Protector, policy: Policy, name: bytes, value: bytes) -> None:
    assert cross(protector, policy, (name, value)) == WRITTEN


def test_what_is_hidden_in_the_body_keeps_a_header_back(protector: Protector, policy: Policy) -> None:
    envelope = Envelope([(b"X-Title", b"Letter for Kestrel"), (b"X-Note", b"none")])
    crossing = forwarded_headers(envelope, protector, policy, hidden=["kestrel", "ab"])
    assert {name for name, _ in crossing} == {b"X-Note", *WRITTEN}


@pytest.mark.parametrize("name", [b"Authorization", b"X-API-Key", b"Api-Key", b"Cookie"])
def test_the_clients_credentials_cross_only_where_they_are_the_upstreams(
    protector: Protector, policy: Policy, name: bytes
) -> None:
    assert cross(protector, policy, (name, KEY)) == WRITTEN
    assert cross(protector, policy, (name, KEY), keep=True) == {**WRITTEN, name.lower(): KEY}


def test_the_upstreams_own_credential_takes_the_place_of_the_clients(protector: Protector, policy: Policy) -> None:
    crossing = cross(protector, policy, (b"authorization", KEY), credential="theirs")
    assert crossing == {**WRITTEN, b"authorization": b"Bearer theirs"}


@pytest.mark.parametrize(
    ("query", "is_clean"),
    [
        ("", True),
        ("limit=20&after=model-1", True),
        (f"who={MAIL.decode()}", False),
        ("who=anna%40acme.test", False),
        ("who=anna%2540acme.test", False),
    ],
)
def test_a_query_is_clean_or_not(protector: Protector, policy: Policy, query: str, is_clean: bool) -> None:
    assert clean(query, protector, policy) is is_clean


def test_a_call_with_a_private_query_goes_nowhere(protector: Protector, policy: Policy) -> None:
    with pytest.raises(NotFound) as refused:
        forwarded_headers(Envelope((), "who=anna%2540acme.test"), protector, policy)
    assert refused.value.code == "unknown_route"
    assert "anna" not in str(refused.value)
