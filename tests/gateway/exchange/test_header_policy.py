"""Headers and query: which are sent, which never are, and whose credential is sent with them."""

from base64 import b64encode
from urllib.parse import quote

import pytest

from gateway.auth.credentials import PROVIDER_CREDENTIALS
from gateway.errors import BadRequest
from gateway.exchange.destination import Destination
from gateway.exchange.header_policy import HeadSearch
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from tests.tables import table

CASES = table(__file__)

# Put together, so that no scanner of this repository takes it for a live one.
KEY = b"Bearer " + b"sk-" + b"canary4711" * 4
MAIL = b"anna.schmidt@acme.test"
CARD = "4539578763621486"


def cross(
    protector: Protector,
    policy: Policy,
    *fields: tuple[bytes, bytes],
    credential: tuple[bytes, bytes] | None = None,
    keep: bool = False,
    forward: tuple[bytes, ...] = (),
    url: str = "",
    hidden: tuple[str, ...] = (),
) -> dict[bytes, bytes]:
    credentials = PROVIDER_CREDENTIALS if keep else frozenset()
    destination = Destination(
        "", url=url, fields=fields, credential=credential, credentials=credentials, forward=frozenset(forward)
    )
    crossing = HeadSearch(policy, protector, protector).forwarded_headers(destination, hidden)
    assert len({name.lower() for name, _ in crossing}) == len(crossing), "no header may cross twice"
    return {name.lower(): value for name, value in crossing}


WRITTEN = {b"content-type": b"application/json", b"accept-encoding": b"identity"}


def test_headers_that_are_always_written(protector: Protector, policy: Policy) -> None:
    assert cross(protector, policy) == WRITTEN


@pytest.mark.parametrize("name", CASES["headers_that_are_never_sent"])
def test_headers_that_are_never_sent(protector: Protector, policy: Policy, name: str) -> None:
    assert cross(protector, policy, (name.encode(), b"something"), keep=True) == WRITTEN


def test_a_harmless_header_is_sent_unchanged(protector: Protector, policy: Policy) -> None:
    crossing = cross(protector, policy, (b"User-Agent", b"tool/1.0 caf\xe9"), (b"OpenAI-Beta", b"assistants=v2"))
    assert crossing == {**WRITTEN, b"user-agent": b"tool/1.0 caf\xe9", b"openai-beta": b"assistants=v2"}


def dressed(value: str) -> dict[str, bytes]:
    """Returns the forms in which a private value may be in a header."""
    return {
        "plain": value.encode(),
        "hyphens": "-".join(value[at : at + 4] for at in range(0, 16, 4)).encode(),
        "dots": ".".join(value[at : at + 4] for at in range(0, 16, 4)).encode(),
        "every character apart": ".".join(value).encode(),
        "zero-width": "\u200b".join(value).encode(),
        "soft hyphen in Latin-1": b"\xad".join(char.encode() for char in value),
        "full-width": "".join(chr(ord(char) + 0xFEE0) for char in value).encode(),
        "percent-encoded": "".join(f"%{ord(char):02x}" for char in value).encode(),
        "percent-encoded twice": quote("".join(f"%{ord(char):02x}" for char in value)).encode(),
        "base64": b64encode(f"card {value}".encode()),
        "hexadecimal": f"card {value}".encode().hex().encode(),
        "JSON escapes": "".join(f"\\u{ord(char):04x}" for char in value).encode(),
        "HTML entities": "".join(f"&#{ord(char)};" for char in value).encode(),
        "in an identifier": f"card_{value}".encode(),
        "like a placeholder": f"[CARD_{value}]".encode(),
    }


@pytest.mark.parametrize("name", [b"User-Agent", b"OpenAI-Organization", b"X-Request-Id", b"X-Mine"])
@pytest.mark.parametrize("dress", dressed(CARD))
def test_a_header_is_searched_in_every_encoding(protector: Protector, policy: Policy, name: bytes, dress: str) -> None:
    assert cross(protector, policy, (name, dressed(CARD)[dress]), forward=(b"x-mine",)) == WRITTEN


@pytest.mark.parametrize("dress", dressed("Zzyzxqwv47110815"))
def test_values_of_the_body_are_searched_in_every_encoding(protector: Protector, policy: Policy, dress: str) -> None:
    destination = Destination("", fields=[(b"X-Title", dressed("Zzyzxqwv47110815")[dress])])
    crossing = HeadSearch(policy, protector, protector).forwarded_headers(destination, hidden=["zzyzxqwv47110815"])
    assert dict(crossing) == WRITTEN


