"""Reads the items of the Responses API: messages, calls of tools with their outputs, reasoning.

Everything that is not known to be structure is text: unknown items, members and keys are searched like a message.
"""

from collections.abc import Iterator
from typing import Any

from gateway.errors import BadRequest
from gateway.http.strict_json import is_json
from gateway.text.fields import MessageField, Place, TextField
from gateway.wires.base import Body
from gateway.wires.reading import SCHEMA_KEYS, is_opaque, json_field, text_fields, unknown_keys, word

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
# Keys of the protocol. Any other key could be private and is searched.
_WORDS = """
model input instructions tools text format prompt stream stream_options include_obfuscation role content type id status
phase call_id name namespace arguments output summary encrypted_content refusal annotations logprobs url url_citation
title file_id filename file_data file_url image_url detail input_audio data index start_index end_index container_id
action actions command commands env working_directory timeout_ms max_output_length outcome exit_code stdout stderr
operation diff path query queries sources results score attributes pattern x y keys button scroll_x scroll_y code
outputs logs server_label server_url server_description connector_id require_approval allowed_tools always never
tool_names read_only headers approval_request_id approve reason error result revised_prompt size quality background
output_format pending_safety_checks acknowledged_safety_checks safety_identifier description parameters strict custom
grammar syntax definition defer_loading filters allowed_domains user_location approximate search_context_size
vector_store_ids max_num_results ranking_options ranker score_threshold container memory_limit file_ids environment
display_width display_height execution tool_choice mode function effort generate_summary verbosity include store
metadata client_metadata prompt_cache_key prompt_cache_retention user service_tier truncation temperature top_p
top_logprobs max_output_tokens max_tool_calls parallel_tool_calls previous_response_id conversation reasoning
context_management compact_threshold variables version caller caller_id created_by
"""
KEYS = SCHEMA_KEYS | frozenset(_WORDS.split())
# Members whose keys are the caller's, even those that the protocol has elsewhere.
OWN_KEYS = frozenset({"metadata", "client_metadata", "variables", "headers", "env", "attributes"})
_STATUSES = frozenset("in_progress completed incomplete calling failed generating searching interpreting".split())
_PHASES = frozenset({"commentary", "final_answer"})
# Whose members the provider encrypts in no case.
_SAID = frozenset({None, "message", "input_text", "output_text"})
_TEXT_PARTS = frozenset({"input_text", "output_text", "text", "refusal", "summary_text", "reasoning_text", "logs"})
_FILES = frozenset({"input_image", "input_file", "input_audio", "computer_screenshot"})
_SCHEMAS = frozenset({"parameters", "schema", "json_schema", "input_schema"})
_PARTS = frozenset({"content", "summary", "output"})
# Calls are the model's, and so are these items.
_MADE = frozenset({"reasoning", "mcp_list_tools", "mcp_approval_request", "compaction", "program"})


def is_made(item: Body) -> bool:
    """Whether an item is part of a turn of the model."""
    role, kind = item.get("role"), item.get("type")
    if isinstance(role, str):
        return role == "assistant"
    return isinstance(kind, str) and (kind in _MADE or kind.endswith("_call"))


def place_of(item: Any) -> Place:
    """Returns the part of the conversation that an item belongs to."""
    if not isinstance(item, dict):
        return Place.MESSAGE
    if item.get("role") in ("system", "developer"):
        return Place.INSTRUCTIONS
    is_result = item.get("role") == "tool" or word(item.get("type")).endswith("_output")
    return Place.TOOL_RESULT if is_result else Place.MESSAGE


