"""Implements the chat-completions wire (POST …/chat/completions) of the OpenAI API reference.

Everything that is not known to be structure is text: unknown fields, parts and keys are searched like a message.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gateway.errors import BadRequest
from gateway.http.strict_json import dump
from gateway.text.answers import AnswerText, Channel
from gateway.text.fields import MessageField, NameField, Place, SettingField, TextField, can_identify, placed
from gateway.text.leads import lead
from gateway.wires.base import Body, Conversation, Family
from gateway.wires.choice_events import ChoiceEvents, choices_of, index_of, usage_of
from gateway.wires.reading import (
    SCHEMA_KEYS,
    DocumentWriter,
    answer_strings,
    check_whole,
    is_number,
    json_field,
    model_of,
    named_model,
    opening_of,
    put_note,
    streams,
    strings_beside,
    take_own,
    text_fields,
    unknown_keys,
    word,
)

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_TEXT_PARTS = frozenset({"text", "refusal", "input_text", "output_text", "thinking", "reasoning"})
_PATH = re.compile(r"(?:/[\w.-]+)*/chat/completions\Z")

# Keys of the protocol. Any other key could be private and is searched.
_WORDS = """
model messages role content name tool_calls tool_call_id function arguments id type text refusal index image_url url
detail input_audio data format file file_id file_data filename audio voice expires_at transcript tools functions
function_call tool_choice parallel_tool_calls description parameters strict custom response_format json_schema
schema metadata user prediction stop stream stream_options include_usage include_obfuscation modalities logit_bias n
temperature top_p top_k min_p frequency_penalty presence_penalty repetition_penalty max_tokens max_completion_tokens
seed logprobs top_logprobs service_tier store reasoning_effort reasoning reasoning_content verbosity
web_search_options user_location approximate search_context_size safety_identifier prompt_cache_key
prompt_cache_retention cache_control mode allowed_tools grammar syntax
"""
_KEYS = SCHEMA_KEYS | frozenset(_WORDS.split())
# Members of an answer that hold no text, or whose text is read on its own.
_ANSWER_KEYS = frozenset("choices id object model created usage system_fingerprint service_tier obfuscation".split())
# Fields of the prompt that a model reads before the messages. All others belong to the single request.
_BEFORE_MESSAGES = ("tools", "functions", "response_format")
_PLACES = dict.fromkeys(("system", "developer"), Place.INSTRUCTIONS) | dict.fromkeys(
    ("tool", "function"), Place.TOOL_RESULT
)
# Numbers and words of the protocol that cannot contain private text. They are validated where they are read.
_SETTINGS = frozenset({"model", "messages", "stream"})
# Fields that must be numbers.
_NUMBERS = frozenset(
    """
    n seed temperature top_p top_k min_p top_logprobs frequency_penalty presence_penalty repetition_penalty max_tokens
    max_completion_tokens
    """.split()
)
# Fields that identify the end user. Only their name tells detection so.
_WHO = frozenset({"user", "safety_identifier"})
# What a call of each kind is given.
_ARGUMENTS = {"function": "arguments", "function_call": "arguments", "custom": "input"}
# Strings of a delta that come at once.
_WHOLE = frozenset({"role", "id", "type", "name", "index", "finish_reason", "obfuscation"})
_CHOICES = range(1, 129)


class ChatCompletionChunks(ChoiceEvents):
    """The events of a streamed answer: `chat.completion.chunk`, of which a delta continues the strings of a message."""

    object = "chat.completion.chunk"

    def texts(self, event: Body) -> list[AnswerText]:
        found: list[AnswerText] = []
        for choice in choices_of(event):
            number = index_of(choice)
            for name, value in choice.items():
                if name == "delta" and isinstance(value, dict):
                    found += _delta_texts(value, (number,))
                elif name not in {"finish_reason", "index"}:
                    found += answer_strings(value, choice, name, number)
        return [*found, *strings_beside(_ANSWER_KEYS, event)]

    def choice(self, channel: Sequence[str | int], text: str, reason: str | None) -> Body:
        number, *path = channel
        delta: Any = text
        for name in reversed(path):
            delta = [{"index": name, **delta}] if isinstance(name, int) else {name: delta}
        return {"index": number, "delta": delta, "finish_reason": reason}

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        """Parts keep their types, by which clients tell what they are."""
        event = super().continued(channel, text, last)
        like = next((choice.get("delta") for choice in choices_of(last) if index_of(choice) == channel[0]), None)
        _put_types(event["choices"][0]["delta"], like, channel[1:-1])
        return event

    def shown(self, index: int) -> Channel:
        return index, "content"


class ChatCompletions:
    """The wire. Stateless."""

    id = "chat-completions"
    family: Family = "openai"
    stream = ChatCompletionChunks()

    def serves(self, method: str, path: str) -> bool:
        return method == "POST" and _PATH.match(path) is not None

    def model(self, body: Body, path: str) -> object:
        return named_model(body, path)

    def set_model(self, body: Body, model: str) -> None:
        body["model"] = model

    def method_path(self, path: str, model: str) -> str:
        return "chat/completions"

    def read(self, body: Body, path: str = "") -> Conversation:
        own = take_own(body)
        model, stream = model_of(body, path), streams(body)
        check_whole(body, "seed")
        check_whole(body, "n", _CHOICES)
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise BadRequest("`messages` must be a non-empty list.", param="messages")
        conversation = Conversation(body, model, stream, [], "")
        attachments = set[str]()
        block: list[MessageField] = []
        for name in _BEFORE_MESSAGES:
            if name in body:
                block += placed(Place.INSTRUCTIONS, _fields(body, name, body[name], attachments))
        first_cut = len(messages)
        for index, message in enumerate(messages):
            role = _check_message(message, index)
            if role == "assistant" and block:
                first_cut = min(first_cut, index)
                conversation.blocks.append(block)
                block = []
            if role == "user" and not conversation.seed and (text := _plain_text(message.get("content"))).strip():
                conversation.seed, conversation.before_seed = text, len(conversation.blocks)
            block += placed(_PLACES.get(role, Place.MESSAGE), _message_fields(message, attachments))
        conversation.blocks.append(block)
        if not conversation.seed or conversation.before_seed:
            before = {name: body[name] for name in _BEFORE_MESSAGES if name in body}
            conversation.opening = opening_of({**before, "messages": messages[:first_cut]})
            conversation.seed = conversation.seed or conversation.opening
        settings = [
            field
            for name, value in body.items()
            if name not in _BEFORE_MESSAGES and name not in _SETTINGS
            for field in _own_fields(body, name, value, attachments)
        ]
        conversation.blocks.append([*placed(Place.SETTINGS, [*settings, *unknown_keys(body, _KEYS)])])
        conversation.attachments = tuple(sorted(attachments))
        own.put(conversation)
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        found: list[AnswerText] = []
        choices = body.get("choices")
        for position, choice in enumerate(choices if isinstance(choices, list) else []):
            if not isinstance(choice, dict):
                continue
            for name, value in choice.items():
                if name == "message" and isinstance(value, dict):
                    found += _answer_message(value, position)
                elif name not in {"finish_reason", "index"}:
                    found += answer_strings(value, choice, name, position)
        return [*found, *strings_beside(_ANSWER_KEYS, body)]

    def usage(self, body: Body) -> tuple[int, int] | None:
        return usage_of(body)

    def annotate(self, body: Body, note: Body | None) -> None:
        put_note(body, note)

    def refuse_answer(self, body: Body, message: str) -> None:
        choices = body.get("choices")
        count = len(choices) if isinstance(choices, list) and choices else 1
        body["choices"] = [
            {
                "index": index,
                "message": {"role": "assistant", "content": message, "refusal": None},
                "finish_reason": "content_filter",
            }
            for index in range(count)
        ]


def _own_fields(body: Body, name: str, value: Any, attachments: set[str]) -> Iterator[MessageField]:
    """Yields the fields of the single request. In `metadata`, every key is the caller's, even one of the protocol."""
    if name in _NUMBERS and is_number(value):
        if can_identify(repr(value), is_named=False):
            yield SettingField(body, name, value)
    elif name in _WHO and isinstance(value, str):
        yield NameField(body, name, value, lead("name"))
    else:
        yield from text_fields(body, name, value, frozenset() if name == "metadata" else _KEYS, attachments)


