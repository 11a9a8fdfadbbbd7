"""Matches the hosts that the proxy listener decrypts. It tunnels all other hosts untouched.

A pattern is `host` or `host:port`. `*` matches any part of one label, and a leading `*.` matches one or more whole
labels: `*.openai.azure.com`, `bedrock-runtime.*.amazonaws.com`. Write IPv6 addresses in brackets.
"""

import ipaddress
import re
from collections.abc import Iterable
from pathlib import Path

# Hosts of model providers, one pattern a line.
WELL_KNOWN_HOSTS = tuple(Path(__file__).with_name("well_known_hosts.txt").read_text(encoding="utf-8").split())

_PORT = re.compile(r":(\d{1,5})\Z")
_LABELS = re.compile(r"(?:\*\.)?[a-z0-9_*-]{1,63}(?:\.[a-z0-9_*-]{1,63})*\Z")


def check_host_pattern(pattern: str) -> str:
    """Normalizes a pattern: lower case, no trailing dot. Raises ValueError with a message that does not repeat it."""
    host, port = _split(pattern.strip().lower())
    if port is not None and not 1 <= port <= 65535:
        raise ValueError("a port must be between 1 and 65535")
    if host.startswith("["):
        host = _bracketed(host)
    else:
        host = host.removesuffix(".")
        if not _LABELS.match(host):
            raise ValueError("write a host as host, host:port or *.domain, without scheme and path")
        if "*" in "".join(host.split(".")[-2:]):
            raise ValueError("write out the last two labels of a host: a wider pattern would include unrelated hosts")
    return host if port is None else f"{host}:{port}"


def check_host_name(name: str) -> str:
    """Normalizes a name or an address alone. Raises ValueError with a message that does not repeat it."""
    if "*" in name or _split(name)[1] is not None:
        raise ValueError("write a host as a name alone, without scheme, port and path")
    return check_host_pattern(name)


def host_regexes(patterns: Iterable[str]) -> tuple[str, ...]:
    """Translates normalized patterns to anchored expressions to search for in `host:port`, ignoring case."""
    return tuple(_regex(pattern) for pattern in patterns)


class HostMatcher:
    """Tells whether a host and port match one of the expressions, which can be replaced."""

    def __init__(self, regexes: Iterable[str]) -> None:
        self.use(regexes)

    def use(self, regexes: Iterable[str]) -> None:
        self._compiled = [re.compile(pattern, re.IGNORECASE) for pattern in regexes]

    def __call__(self, host: str, port: int) -> bool:
        return any(pattern.search(f"{host}:{port}") for pattern in self._compiled)


def _bracketed(host: str) -> str:
    try:
        return f"[{ipaddress.IPv6Address(host.removeprefix('[').removesuffix(']')).compressed}]"
    except ValueError:
        # The library's own message quotes the address.
        raise ValueError("an IPv6 address is malformed; check it and write it in brackets") from None


def _regex(pattern: str) -> str:
    host, port = _split(pattern)
    if host.startswith("["):
        # A Host header has an address in brackets; a socket's peer name has it without.
        name = rf"\[?{re.escape(host[1:-1])}\]?"
    else:
        lead, rest = (r"(?:[^.:]+\.)+", host[2:]) if host.startswith("*.") else ("", host)
        # A trailing dot names the same host. Unmatched, it would be a way past the gateway.
        name = lead + re.escape(rest).replace(r"\*", "[^.:]+") + r"\.?"
    return rf"\A{name}:{r'\d+' if port is None else port}\Z"


def _split(pattern: str) -> tuple[str, int | None]:
    found = _PORT.search(pattern)
    return (pattern[: found.start()], int(found[1])) if found else (pattern, None)
