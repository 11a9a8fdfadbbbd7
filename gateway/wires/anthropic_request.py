"""Reads a request of the Anthropic wire: the texts of content blocks, tools and settings.

Three kinds of text are treated on their own:

- Prompt-cache markers move from turn to turn. They belong to the last block, so that they change nothing before it.
- Signatures and encrypted content are sent byte for byte if they look like opaque data.
- A thinking block with a signature was written by the provider, with placeholders, and its signature holds for exactly
  that text. It is sent as it is. If the patterns find something private in it, the whole block is left out, since the
  provider refuses a block that was changed. What only the model of names finds there does not count: the provider
  wrote it and was told no name.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.detection.normalized_text import cover
from gateway.errors import BadRequest
from gateway.http.strict_json import Json, is_json, parse_object
from gateway.models import NAME_MODEL
from gateway.placeholders.grammar import looks_like_placeholder
from gateway.text.fields import MessageField, NameField, Place, Replace, Spans, TextField, placed
from gateway.text.leads import lead
from gateway.text.uuids import is_drawn, is_hash
from gateway.wires.attached_files import source_of_anthropic
from gateway.wires.base import Body
from gateway.wires.members import text_at
from gateway.wires.reading import (
    SCHEMA_KEYS,
    FieldReader,
    ValueReader,
    continuing,
    is_file,
    is_opaque,
    json_field,
    kind_of,
    unknown_keys,
    word,
)

_WORDS = word_lists(__file__)
_ALLOWED = word_lists(__file__, "allowed")
_KEYS = SCHEMA_KEYS | _WORDS["keys"]
# The types of tools and edits end with a date.
_TYPE = re.compile(r"[a-z][a-z_]{0,47}\Z|[a-z][a-z_]{0,39}(?:bm25)?_20[2-9]\d[01]\d[0-3]\d\Z")
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-\r\n]*={0,2}\s*\Z")
# Clouds take the version of the API from the body. Alone, it reads like a date.
_VERSION = re.compile(r"(?:[a-z]+-)?20[2-9]\d-[01]\d-[0-3]\d\Z")
# Claude Code names its device, account and session in `user_id`: in a JSON document, or divided by words.
_USER_IDS = frozenset({"device_id", "account_uuid", "session_id"})
_BEFORE_ID = re.compile(r"\Auser_|_account_|_session_")
_TEXT_ENDINGS = ("tool_use", "tool_result")
_TEXT_SOURCES = frozenset({"text", "content"})


class SignedText:
    """The text of a thinking block with a signature, which is either left as it is or left out with its block.

    It is `holder[key]`. Placeholders in it are covered: they are the provider's own words, and hiding them would change
    the block. `empty` is what is left of a content without other blocks, which the API refuses.
    """

    __slots__ = ("_block", "_content", "_empty", "container", "key", "place", "starts", "texts")

    def __init__(self, content: list[Any], block: Body, holder: Body, key: str, empty: Body) -> None:
        text = holder[key]
        self.place = Place.MESSAGE
        self.starts: Sequence[int] | None = None
        self._content = content
        self._block, self._empty = block, empty
        self.container, self.key = holder, key
        self.texts: Sequence[str] = (cover(text, [(hit.start, hit.end) for hit in looks_like_placeholder(text)]),)

    def apply(self, spans: Sequence[Spans], replace: Replace) -> None:
        if all(span.recognizer == NAME_MODEL for span in spans[0]):
            return
        self._content[:] = [block for block in self._content if block is not self._block] or [self._empty]

    def protected(self) -> Sequence[str]:
        is_sent = any(block is self._block for block in self._content)
        return (self.container[self.key],) if is_sent else ()


class RequestReader(FieldReader):
    """Yields the fields of one request. `files` and `late` fill up meanwhile.

    `late` are the fields that belong to the single request: they may differ at every turn.
    """

    def __init__(self, files: set[str]) -> None:
        super().__init__(files, _KEYS, _WORDS["numbers"])
        self.late: list[MessageField] = []
        self._is_providers = False

    def setting(self, body: Body, name: str, value: Json) -> Iterator[MessageField]:
        """In `metadata`, every key is the caller's. Its `user_id` may be a JSON document, or no more than drawn ids."""
        if name == "metadata" and isinstance(value, dict):
            for key, member in value.items():
                if key == "user_id" and _is_drawn_user(member):
                    continue
                if key != "user_id" or not member or not isinstance(member, str):
                    yield from ValueReader().fields(value, key, member)
                elif member.lstrip().startswith("{"):
                    yield json_field(value, key, member)
                else:
                    yield NameField(value, key, member, lead("name"))
            yield from unknown_keys(value, {"user_id"})
        elif name == "output_config" and isinstance(value, dict):
            yield from self.members(value, frozenset({"format"}))
        elif name != "anthropic_version" or not _VERSION.match(word(value)):
            yield from super().setting(body, name, value)

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
            fields = self._block(value, block, where, is_result=is_result)
            if text_at(block, "type").endswith("_result"):
                fields = placed(Place.TOOL_RESULT, fields)
            yield from continuing(fields) if goes_on and is_plain else fields
            goes_on = is_plain

    def _text(self, container: Body, key: str, value: str, *, is_result: bool) -> Iterator[MessageField]:
        if is_result and value.lstrip()[:1] in {"{", "["}:
            yield json_field(container, key, value)
        else:
            yield from self.fields(container, key, value)

    def _block(self, content: list[Any], block: Body, where: str, *, is_result: bool) -> Iterator[MessageField]:
        kind = kind_of(block)
        source = block.get("source")
        is_text = kind in _WORDS["text_kinds"] or kind.endswith(_TEXT_ENDINGS)
        if kind == "document" and isinstance(source, dict) and word(source.get("type")) in _TEXT_SOURCES:
            is_text = True
        own: frozenset[str] = frozenset()
        passing = partial(self._passing, block, kind)
        document = source_of_anthropic(block, passing) if kind == "document" else None
        if document is not None:
            own = frozenset({"source"})
            yield document
        elif not is_text:
            self.files.add(kind)
        is_thought = kind == "thinking" and self._is_providers and not is_result
        if is_thought and is_opaque(block.get("signature")) and isinstance(block.get("thinking"), str):
            own = frozenset({"thinking"})
            if block["thinking"]:
                yield SignedText(content, block, block, "thinking", {"type": "text", "text": "…"})
        elif kind in {"tool_result", "mcp_tool_result"}:
            own = frozenset({"content"})
            yield from self.content(block, "content", f"{where}.content", is_result=True)
        elif kind == "text" and is_result and isinstance(block.get("text"), str):
            own = frozenset({"text"})
            yield from self._text(block, "text", block["text"], is_result=True)
        yield from self.members(block, own)

    def _passing(self, block: Body, kind: str) -> Iterator[MessageField]:
        """Yields the fields of a document's source that is sent as it is."""
        self.files.add(kind)
        return self.member(block, "source", block["source"])

    def string(self, container: Any, key: Any, value: str, under: str, label: str) -> Iterator[MessageField]:
        if value and value not in _ALLOWED.get(under, ()) and not is_file(value, self.files):
            is_name = key in _WORDS["names"]
            yield NameField(container, key, value) if is_name else TextField(container, key, value, label)

    def member(self, container: Body, name: str, value: Json) -> Iterator[MessageField]:
        kind = word(container.get("type"))
        if name == "type" and isinstance(value, str) and _TYPE.match(value):
            return
        if name == "authorization_token" and value and isinstance(value, str):
            message = "`authorization_token` is a secret, which must not leave; call that server from the client."
            raise BadRequest(message, param="mcp_servers")
        if name == "cache_control" and isinstance(value, dict) and value.get("type") == "ephemeral":
            self.late += self.fields(container, name, value)
        elif name == "input_examples" or (name == "input" and kind.endswith("tool_use")):
            yield from ValueReader().fields(container, name, value)
        elif isinstance(value, str) and self._is_opaque(kind, name, value):
            return
        elif name == "source" and isinstance(value, dict) and isinstance(value.get("content"), list):
            yield from self.content(value, "content", "source.content")
            yield from self.members(value, frozenset({"content"}))
        else:
            yield from self.fields(container, name, value)

    def _is_opaque(self, kind: str, name: str, value: str) -> bool:
        """Whether a member of a block of some kind is a signature, encrypted, or a file in base64."""
        if name == "data" and kind == "base64" and _BASE64.match(value):
            self.files.add("base64")
            return True
        if name in _WORDS["opaque"]:
            return kind not in {"", "text"} and is_opaque(value)
        is_thought = (kind, name) in {("thinking", "signature"), ("redacted_thinking", "data")}
        return is_thought and self._is_providers and is_opaque(value)


def _is_drawn_user(user_id: Json) -> bool:
    """Whether a `user_id` consists of UUIDs and hashes, which name a device, an account and a session."""
    if not isinstance(user_id, str):
        return False
    ids: list[Any] = _BEFORE_ID.split(user_id)
    if user_id.startswith("{") and is_json(user_id):
        named = parse_object(user_id)
        ids = [*named.values()] if named.keys() <= _USER_IDS else [None]
    return all(isinstance(each, str) and (not each or is_drawn(each) or is_hash(each)) for each in ids)