@pytest.mark.parametrize("sign", [b"\r", b"\n", b"\x00", b"\x0b", b"\x1b", b"\x7f"])
def test_a_header_with_a_control_character_stays(protector: Protector, policy: Policy, sign: bytes) -> None:
    assert cross(protector, policy, (b"User-Agent", b"tool" + sign + b"x-other: 1")) == WRITTEN


@pytest.mark.parametrize("name", [b"User-Agent", b"X-Title", b"OpenAI-Organization"])
def test_a_header_with_private_text_stays(protector: Protector, policy: Policy, name: bytes) -> None:
    assert cross(protector, policy, (name, b"tool (" + MAIL + b")")) == WRITTEN


@pytest.mark.parametrize(("name", "value"), CASES["headers_of_providers_clients_are_sent"].items())
def test_headers_of_providers_clients_are_sent(protector: Protector, policy: Policy, name: str, value: str) -> None:
    sent = cross(protector, policy, (name.encode(), value.encode()))
    assert sent == {**WRITTEN, name.lower().encode(): value.encode()}


@pytest.mark.parametrize(
    ("name", "value"), [(b"X-SSN", b"536482917"), (b"X-Passport-Number", b"C01X00T47"), (b"Kundennummer", b"88172635")]
)
def test_a_header_is_searched_after_its_name(protector: Protector, policy: Policy, name: bytes, value: bytes) -> None:
    assert cross(protector, policy, (name, value), forward=(name.lower(),)) == WRITTEN
    assert cross(protector, policy, (name, b"none"), forward=(name.lower(),)) == {**WRITTEN, name.lower(): b"none"}


def test_a_call_without_its_guardrail_is_not_sent(protector: Protector, policy: Policy) -> None:
    name, value = b"X-Amzn-Bedrock-GuardrailIdentifier", b"arn:aws:bedrock:us-east-1:536482917001:guardrail/abc123"
    assert cross(protector, policy, (name, value))[name.lower()] == value
    with pytest.raises(BadRequest) as raised:
        cross(protector, policy, (name, value), hidden=("536482917001",))
    assert (raised.value.param, "5364" in raised.value.message) == ("x-amzn-bedrock-guardrailidentifier", False)


CHATGPT, COPILOT = "https://chatgpt.com/backend-api", "https://api.business.githubcopilot.com"
ACCOUNT = b"0b9c3c1e-6d9a-4f4e-8f27-2f3f6f0d9a51"
REQUIRED = [
    (CHATGPT, b"ChatGPT-Account-Id", ACCOUNT),
    (CHATGPT, b"chatgpt-account-id", b"user-8Jx2mQz7LpVw41Tk"),
    (CHATGPT, b"x-codex-turn-state", b"gAAAAABmade7up9Xq2Lm" * 4),
    (CHATGPT, b"originator", b"codex_cli_rs"),
    (CHATGPT, b"x-codex-routing-hint", b"model=gpt-5"),
    (CHATGPT, b"x-codex-window-id", ACCOUNT + b":0"),
    (COPILOT, b"x-client-machine-id", ACCOUNT),
    (COPILOT, b"editor-version", b"vscode/1.99.0"),
    (COPILOT, b"copilot-integration-id", b"copilot-developer-cli"),
]


@pytest.mark.parametrize(("url", "name", "value"), REQUIRED)
def test_a_host_gets_what_it_requires_and_no_other_host(
    protector: Protector, policy: Policy, url: str, name: bytes, value: bytes
) -> None:
    """Even if the body has the same id, which is hidden there after a word such as `account`."""
    hidden = (ACCOUNT.decode(),)
    sent = cross(protector, policy, (name, value), keep=True, url=url, hidden=hidden)
    assert sent == {**WRITTEN, name.lower(): value}
    other = COPILOT if url == CHATGPT else CHATGPT
    for elsewhere in (other, "https://api.openai.com/v1", "https://chatgpt.com.evil.test", ""):
        assert cross(protector, policy, (name, value), keep=True, url=elsewhere) == WRITTEN


@pytest.mark.parametrize("dress", dressed(CARD))
@pytest.mark.parametrize(("url", "name", "_"), REQUIRED)
def test_a_required_header_with_private_text_stays(
    protector: Protector, policy: Policy, url: str, name: bytes, _: bytes, dress: str
) -> None:
    for value in (dressed(CARD)[dress], MAIL, b"Zebulon <" + MAIL + b">"):
        assert cross(protector, policy, (name, value), keep=True, url=url) == WRITTEN


def test_the_gateways_own_credential_goes_without_the_clients_tokens(protector: Protector, policy: Policy) -> None:
    given = (b"chatgpt-account-id", ACCOUNT)
    sent = cross(protector, policy, given, credential=(b"authorization", b"Bearer theirs"), url=CHATGPT)
    assert sent == {**WRITTEN, b"authorization": b"Bearer theirs"}


