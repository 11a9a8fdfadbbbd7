"""Finds the headers that a host requires of clients that have signed in (`gateway/http/header_names.toml`)."""

from dataclasses import dataclass
from functools import lru_cache

from gateway.config.host_patterns import HostMatcher, host_regexes
from gateway.http.header_names import FAMILIES


@dataclass(frozen=True, slots=True)
class HostHeaders:
    """The headers that a host requires: `names` say which client calls, `tokens` are sent as credentials are.

    With `pairs`, a credential may be `name=value;…:MAC`.
    """

    names: frozenset[bytes] = frozenset()
    tokens: frozenset[bytes] = frozenset()
    pairs: bool = False

    @property
    def every(self) -> frozenset[bytes]:
        """All that may be sent to the host."""
        return self.names | self.tokens


_REQUIRED = [
    (HostMatcher(host_regexes(each.hosts)), HostHeaders(each.names, each.tokens, each.pairs)) for each in FAMILIES
]


@lru_cache(maxsize=256)
def required_by(host: str) -> HostHeaders:
    """Returns the headers that a host requires; most require none."""
    return next((headers for matches, headers in _REQUIRED if matches(host, 443)), HostHeaders())
