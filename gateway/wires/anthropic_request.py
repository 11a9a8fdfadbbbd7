"""Reads a request of the Anthropic wire: the texts of content blocks, tools and settings.

Three kinds of text are treated on their own:

- Prompt-cache markers wander from turn to turn. They belong to the last block, so that they change nothing before it.
- Signatures and encrypted content cross byte for byte if they look like opaque data.
- A thinking block with a signature was written by the provider, with placeholders, and its signature holds for exactly
  that text. It crosses as it is. If the patterns find something private in it, the whole block is left out, since the
  provider refuses a block that was changed. What only the model of names finds there does not count: a provider that
  was told of nobody wrote it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gateway.detection.normalized_text import cover
from gateway.errors import BadRequest
from gateway.http.strict_json import Json
from gateway.models import NAME_MODEL
from gateway.placeholders.grammar import looks_like_placeholder
from gateway.text.fields import (
    MessageField,
    NameField,
    NumberField,
    Place,
    Replace,
    Spans,
    TextField,
    can_identify,
    placed,
)
from gateway.text.leads import lead
from gateway.wires.base import Body
from gateway.wires.reading import (
    SCHEMA_KEYS,
    is_file,
    is_number,
    is_opaque,
    json_field,
    unknown_keys,
    value_fields,
    word,
)

# Keys of the protocol. Any other key could be private and is searched.
_WORDS = """
role content type text source media_type data url file_id title context citations cited_text document_index
document_title start_char_index end_char_index start_page_number end_page_number start_block_index end_block_index
search_result_index encrypted_index encrypted_content encrypted_stdout page_age retrieved_at thinking signature
cache_control ttl scope id name input caller tool_id tool_use_id is_error toolset_name server_name mcp_server_name
tool_name tool_references tool_changes tool definition error_code error_message stdout stderr return_code file_type
start_line num_lines total_lines lines new_lines new_start old_lines old_start is_file_update from to trigger
transformations oversized_image input_schema input_examples defer_loading eager_input_streaming allowed_callers
max_uses max_content_tokens max_characters allowed_domains blocked_domains user_location response_inclusion use_cache
url_sources user_input client_tool_results server_tool_results display_width_px display_height_px display_number
enable_zoom default_config configs caching model messages system tools tool_choice disable_parallel_tool_use max_tokens
metadata stop_sequences stream temperature top_p top_k service_tier speed inference_geo budget_tokens display
block_binding prefix_mismatch_behavior output_config output_format effort task_budget total remaining container skills
skill_id version mcp_servers tool_configuration enabled allowed_tools context_management edits clear_at_least clear_at
clear_tool_inputs exclude_tools keep value instructions pause_after_compaction compaction diagnostics
previous_message_id fallbacks fallback_credit_token betas thread
"""
KEYS = SCHEMA_KEYS | frozenset(_WORDS.split())
# Names that a model or the provider must recognize: a placeholder in them has no brackets.
_NAMES = frozenset(
    """
    name tool_name server_name mcp_server_name toolset_name model id tool_use_id tool_id file_id skill_id
    previous_message_id
    """.split()
)
# Members that can hold data which nobody but the provider reads, in the blocks that the provider writes.
_OPAQUE = frozenset("encrypted_content encrypted_index encrypted_stdout fallback_credit_token".split())
# The words that the API reference allows in a member.
_ALLOWED = {
    "ttl": "5m 1h",
    "scope": "global organization workspace",
    "effort": "low medium high xhigh max",
    "display": "summarized omitted updates",
    "service_tier": "auto standard_only",
    "speed": "standard fast",
    "media_type": "image/jpeg image/png image/gif image/webp application/pdf text/plain",
    "prefix_mismatch_behavior": "error drop_block",
    "response_inclusion": "full excluded",
    "version": "latest",
}
_ALLOWED_WORDS = {member: frozenset(words.split()) for member, words in _ALLOWED.items()}
# The types of tools and edits end with a date.
_TYPE = re.compile(r"[a-z][a-z_]{0,47}\Z|[a-z][a-z_]{0,39}(?:bm25)?_20[2-9]\d[01]\d[0-3]\d\Z")
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-\r\n]*={0,2}\s*\Z")
# Kinds of blocks whose strings are all they hold. Others are attachments.
_TEXT_KINDS = frozenset(
    """
    text thinking redacted_thinking search_result compaction fallback tool_reference tool_addition tool_removal
    mcp_tool_listing
    """.split()
)
_TEXT_ENDINGS = ("tool_use", "tool_result")
_TEXT_SOURCES = frozenset({"text", "content"})


class SignedText:
    """The text of a thinking block with a signature, which is either left as it is or left out with its block.

    Placeholders in it are covered: they are the provider's own words, and hiding them would change the block.
    """

    __slots__ = ("_block", "_content", "place", "texts")

    def __init__(self, content: list[Any], block: Body) -> None:
        text = block["thinking"]
        self.place = Place.MESSAGE
        self._content = content
        self._block = block
        self.texts: Sequence[str] = (cover(text, [(hit.start, hit.end) for hit in looks_like_placeholder(text)]),)

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        if all(span.recognizer == NAME_MODEL for span in spans[0]):
            return
        self._content[:] = [block for block in self._content if block is not self._block]
        if not self._content:
            # The API refuses a message without content.
            self._content.append({"type": "text", "text": "…"})

    def protected(self) -> Sequence[str]:
        is_sent = any(block is self._block for block in self._content)
        return (self._block["thinking"],) if is_sent else ()


class RequestReader:
    """Yields the fields of one request. `attachments` and `late` fill up meanwhile.

    `late` are the fields that belong to the single request: they may differ at every turn.
    """

    def __init__(self) -> None:
        self.attachments = set[str]()
        self.late: list[MessageField] = []
        self._is_providers = False

    def message(self, message: Body, where: str) -> Iterator[MessageField]:
        """Yields the fields of a message. Raises BadRequest."""
        self._is_providers = message["role"] == "assistant"
        yield from self.content(message, "content", where)
        yield from self.members(message, frozenset({"role", "content"}))

    def content(self, container: Body, key: str, where: str, *, is_result: bool = False) -> Iterator[MessageField]:
        """Yields the fields of a string or a list of content blocks. Raises BadRequest."""
        value = container.get(key)
        if isinstance(value, str):
            yield from self._text(container, key, value, is_result=is_result)
            return
        if value is None:
            return
        if not isinstance(value, list):
            raise BadRequest(f"`{where}` must be a string or a list of blocks.", param=where)
        goes_on = False
        for position, block in enumerate(value):
            if not isinstance(block, dict):
                raise BadRequest(f"`{where}[{position}]` must be an object.", param=where)
            is_plain = block.get("type") == "text" and not block.get("citations")
            for field in self._block(value, block, where, is_result=is_result):
                if goes_on and is_plain and isinstance(field, TextField) and field.key == "text":
                    field.goes_on = True
                yield field
            goes_on = is_plain

    def _text(self, container: Body, key: str, value: str, *, is_result: bool) -> Iterator[MessageField]:
        if is_result and value.lstrip()[:1] in {"{", "["}:
            yield json_field(container, key, value)
        else:
            yield from self.fields(container, key, value)

    def _block(self, content: list[Any], block: Body, where: str, *, is_result: bool) -> Iterator[MessageField]:
        fields = self._block_fields(content, block, where, is_result=is_result)
        return placed(Place.TOOL_RESULT, fields) if word(block.get("type")).endswith("_result") else fields

    def _block_fields(self, content: list[Any], block: Body, where: str, *, is_result: bool) -> Iterator[MessageField]:
        kind = block.get("type")
        source = block.get("source")
        is_text = isinstance(kind, str) and (kind in _TEXT_KINDS or kind.endswith(_TEXT_ENDINGS))
        if kind == "document" and isinstance(source, dict) and word(source.get("type")) in _TEXT_SOURCES:
            is_text = True
        if not is_text:
            self.attachments.add(kind if isinstance(kind, str) else "unknown")
        own: frozenset[str] = frozenset()
        is_thought = kind == "thinking" and self._is_providers and not is_result
        if is_thought and is_opaque(block.get("signature")) and isinstance(block.get("thinking"), str):
            own = frozenset({"thinking"})
            if block["thinking"]:
                yield SignedText(content, block)
        elif word(kind) in {"tool_result", "mcp_tool_result"}:
            own = frozenset({"content"})
            yield from self.content(block, "content", f"{where}.content", is_result=True)
        elif kind == "text" and is_result and isinstance(block.get("text"), str):
            own = frozenset({"text"})
            yield from self._text(block, "text", block["text"], is_result=True)
        yield from self.members(block, own)

    def fields(self, container: Any, key: Any, value: Json, under: str = "") -> Iterator[MessageField]:
        """Yields the fields under `container[key]`: strings, numbers and unknown keys.

        `under` is the nearest key: that of the list which has the value, for one.
        """
        is_named = isinstance(key, str)
        under = key if is_named else under
        label = "" if under in KEYS else under
        if isinstance(value, str):
            yield from self._string(container, key, value, under, lead(label))
        elif isinstance(value, dict):
            yield from self.members(value, under=under)
        elif isinstance(value, list):
            for index, member in enumerate(value):
                yield from self.fields(value, index, member, under)
        elif is_number(value) and can_identify(repr(value), is_named=is_named and label != ""):
            yield NumberField(container, key, value, lead(label))

    def _string(self, container: Any, key: Any, value: str, under: str, label: str) -> Iterator[MessageField]:
        if not value or value in _ALLOWED_WORDS.get(under, ()):
            return
        if is_file(value, self.attachments):
            return
        yield NameField(container, key, value) if key in _NAMES else TextField(container, key, value, label)

    def members(self, value: Body, besides: frozenset[str] = frozenset(), *, under: str = "") -> Iterator[MessageField]:
        """Yields the fields of the members of an object, except those named in `besides`, and its unknown keys.

        `under` is the key of the object.
        """
        kind = value.get("type")
        for name, member in value.items():
            if name in besides or (name == "type" and isinstance(member, str) and _TYPE.match(member)):
                continue
            if name == "authorization_token" and member and isinstance(member, str):
                message = "`authorization_token` is a secret, which must not leave; call that server from the client."
                raise BadRequest(message, param="mcp_servers")
            if name == "cache_control" and isinstance(member, dict) and member.get("type") == "ephemeral":
                self.late += self.fields(value, name, member)
            elif name == "input_examples" or (name == "input" and _is_call(kind)):
                yield from value_fields(value, name, member)
            elif isinstance(member, str) and self._is_opaque(kind, name, member):
                continue
            elif name == "source" and isinstance(member, dict) and isinstance(member.get("content"), list):
                yield from self.content(member, "content", "source.content")
                yield from self.members(member, frozenset({"content"}))
            else:
                yield from self.fields(value, name, member)
        yield from unknown_keys(value, KEYS, under=under)

    def _is_opaque(self, kind: object, name: str, value: str) -> bool:
        """Whether a member of a block of some kind is a signature, encrypted, or a file in base64."""
        if name == "data" and kind == "base64" and _BASE64.match(value):
            self.attachments.add("base64")
            return True
        if name in _OPAQUE:
            return isinstance(kind, str) and kind != "text" and is_opaque(value)
        is_thought = (word(kind), name) in {("thinking", "signature"), ("redacted_thinking", "data")}
        return is_thought and self._is_providers and is_opaque(value)


def _is_call(kind: object) -> bool:
    return isinstance(kind, str) and kind.endswith("tool_use")
