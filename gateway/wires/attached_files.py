"""Reads the files in base64 that the parts of requests can have. What is no document is an attachment as before."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from gateway.text.attached import AttachmentField
from gateway.text.fields import MessageField
from gateway.wires.base import Body
from gateway.wires.members import object_at, text_at

_DATA_URI = re.compile(r"\s*data:(?P<type>[a-z]+/[\w.+-]+(?:;(?!base64)[\w=\"':.-]+)*);base64,", re.IGNORECASE)
_NO_DOCUMENTS = ("image/", "audio/", "video/")
_BASE64 = re.compile(r"[A-Za-z0-9+/_\-\r\n]*={0,2}\s*\Z")

type Passing = Callable[[], Iterable[MessageField]]


def split(value: str) -> tuple[str, str] | None:
    """Returns the media type and the base64 of a data URI; None if it has none, or is an image or sound."""
    found = _DATA_URI.match(value)
    return None if found is None else document(found["type"], value[found.end() :])


def document(media_type: str, data: str) -> tuple[str, str] | None:
    """Returns a media type and base64 as they are; None for what is no document."""
    is_one = not media_type.lower().startswith(_NO_DOCUMENTS) and bool(data) and _BASE64.match(data) is not None
    return (media_type, data) if is_one else None


def part_of_openai(
    parts: list[Any], position: int, part: Body, text_type: str, passing: Passing
) -> AttachmentField | None:
    """Returns the field of a part with a document: of chat completions, of Responses, or of Mistral's API."""
    kind = text_at(part, "type")
    holder = object_at(part, "file") if kind == "file" else part
    name = text_at(holder, "filename") or text_at(holder, "document_name")
    # Base64 without a data URI is searched like text, as before.
    found = split(text_at(holder, "document_url" if kind == "document_url" else "file_data"))
    if found is None or text_at(holder, "file_id") or text_at(holder, "file_url"):
        return None

    def write(text: str) -> tuple[Any, Any]:
        parts[position] = {"type": text_type, "text": text} | _marker(part)
        return parts[position], "text"

    return AttachmentField(found[1], found[0], name, {kind, "data"}, write, passing)


def source_of_anthropic(block: Body, passing: Passing) -> AttachmentField | None:
    """Returns the field of a document block's source in base64. Its text becomes a source of plain text."""
    source = object_at(block, "source")
    if text_at(source, "type") != "base64":
        return None
    found = document(text_at(source, "media_type"), text_at(source, "data"))
    if found is None:
        return None

    def write(text: str) -> tuple[Any, Any]:
        block["source"] = {"type": "text", "media_type": "text/plain", "data": text}
        return block["source"], "data"

    return AttachmentField(found[1], found[0], text_at(block, "title"), {"document", "base64"}, write, passing)


def part_of_gemini(parts: list[Any], position: int, part: Body, passing: Passing) -> AttachmentField | None:
    """Returns the field of a part with inline data, if that is a document and all that the part has."""
    if len(part) != 1:
        return None
    inline = object_at(part, next(iter(part)))
    kind = text_at(inline, "mimeType") or text_at(inline, "mime_type")
    name = text_at(inline, "displayName") or text_at(inline, "display_name")
    found = document(kind, text_at(inline, "data")) if kind else None
    if found is None:
        return None

    def write(text: str) -> tuple[Any, Any]:
        parts[position] = {"text": text}
        return parts[position], "text"

    return AttachmentField(found[1], found[0], name, {"inlineData"}, write, passing)


def source_of_bedrock(block: Body, passing: Passing) -> AttachmentField | None:
    """Returns the field of a document's bytes. They become the text of a text file."""
    source, ending = object_at(block, "source"), text_at(block, "format")
    found = document("", text_at(source, "bytes")) if source.keys() == {"bytes"} else None
    if found is None:
        return None

    def write(text: str) -> tuple[Any, Any]:
        block["format"], block["source"] = "txt", {"text": text}
        return block["source"], "text"

    name = f"{text_at(block, 'name') or 'document'}.{ending}"
    return AttachmentField(found[1], "", name, {"document", "bytes"}, write, passing)


def _marker(part: Body) -> Body:
    """Returns the marker of a prompt cache in a part, which stays."""
    marker = part.get("cache_control")
    return {"cache_control": marker} if marker in _MARKERS else {}


_MARKERS = ({"type": "ephemeral"}, *({"type": "ephemeral", "ttl": ttl} for ttl in ("5m", "1h")))