@pytest.mark.parametrize("name", [b"session-id", b"x-client-request-id", b"x-claude-code-session-id"])
def test_the_id_of_a_session_is_sent_though_the_body_hides_it(
    protector: Protector, policy: Policy, name: bytes
) -> None:
    hidden = (ACCOUNT.decode(), "kestrel")
    assert cross(protector, policy, (name, ACCOUNT), hidden=hidden) == {**WRITTEN, name: ACCOUNT}
    assert cross(protector, policy, (name, ACCOUNT + b" kestrel"), hidden=hidden) == WRITTEN
    # A header that says which program calls has no such id.
    assert cross(protector, policy, (b"user-agent", ACCOUNT), hidden=hidden) == WRITTEN


def test_an_id_after_a_word_for_numbers_is_sent(protector: Protector, policy: Policy) -> None:
    sent = cross(protector, policy, (b"x-account-id", ACCOUNT), forward=(b"x-account-id",))
    assert sent == {**WRITTEN, b"x-account-id": ACCOUNT}


def test_a_header_with_a_hidden_value_of_the_body_stays(protector: Protector, policy: Policy) -> None:
    destination = Destination("", fields=[(b"X-Title", b"Letter for Kestrel"), (b"X-Request-Id", b"none")])
    crossing = HeadSearch(policy, protector, protector).forwarded_headers(destination, hidden=["kestrel", "ab"])
    assert {name for name, _ in crossing} == {b"X-Request-Id", *WRITTEN}


@pytest.mark.parametrize("name", [b"Authorization", b"X-API-Key", b"Api-Key", b"X-Goog-Api-Key"])
def test_the_clients_credentials_are_sent_only_where_they_are_the_upstreams(
    protector: Protector, policy: Policy, name: bytes
) -> None:
    assert cross(protector, policy, (name, KEY)) == WRITTEN
    assert cross(protector, policy, (name, KEY), keep=True) == {**WRITTEN, name.lower(): KEY}


PAIRS = b"Bearer tid=0a1b2c;exp=1785240000;sku=copilot_business;ip=203.0.113.7;asn=AS3320;chat=1:" + b"ab12" * 16


@pytest.mark.parametrize(
    ("url", "value", "is_sent"),
    [
        (COPILOT, PAIRS, True),
        ("https://copilot-proxy.githubusercontent.com/v1", PAIRS, True),
        (CHATGPT, PAIRS, False),
        ("https://api.openai.com/v1", PAIRS, False),
        (COPILOT, PAIRS.replace(b"copilot_business", b"93.184.216.34"), False),
        (COPILOT, PAIRS.replace(b"chat=1", b"tel=" + CARD.encode()), False),
        (COPILOT, PAIRS.replace(b"0a1b2c", CARD.encode()), False),
        (COPILOT, PAIRS[:-1], False),
        (COPILOT, PAIRS + b"; " + MAIL, False),
    ],
)
def test_tokens_of_pairs_are_sent_to_the_hosts_that_know_them(
    protector: Protector, policy: Policy, url: str, value: bytes, is_sent: bool
) -> None:
    if is_sent:
        assert cross(protector, policy, (b"Authorization", value), keep=True, url=url)[b"authorization"] == value
    else:
        with pytest.raises(BadRequest, match="other than a credential"):
            cross(protector, policy, (b"Authorization", value), keep=True, url=url)


def test_two_different_credentials_are_not_sent(protector: Protector, policy: Policy) -> None:
    """One of them may be another provider's. Some clients repeat theirs in the header of another protocol."""
    other = b"sk-" + b"another4711" * 4
    with pytest.raises(BadRequest) as refused:
        cross(protector, policy, (b"Authorization", KEY), (b"X-API-Key", other), keep=True)
    assert refused.value.message == "Two different credentials were sent; send only the one that the provider reads."
    same = cross(protector, policy, (b"Authorization", KEY), (b"Api-Key", KEY.removeprefix(b"Bearer ")), keep=True)
    assert same == {**WRITTEN, b"authorization": KEY, b"api-key": KEY.removeprefix(b"Bearer ")}
    assert cross(protector, policy, (b"Authorization", KEY), (b"X-API-Key", other)) == WRITTEN


