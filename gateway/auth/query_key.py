"""Takes the key that clients of Gemini's API send as the query parameter `key`, so that it can move into a header.

A URL is what logs, HAR files and mitmweb show. Google's hosts accept the same key as `x-goog-api-key`.
"""

import re
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

from gateway.errors import BadRequest
from gateway.http.types import Field

HEADER = b"x-goog-api-key"

_NAME = b"key"
_HOST = re.compile(
    r"(?:generativelanguage|(?:[a-z0-9-]+-)?aiplatform|aiplatform\.[a-z0-9-]+\.rep)\.googleapis\.com", re.IGNORECASE
)
_VISIBLE = re.compile(rb"[\x21-\x7e]*")


def is_google(host: str) -> bool:
    """Tells whether a host is one of Google's that serve models: those of the Gemini API and of Vertex AI."""
    return _HOST.fullmatch(host) is not None


def take_keys(query: str) -> tuple[str, list[bytes]]:
    """Returns the query without the parameter `key`, and its decoded values. All other bytes stay as they are."""
    if "key=" not in query and "%" not in query:
        return query, []
    keys: list[bytes] = []
    rest: list[str] = []
    for part in query.split("&"):
        name, equals, value = part.partition("=")
        if equals and _decoded(name) == _NAME:
            keys.append(_decoded(value))
        else:
            rest.append(part)
    return "&".join(rest), keys


def with_key(fields: Sequence[Field], keys: Sequence[bytes]) -> Sequence[Field]:
    """Returns the header fields with the key from the query.

    Raises BadRequest for a repeated key, for one that differs from the header's, and for what cannot be a key.
    """
    if not keys:
        return fields
    if len(keys) > 1:
        raise BadRequest("The query parameter `key` was sent more than once; send it once.", param="key")
    (key,) = keys
    if _VISIBLE.fullmatch(key) is None:
        raise BadRequest("The query parameter `key` is not an API key; send the key alone.", param="key")
    sent = [value.strip() for name, value in fields if name.lower() == HEADER]
    if any(value != key for value in sent):
        message = "The query parameter `key` and the header `x-goog-api-key` hold different keys; send one of them."
        raise BadRequest(message, param="key")
    return fields if sent or not key else [*fields, (HEADER, key)]


def _decoded(part: str) -> bytes:
    return unquote_to_bytes(part.replace("+", " ").encode("utf-8", "surrogateescape"))