def user_text(item: Body) -> str:
    """Returns the text of a user's message."""
    content = item.get("content") if item.get("role") == "user" else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def item_fields(item: Any, where: str, attachments: set[str]) -> Iterator[MessageField]:
    """Yields the fields of an item of the input. Raises BadRequest."""
    if not isinstance(item, dict):
        raise BadRequest(f"`{where}` must be an object.", param=where)
    if item.get("type") == "image_generation_call" and isinstance(item.get("result"), str):
        attachments.add("image_generation_call")
    for name, value in item.items():
        if name in _PARTS and isinstance(value, list):
            for position, part in enumerate(value):
                yield from _part_fields(value, position, part, where, attachments)
        elif not _is_structure(item, name, value):
            yield from member_fields(item, name, value, attachments)
    yield from unknown_keys(item, KEYS)


def _is_structure(item: Body, name: str, value: Any) -> bool:
    """Whether a member cannot be text: a role or status, or what the provider encrypted."""
    if not isinstance(value, str):
        return False
    return (
        (name == "role" and value in ROLES)
        or (name == "status" and value in _STATUSES)
        or (name == "phase" and value in _PHASES)
        or (name == "encrypted_content" and word(item.get("type")) not in _SAID and is_opaque(value))
        or (name == "type" and value.isidentifier() and value.islower())
    )


def member_fields(container: Body, name: str, value: Any, attachments: set[str]) -> Iterator[MessageField]:
    """Yields the fields of a member of an item, a part or a tool."""
    if name == "arguments":
        if isinstance(value, str):
            yield json_field(container, name, value)
        else:
            yield from text_fields(container, name, value, frozenset(), attachments)
    elif name == "output" and isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        yield json_field(container, name, value)
    elif name in _SCHEMAS:
        yield from text_fields(container, name, value, KEYS, attachments)
    elif name in OWN_KEYS and isinstance(value, dict):
        yield from _own_fields(value, attachments)
    elif isinstance(value, dict):
        yield from _object_fields(value, attachments)
    elif isinstance(value, list):
        for position, member in enumerate(value):
            if isinstance(member, dict):
                yield from _object_fields(member, attachments)
            else:
                yield from text_fields(value, position, member, KEYS, attachments, "" if name in KEYS else name)
    else:
        yield from text_fields(container, name, value, KEYS, attachments)


def _object_fields(value: Body, attachments: set[str]) -> Iterator[MessageField]:
    _note_file(value, attachments)
    for name, member in value.items():
        if not _is_structure(value, name, member):
            yield from member_fields(value, name, member, attachments)
    yield from unknown_keys(value, KEYS)


def _own_fields(value: Body, attachments: set[str]) -> Iterator[MessageField]:
    """Yields the fields of an object whose keys are the caller's. Its values may be JSON documents."""
    for name, member in value.items():
        if isinstance(member, str) and member.lstrip()[:1] == "{" and is_json(member):
            yield json_field(value, name, member)
            continue
        if isinstance(member, dict):
            _note_file(member, attachments)
        yield from text_fields(value, name, member, frozenset(), attachments)
    yield from unknown_keys(value, frozenset())


def _note_file(value: Body, attachments: set[str]) -> None:
    if isinstance(kind := value.get("type"), str) and kind in _FILES:
        attachments.add(kind)


def _part_fields(
    parts: list[Any], position: int, part: Any, where: str, attachments: set[str]
) -> Iterator[MessageField]:
    if not isinstance(part, dict | str):
        raise BadRequest(f"A part of `{where}` must be an object.", param=where)
    if isinstance(part, str):
        yield from text_fields(parts, position, part, KEYS, attachments)
        return
    kind = part.get("type")
    # The output of a shell is parts without a type.
    is_text = kind in _TEXT_PARTS if isinstance(kind, str) else kind is None and part.keys() & {"stdout", "stderr"}
    if not is_text:
        attachments.add(kind if isinstance(kind, str) else "unknown")
    if part.get("logprobs"):
        # The text in pieces, and as numbers, which no search sees. No model reads it.
        part["logprobs"] = []
    for name, value in part.items():
        if _is_structure(part, name, value):
            continue
        for field in member_fields(part, name, value, attachments):
            if position and isinstance(field, TextField) and field.key == "text":
                field.goes_on = True
            yield field
    yield from unknown_keys(part, KEYS)
