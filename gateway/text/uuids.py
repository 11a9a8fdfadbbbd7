"""Recognizes UUIDs (RFC 9562 section 4) and hashes, which programs draw as ids of sessions, turns and machines."""

import re

# One of digits alone may be several numbers.
_UUID = re.compile(
    r"(?<![0-9A-Za-z])(?=[0-9-]*[A-Fa-f])[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[1-8][0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}"
    r"-[0-9A-Fa-f]{12}(?![0-9A-Za-z])",
    re.ASCII,
)
_HASH = re.compile(r"(?=[0-9]*[a-f])[0-9a-f]{64}", re.ASCII)
_COUNTER = re.compile(r"(?::|#{8})\d{1,6}\Z", re.ASCII)


def is_drawn(text: str) -> bool:
    """Tells whether a text is a UUID, also with the number that some agents append."""
    return _UUID.fullmatch(_COUNTER.sub("", text)) is not None


def is_hash(text: str) -> bool:
    """Tells whether a text is a SHA-256 hash in hexadecimal."""
    return _HASH.fullmatch(text) is not None


def without_uuids(text: str) -> str:
    """Returns a text with a word in the place of each UUID."""
    return _UUID.sub("id", text)
