"""Mints, finds and restores placeholders such as `[TYPE_XXXXX]`. See docs/placeholders.md.

grammar        the canonical form, the tag, and the spellings a model may give them
matcher        finds a session's placeholders, lenient forms included
session        Placeholders: mint, find, restore
json_text      strings and numbers of a JSON document inside a string
url_policy     keeps values out of destinations the source did not hold (`gateway.destinations`)
stream         restores an answer while it is being written

`gateway.protection` decides which values become placeholders.
"""

from gateway.destinations.rule import RestoreScope
from gateway.placeholders.grammar import Found, looks_like_placeholder
from gateway.placeholders.json_text import (
    NUMBER,
    Literal,
    escape_json,
    number_at,
    number_literals,
    splice,
    string_literals,
)
from gateway.placeholders.matcher import prepare
from gateway.placeholders.session import Known, Placeholders, Restored, conversation_key
from gateway.placeholders.stream import StreamRestorer
from gateway.placeholders.url_policy import urls_with_placeholders

__all__ = [
    "NUMBER",
    "Found",
    "Known",
    "Literal",
    "Placeholders",
    "RestoreScope",
    "Restored",
    "StreamRestorer",
    "conversation_key",
    "escape_json",
    "looks_like_placeholder",
    "number_at",
    "number_literals",
    "prepare",
    "splice",
    "string_literals",
    "urls_with_placeholders",
]