NO_CREDENTIALS = {
    "a card": CARD.encode(),
    "a card after a scheme": f"Bearer {CARD}".encode(),
    "a card in base64": b"Basic " + b64encode(f"me:{CARD}".encode()),
    "a card in an identifier": f"key_{CARD}".encode(),
    "an address": MAIL,
    "an address beside a key": KEY + b" " + MAIL,
    "words": b"Zebulon Quagmire",
    "a sentence": b"Bearer of bad news",
    "UTF-8": "schlüssel".encode(),
    "a control character": KEY + b"\x00",
    "a bare carriage return": KEY + b"\rx-other: 1",
    "nothing": b"",
    "quotes": b'Bearer "' + KEY[7:] + b'"',
}


@pytest.mark.parametrize("name", [b"Authorization", b"X-Goog-Api-Key"])
@pytest.mark.parametrize("value", NO_CREDENTIALS)
def test_a_value_that_is_no_credential_is_not_sent_as_one(
    protector: Protector, policy: Policy, name: bytes, value: str
) -> None:
    with pytest.raises(BadRequest) as refused:
        cross(protector, policy, (name, NO_CREDENTIALS[value]), keep=True)
    assert refused.value.param == name.decode().lower()
    assert refused.value.message == (
        f"The header `{name.decode().lower()}` holds something other than a credential; send the credential alone."
    )


@pytest.mark.parametrize(
    "value",
    [
        b"Bearer key-of-the-provider",
        b"ollama",
        b"Bearer EMPTY",
        b"Basic " + b64encode(b"gateway:" + b"canary4711" * 3),
        b"Bearer " + b"eyJhbGciOiJIUzI1NiJ9." + b64encode(b'{"sub":"canary12"}') + b"." + b"canary4711" * 3,
        b"0123456789abcdef" * 2,
    ],
)
def test_a_credential_of_any_kind_is_sent(protector: Protector, policy: Policy, value: bytes) -> None:
    assert cross(protector, policy, (b"authorization", value), keep=True)[b"authorization"] == value


def test_the_upstreams_own_credential_takes_the_place_of_the_clients(protector: Protector, policy: Policy) -> None:
    crossing = cross(protector, policy, (b"authorization", KEY), credential=(b"authorization", b"Bearer theirs"))
    assert crossing == {**WRITTEN, b"authorization": b"Bearer theirs"}


QUERIES: dict[str, bool] = CASES["queries"] | {f"x={quote(value)}": False for value in dressed(CARD).values()}


@pytest.mark.parametrize(("query", "is_clean"), QUERIES.items())
def test_a_query_is_clean_or_not(protector: Protector, policy: Policy, query: str, is_clean: bool) -> None:
    assert HeadSearch(policy, protector, protector).is_clean(query, protector) is is_clean


def test_a_call_with_a_private_query_goes_nowhere(protector: Protector, policy: Policy) -> None:
    with pytest.raises(BadRequest) as refused:
        HeadSearch(policy, protector, protector).forwarded_headers(Destination("", query="who=anna%2540acme.test"))
    assert refused.value.param == "query"
    assert "anna" not in str(refused.value)


@pytest.mark.parametrize("path", CASES["the_paths_of_providers_are_sent"])
def test_the_paths_of_providers_are_sent(protector: Protector, policy: Policy, path: str) -> None:
    HeadSearch(policy, protector, protector).forwarded_headers(Destination("", path=path))


@pytest.mark.parametrize("value", [value for value in dressed(CARD).values() if value.isascii()])
@pytest.mark.parametrize("path", ["/openai/deployments/{}/chat/completions", "/v1/models/{}", "/{}/chat/completions"])
def test_a_path_with_private_text_goes_nowhere(protector: Protector, policy: Policy, path: str, value: bytes) -> None:
    with pytest.raises(BadRequest) as refused:
        HeadSearch(policy, protector, protector).forwarded_headers(Destination("", path=path.format(value.decode())))
    assert refused.value.param == "path"
    assert CARD not in str(refused.value)


@pytest.mark.parametrize("path", ["/v1/models/4539/5787/6362/1486", "/openai/4539/5787/6362/1486/chat/completions"])
def test_a_number_that_is_split_over_a_path_goes_nowhere(protector: Protector, policy: Policy, path: str) -> None:
    with pytest.raises(BadRequest):
        HeadSearch(policy, protector, protector).forwarded_headers(Destination("", path=path))


@pytest.mark.parametrize("place", ["path", "query"])
def test_an_address_that_repeats_what_is_hidden_in_the_body_goes_nowhere(
    protector: Protector, policy: Policy, place: str
) -> None:
    destination = Destination("", **{place: "/openai/deployments/kestrel-project/chat/completions"})  # type: ignore[arg-type]
    with pytest.raises(BadRequest):
        HeadSearch(policy, protector, protector).forwarded_headers(destination, hidden=["Kestrel"])
