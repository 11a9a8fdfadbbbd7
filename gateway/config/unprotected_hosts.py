"""Lists known hosts of models that the proxy cannot protect, and finds them by name (`unprotected_hosts.toml`)."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gateway.config.host_patterns import check_host_pattern, host_regexes


@dataclass(frozen=True, slots=True)
class UnprotectedHost:
    """One entry of the list: the `patterns` of its hosts, the `clients` that use them, and what to do `instead`."""

    patterns: tuple[str, ...]
    clients: str
    instead: str


class UnprotectedHosts:
    """Finds the entry of a host in one search, since every connection through the proxy is looked up."""

    def __init__(self, entries: Iterable[UnprotectedHost]) -> None:
        self._entries = tuple(entries)
        groups = (f"({'|'.join(host_regexes(entry.patterns))})" for entry in self._entries)
        # Without entries, nothing matches.
        self._pattern = re.compile("|".join(groups) or r"(?!)", re.IGNORECASE)

    def find(self, host: str, port: int) -> UnprotectedHost | None:
        """Returns the entry of a host; None if the list does not have it."""
        found = self._pattern.search(f"{host}:{port}")
        return self._entries[found.lastindex - 1] if found and found.lastindex else None


def hosts_to_refuse(treatment: str) -> UnprotectedHosts:
    """Returns the hosts to refuse under a value of the setting `unprotected_hosts`."""
    return UnprotectedHosts(read_unprotected_hosts() if treatment == "refuse" else ())


def read_unprotected_hosts() -> tuple[UnprotectedHost, ...]:
    """Returns the list."""
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["hosts"]
    return tuple(
        UnprotectedHost(tuple(map(check_host_pattern, row["patterns"])), row["clients"], row["instead"]) for row in rows
    )
