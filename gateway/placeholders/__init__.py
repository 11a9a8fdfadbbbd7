"""Placeholders, `[TYPE_XXXXX]`: what protected text says instead of a value. See docs/placeholders.md.

grammar        the shape, the tag, and how a model may spell both
finder         finds a session's placeholders, lenient forms included   (compiled: what RE2 does for it)
session        Placeholders: mint, find, restore
json_text      strings and numbers of a JSON document inside a string
urls           the URL rule   (regions, plain_urls, brackets, attributes: where destinations are)
stream         restoring while the answer is still being written
"""

from gateway.placeholders.destinations import RestoreScope
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
from gateway.placeholders.patterns import prepare
from gateway.placeholders.session import Known, Opening, Placeholders, Restored, RestoredTree, conversation_key
from gateway.placeholders.stream import StreamRestorer
from gateway.placeholders.url_policy import urls_with_placeholders

__all__ = [
    "NUMBER",
    "Found",
    "Known",
    "Literal",
    "Opening",
    "Placeholders",
    "RestoreScope",
    "Restored",
    "RestoredTree",
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