def _fields(container: Any, key: Any, value: Any, attachments: set[str]) -> Iterator[MessageField]:
    return text_fields(container, key, value, _KEYS, attachments)


def _check_message(message: Any, index: int) -> str:
    where = f"messages[{index}]"
    if not isinstance(message, dict):
        raise BadRequest(f"`{where}` must be an object.", param=where)
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise BadRequest(f"`{where}.role` must be one of: {', '.join(sorted(_ROLES))}.", param=f"{where}.role")
    if not isinstance(message.get("content"), str | list | None):
        raise BadRequest(f"`{where}.content` must be a string or a list of parts.", param=f"{where}.content")
    return role


def _plain_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _message_fields(message: Body, attachments: set[str]) -> Iterator[MessageField]:
    for name, value in message.items():
        if name == "role":
            continue
        if name == "content" and isinstance(value, list):
            for position, part in enumerate(value):
                yield from _part_fields(value, position, part, attachments)
        elif name == "tool_calls" and isinstance(value, list):
            for call in value:
                yield from _call_fields(call, attachments)
        elif name == "function_call" and isinstance(value, dict):
            yield from _function_fields(value, attachments)
        elif name == "content" and message["role"] in {"tool", "function"} and _is_json(value):
            yield json_field(message, name, value)
        elif name == "name" and isinstance(value, str) and message["role"] not in {"tool", "function"}:
            yield NameField(message, name, value, lead(name))
        else:
            yield from _fields(message, name, value, attachments)
    yield from unknown_keys(message, _KEYS)


