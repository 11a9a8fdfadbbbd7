"""Names what the gateway does not search for private text, for `doctor`."""

from collections.abc import Iterator
from dataclasses import dataclass

from gateway.config.host_patterns import host_matcher
from gateway.config.settings import Settings
from gateway.config.unprotected_hosts import read_unprotected_hosts


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
    for entry in read_unprotected_hosts():
        host = entry.patterns[0]
        if intercepted(host, 443):
            happens = "intercepted; calls that no wire knows are refused or protected as JSON"
        elif settings.unprotected_hosts == "refuse":
            happens = f"refused: {entry.instead}"
        else:
            happens = f'passes untouched, as unprotected_hosts is "tunnel": {entry.instead}'
        more = f" and {len(entry.patterns) - 1} more" if len(entry.patterns) > 1 else ""
        yield Unscanned(f"{host}{more} ({entry.clients})", happens)
    yield Unscanned("programs that do not use the proxy or a base URL", "not seen at all")
    yield Unscanned("WebSockets", "refused with 426 on intercepted hosts; elsewhere they pass in the tunnel")
    yield Unscanned("files, images, audio", 'refused, unless a policy has attachments = "pass"')
    yield Unscanned("encrypted reasoning and signatures", "cross byte for byte: only the provider can read them")
    if settings.detection == "patterns":
        yield Unscanned("names that only the sentence gives away", 'not detected: detection is "patterns"')
