"""Placeholders, `[TYPE_XXXXX]`: grammar, session, the URL rule, JSON text. See docs/placeholders.md."""

from gateway.placeholders.grammar import Found, looks_like_placeholder
from gateway.placeholders.json_text import NUMBER, escape_json, number_literals, string_literals
from gateway.placeholders.session import Known, Placeholders, Restored, RestoredTree, conversation_key
from gateway.placeholders.urls import RestoreScope, urls_with_placeholders

__all__ = [
    "NUMBER",
    "Found",
    "Known",
    "Placeholders",
    "RestoreScope",
    "Restored",
    "RestoredTree",
    "conversation_key",
    "escape_json",
    "looks_like_placeholder",
    "number_literals",
    "string_literals",
    "urls_with_placeholders",
]
