"""Lists the request headers that may be sent to an upstream, and checks those that the operator adds."""

import re
import tomllib
from pathlib import Path
from typing import NamedTuple

# Read here, because commands that need the names and no detection would wait for it to be loaded.
_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _names(listed: str) -> frozenset[bytes]:
    return frozenset(map(str.encode, listed.split()))


class HostFamily(NamedTuple):
    """The headers that some hosts require of clients that have signed in. `hosts` are patterns.

    With `pairs`, their credentials may be `name=value;…:MAC`.
    """

    hosts: tuple[str, ...]
    names: frozenset[bytes]
    tokens: frozenset[bytes]
    pairs: bool


FAMILIES = tuple(
    HostFamily(tuple(each["hosts"]), _names(each["names"]), _names(each["tokens"]), each.get("pairs", False))
    for each in _WORDS.pop("families").values()
)
_LISTS = {kind: _names(listed) for kind, listed in _WORDS.items()}
ROUTING, HOP_BY_HOP = _LISTS["routing"], _LISTS["hop_by_hop"]
NEEDED = _LISTS["needed"]
"""Headers without which a call is not sent."""
HARMLESS = _LISTS["harmless"] | ROUTING
TOKENS = frozenset[bytes]().union(*(family.tokens for family in FAMILIES))
_NAME = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]{1,128}\Z")


def check_header_name(name: str) -> str:
    """Returns the name of a header that may be sent, in lower case. Raises ValueError without repeating it."""
    lowered = name.strip().lower()
    encoded = lowered.encode("utf-8", "surrogatepass")
    if not _NAME.match(lowered):
        raise ValueError("a header's name consists of letters, digits and hyphens, without its value")
    if encoded in HOP_BY_HOP | _LISTS["written"] | TOKENS or encoded.startswith(b"x-svc-"):
        raise ValueError("credentials, cookies and headers of the connection cannot be forwarded")
    return lowered
