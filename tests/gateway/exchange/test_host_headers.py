"""The headers that hosts require of clients that have signed in are for these hosts alone."""

import pytest

from gateway.exchange.host_headers import HostHeaders, required_by
from gateway.http.header_names import FAMILIES, HARMLESS, HOP_BY_HOP, TOKENS, check_header_name


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("chatgpt.com", b"originator"),
        ("CHATGPT.com", b"originator"),
        ("api.githubcopilot.com", b"copilot-integration-id"),
        ("api.individual.githubcopilot.com", b"editor-version"),
        ("copilot-proxy.githubusercontent.com", b"copilot-language-server-version"),
    ],
)
def test_a_host_requires_its_own(host: str, name: bytes) -> None:
    assert name in required_by(host).names


@pytest.mark.parametrize("host", ["", "api.openai.com", "chatgpt.com.evil.test", "evil-chatgpt.com", "ab.chatgpt.com"])
def test_other_hosts_require_none(host: str) -> None:
    assert required_by(host) == HostHeaders()


def test_a_name_is_of_one_kind() -> None:
    for family in FAMILIES:
        assert not (family.names | family.tokens) & (HARMLESS | HOP_BY_HOP)
        assert not family.names & TOKENS
        assert all(name == name.lower() for name in family.names | family.tokens)


@pytest.mark.parametrize("name", sorted(TOKENS))
def test_tokens_cannot_be_sent_to_every_host(name: bytes) -> None:
    with pytest.raises(ValueError, match="credentials"):
        check_header_name(name.decode())
