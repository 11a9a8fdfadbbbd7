"""Names what the gateway does not search for private text, for `doctor`."""

from collections.abc import Iterator
from dataclasses import dataclass

from gateway.config.host_patterns import host_matcher
from gateway.config.settings import Settings

# Hosts that agents call instead of a provider's API when they are signed in with an account.
ACCOUNT_HOSTS = {
    "chatgpt.com": "codex, signed in with ChatGPT",
    "cloudcode-pa.googleapis.com": "gemini-cli, signed in with Google",
}


@dataclass(frozen=True, slots=True)
class Unscanned:
    """Something that is not searched, and what happens to it."""

    what: str
    happens: str


def unscanned(settings: Settings) -> Iterator[Unscanned]:
    """Yields everything that is not searched under these settings."""
    hosts = len({*settings.intercept_hosts, *settings.intercept_also})
    yield Unscanned(
        f"hosts other than the {hosts} patterns of intercept_hosts", "pass through the proxy as an untouched tunnel"
    )
    intercepted = host_matcher(settings.intercept_regexes)
    for host, agent in ACCOUNT_HOSTS.items():
        if intercepted(host, 443):
            happens = "intercepted; calls that no wire knows are refused or protected as JSON"
        else:
            happens = "passes untouched: use the agent with an API key"
        yield Unscanned(f"{host} ({agent})", happens)
    yield Unscanned("programs that do not use the proxy or a base URL", "not seen at all")
    yield Unscanned("WebSockets", "refused with 426 on intercepted hosts; elsewhere they pass in the tunnel")
    yield Unscanned("files, images, audio", 'refused, unless a policy has attachments = "pass"')
    yield Unscanned("encrypted reasoning and signatures", "cross byte for byte: only the provider can read them")
    if settings.detection == "patterns":
        yield Unscanned("names that only the sentence gives away", 'not detected: detection is "patterns"')
