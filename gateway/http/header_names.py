"""Lists the request headers that may be sent to an upstream, and checks those that the operator adds."""

import re
import tomllib
from pathlib import Path

# Read here, because commands that need the names and no detection would wait for it to be loaded.
_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_LISTS = {kind: frozenset(map(str.encode, names.split())) for kind, names in _WORDS.items()}
HARMLESS, HOP_BY_HOP = _LISTS["harmless"], _LISTS["hop_by_hop"]
_NAME = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]{1,128}\Z")


def check_header_name(name: str) -> str:
    """Returns the name of a header that may be sent, in lower case. Raises ValueError without repeating it."""
    lowered = name.strip().lower()
    encoded = lowered.encode("utf-8", "surrogatepass")
    if not _NAME.match(lowered):
        raise ValueError("a header's name consists of letters, digits and hyphens, without its value")
    if encoded in HOP_BY_HOP | _LISTS["written"] or encoded.startswith(b"x-svc-"):
        raise ValueError("credentials, cookies and headers of the connection cannot be forwarded")
    return lowered