def _part_fields(parts: list[Any], position: int, part: Any, attachments: set[str]) -> Iterator[MessageField]:
    if not isinstance(part, dict | str):
        raise BadRequest("A content part must be an object.", param="messages")
    kind = part.get("type") if isinstance(part, dict) else "text"
    if not isinstance(kind, str) or kind not in _TEXT_PARTS:
        attachments.add(kind if isinstance(kind, str) else "unknown")
    for field in _fields(parts, position, part, attachments):
        if position and isinstance(field, TextField) and field.key in {position, "text"}:
            field.goes_on = True
        yield field


def _call_fields(call: Any, attachments: set[str]) -> Iterator[MessageField]:
    if not isinstance(call, dict):
        raise BadRequest("A tool call must be an object.", param="messages")
    for name, value in call.items():
        if name == "function" and isinstance(value, dict):
            yield from _function_fields(value, attachments)
        else:
            yield from _fields(call, name, value, attachments)
    yield from unknown_keys(call, _KEYS)


def _function_fields(function: Body, attachments: set[str]) -> Iterator[MessageField]:
    for name, value in function.items():
        if name == "arguments" and isinstance(value, str):
            yield json_field(function, name, value)
        else:
            yield from _fields(function, name, value, attachments)
    yield from unknown_keys(function, _KEYS)


def _is_json(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip()[:1] in {"{", "["}


def _put_types(made: Any, like: Any, path: Channel) -> None:
    """Gives the items of lists on the way to a string of a delta the types that they had in the last event."""
    for name in path:
        if isinstance(name, int):
            items = enumerate(like if isinstance(like, list) else ())
            like = next((item for at, item in items if isinstance(item, dict) and _place_of(item, at) == name), {})
            (made,) = made
            if isinstance(kind := like.get("type"), str):
                made["type"] = kind
        else:
            made, like = made[name], like.get(name) if isinstance(like, dict) else None


def _place_of(item: Body, position: int) -> int:
    at = item.get("index")
    return at if isinstance(at, int) else position


def _delta_texts(delta: Body, path: Channel, call: str = "") -> Iterator[AnswerText]:
    """Yields the strings of a delta. Those of ids and names are complete, all others continue."""
    choice, named = path[0], delta.get("name")
    assert isinstance(choice, int)
    tool = named if isinstance(named, str) else None
    given = _ARGUMENTS.get(str(path[-1]))
    if tool is not None and given is not None and not isinstance(delta.get(given), str | dict | list):
        # The arguments follow, and do not repeat which call they are of.
        yield AnswerText(delta, given, "", "json", choice, tool, (*path, given), call)
    for key, value in delta.items():
        if key == given and isinstance(value, dict | list):
            # Complete, as some upstreams give it.
            yield AnswerText(DocumentWriter(delta), key, dump(value).decode(), "json", choice, tool)
        elif isinstance(value, dict):
            yield from _delta_texts(value, (*path, key), call)
        elif isinstance(value, list):
            for position, item in enumerate(value):
                if isinstance(item, dict):
                    place = _place_of(item, position)
                    yield from _delta_texts(item, (*path, key, place), word(item.get("id")))
                else:
                    yield from answer_strings(item, value, position, choice)
        elif isinstance(value, str) and key not in _WHOLE:
            kind: Any = "json" if key in {"arguments", "input"} else "data" if key == "data" else "text"
            yield AnswerText(delta, key, value, kind, choice, tool if kind == "json" else None, (*path, key), call)
        elif isinstance(value, str) and key == "name":
            yield AnswerText(delta, key, value, choice=choice, tool=tool)


def _answer_message(message: Body, choice: int) -> Iterator[AnswerText]:
    for name, value in message.items():
        if name == "role":
            continue
        if name == "tool_calls" and isinstance(value, list):
            for call in value:
                yield from _answer_call(call, choice)
        elif name == "function_call" and isinstance(value, dict):
            yield from _answer_call(value, choice)
        elif name == "audio" and isinstance(value, dict):
            for key, inner in value.items():
                if key == "data" and isinstance(inner, str):
                    yield AnswerText(value, key, inner, kind="data", choice=choice)
                else:
                    yield from answer_strings(inner, value, key, choice)
        else:
            yield from answer_strings(value, message, name, choice)


def _answer_call(call: Any, choice: int) -> Iterator[AnswerText]:
    """Yields the strings of a tool call. The arguments are one document."""
    if not isinstance(call, dict):
        return
    tool = call.get("name")
    label = tool if isinstance(tool, str) else None
    for name, value in call.items():
        if name in {"function", "custom"} and isinstance(value, dict):
            yield from _answer_call(value, choice)
        elif isinstance(value, dict | list):
            yield AnswerText(DocumentWriter(call), name, dump(value).decode(), kind="json", choice=choice, tool=label)
        elif name in {"arguments", "input"} and isinstance(value, str):
            yield AnswerText(call, name, value, kind="json", choice=choice, tool=label)
        elif name != "type":
            yield from answer_strings(value, call, name, choice)


WIRE = ChatCompletions()
