"""Implements the chat-completions wire (POST …/chat/completions) of the OpenAI API reference.

Everything that is not known to be structure is text: unknown fields, parts and keys are searched like a message.
"""

import re
from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.errors import BadRequest
from gateway.http.strict_json import dump
from gateway.text.answers import AnswerText, Channel
from gateway.text.fields import MessageField, NameField, Place, placed
from gateway.text.leads import lead
from gateway.wires.answer_reading import DocumentWriter, answer_strings, strings_beside
from gateway.wires.attached_files import part_of_openai
from gateway.wires.base import Body, Conversation, Tokens, Wire
from gateway.wires.choice_events import ANSWER_KEYS, CHOICES, NO_TEXT, ChoiceEvents, of_choice, usage_of
from gateway.wires.members import index_at, objects_at
from gateway.wires.openai_reading import OpenAIReader
from gateway.wires.reading import (
    SCHEMA_KEYS,
    Turn,
    begun,
    check_role,
    check_whole,
    continuing,
    divide_messages,
    json_field,
    kind_of,
    named_model,
    non_empty_list,
    plain_text,
    unknown_keys,
    word,
)

_WORDS = word_lists(__file__)
_KEYS = SCHEMA_KEYS | _WORDS["keys"]
_ANSWER_KEYS = ANSWER_KEYS | {"service_tier"}
# Fields of the prompt that a model reads before the messages. All others belong to the single request.
_BEFORE_MESSAGES = ("tools", "functions", "response_format")
_PLACES = dict.fromkeys(("system", "developer"), Place.INSTRUCTIONS) | dict.fromkeys(
    ("tool", "function"), Place.TOOL_RESULT
)
# Members that are read on their own, or validated where they are read.
_READ = frozenset({"model", "messages", "stream", *_BEFORE_MESSAGES})
# The arguments of each kind of call.
_ARGUMENTS = {"function": "arguments", "function_call": "arguments", "custom": "input"}


class ChatCompletionChunks(ChoiceEvents):
    """The events of a streamed answer: `chat.completion.chunk`, of which a delta continues the strings of a message."""

    object = "chat.completion.chunk"
    keys = _ANSWER_KEYS

    def member_texts(self, choice: Body, name: str, value: Any, index: int) -> Iterator[AnswerText]:
        is_delta = name == "delta" and isinstance(value, dict)
        return _delta_texts(value, (index,)) if is_delta else answer_strings(value, choice, name, index)

    def choice(self, channel: Sequence[str | int], text: str, reason: str | None) -> Body:
        number, *path = channel
        delta: Any = text
        for name in reversed(path):
            delta = [{"index": name, **delta}] if isinstance(name, int) else {name: delta}
        return {"index": number, "delta": delta, "finish_reason": reason}

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        """Parts keep their types, by which clients tell what they are."""
        event = super().continued(channel, text, last)
        like = next(
            (choice.get("delta") for choice in objects_at(last, "choices") if index_at(choice) == channel[0]), None
        )
        _put_types(event["choices"][0]["delta"], like, channel[1:-1])
        return event

    def shown(self, index: int) -> Channel:
        return index, "content"


class ChatCompletions(Wire):
    """The wire. Stateless."""

    id = "chat-completions"
    streams_by_default = False
    stream = ChatCompletionChunks()
    path = re.compile(r"(?:/[\w.-]+)*/chat/completions\Z")
    method = "chat/completions"

    def model(self, body: Body, path: str) -> object:
        return named_model(body, path)

    def read(self, body: Body, path: str = "") -> Conversation:
        conversation = begun(body, model=self.model(body, path))
        check_whole(body, "seed")
        check_whole(body, "n", CHOICES)
        messages = non_empty_list(body, "messages")
        reader = MessageReader(conversation.files, _KEYS, _WORDS["numbers"])
        divide_messages(conversation, reader, _BEFORE_MESSAGES, messages, reader.turns(messages))
        conversation.blocks.append([*placed(Place.SETTINGS, reader.settings(body, _READ))])
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        found: list[AnswerText] = []
        choices = body.get("choices")
        for position, choice in enumerate(choices if isinstance(choices, list) else []):
            if not isinstance(choice, dict):
                continue
            for name, value in choice.items():
                if name == "message" and isinstance(value, dict):
                    found += of_choice(choice, _answer_message(value, position))
                elif name not in NO_TEXT:
                    found += of_choice(choice, answer_strings(value, choice, name, position))
        return [*found, *strings_beside(_ANSWER_KEYS, body)]

    def usage(self, body: Body) -> Tokens:
        return usage_of(body)

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


class MessageReader(OpenAIReader):
    """Yields the fields of one request. Parts of the types `text_parts` hold texts alone."""

    text_parts: Set[str] = _WORDS["text_parts"]

    def turns(self, messages: list[Any]) -> Iterator[Turn]:
        for index, message in enumerate(messages):
            where = f"messages[{index}]"
            role = check_role(message, where, _WORDS["roles"])
            content = message.get("content")
            if not isinstance(content, str | list | None):
                raise BadRequest(f"`{where}.content` must be a string or a list of parts.", param=f"{where}.content")
            said = plain_text(content) if role == "user" else ""
            yield role == "assistant", said, placed(_PLACES.get(role, Place.MESSAGE), self._message(message))

    def _message(self, message: Body) -> Iterator[MessageField]:
        is_result = message["role"] in {"tool", "function"}
        for name, value in message.items():
            if name == "role":
                continue
            if name == "content" and isinstance(value, list):
                for position, part in enumerate(value):
                    yield from self._part(value, position, part)
            elif name == "tool_calls" and isinstance(value, list):
                for call in value:
                    yield from self._call(call)
            elif name == "function_call" and isinstance(value, dict):
                yield from self.function(value)
            elif name == "content" and is_result and word(value).lstrip()[:1] in {"{", "["}:
                yield json_field(message, name, value)
            elif name == "name" and isinstance(value, str) and not is_result:
                yield NameField(message, name, value, lead(name))
            else:
                yield from self.fields(message, name, value)
        yield from unknown_keys(message, self.keys)

    def _part(self, parts: list[Any], position: int, part: Any) -> Iterator[MessageField]:
        if not isinstance(part, dict | str):
            raise BadRequest("A content part must be an object.", param="messages")
        if isinstance(part, dict):
            passing = partial(self._passing, parts, position, part)
            if (document := part_of_openai(parts, position, part, "text", passing)) is not None:
                return iter((document,))
        fields = self._passing(parts, position, part)
        return continuing(fields, position) if position else fields

    def _passing(self, parts: list[Any], position: int, part: Body | str) -> Iterator[MessageField]:
        """Yields the fields of a part that is sent as it is, but for what is hidden in them."""
        if isinstance(part, dict) and kind_of(part) not in self.text_parts:
            self.files.add(kind_of(part))
        return self.fields(parts, position, part)

    def _call(self, call: Any) -> Iterator[MessageField]:
        if not isinstance(call, dict):
            raise BadRequest("A tool call must be an object.", param="messages")
        for name, value in call.items():
            if name == "function" and isinstance(value, dict):
                yield from self.function(value)
            else:
                yield from self.fields(call, name, value)
        yield from unknown_keys(call, self.keys)

    def function(self, function: Body) -> Iterator[MessageField]:
        """Yields the fields of the function of a call, whose arguments are one document."""
        for name, value in function.items():
            if name == "arguments" and isinstance(value, str):
                yield json_field(function, name, value)
            else:
                yield from self.fields(function, name, value)
        yield from unknown_keys(function, self.keys)


def _put_types(made: Any, like: Any, path: Channel) -> None:
    """Gives the items of lists on the way to a string of a delta the types that they had in the last event."""
    for name in path:
        if isinstance(name, int):
            items = enumerate(like if isinstance(like, list) else ())
            like = next(
                (item for at, item in items if isinstance(item, dict) and index_at(item, default=at) == name), {}
            )
            (made,) = made
            if isinstance(kind := like.get("type"), str):
                made["type"] = kind
        else:
            made, like = made[name], like.get(name) if isinstance(like, dict) else None


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
                    place = index_at(item, default=position)
                    yield from _delta_texts(item, (*path, key, place), word(item.get("id")))
                else:
                    yield from answer_strings(item, value, position, choice)
        elif isinstance(value, str) and key not in _WORDS["whole"]:
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
                yield from call_texts(call, choice)
        elif name == "function_call" and isinstance(value, dict):
            yield from call_texts(value, choice)
        elif name == "audio" and isinstance(value, dict):
            for key, inner in value.items():
                if key == "data" and isinstance(inner, str):
                    yield AnswerText(value, key, inner, kind="data", choice=choice)
                else:
                    yield from answer_strings(inner, value, key, choice)
        else:
            yield from answer_strings(value, message, name, choice)


def call_texts(call: Any, choice: int) -> Iterator[AnswerText]:
    """Yields the strings of a tool call. The arguments are one document."""
    if not isinstance(call, dict):
        return
    tool = call.get("name")
    label = tool if isinstance(tool, str) else None
    for name, value in call.items():
        if name in {"function", "custom"} and isinstance(value, dict):
            yield from call_texts(value, choice)
        elif isinstance(value, dict | list):
            yield AnswerText(DocumentWriter(call), name, dump(value).decode(), kind="json", choice=choice, tool=label)
        elif name in {"arguments", "input"} and isinstance(value, str):
            yield AnswerText(call, name, value, kind="json", choice=choice, tool=label)
        elif name != "type":
            yield from answer_strings(value, call, name, choice)


WIRE = ChatCompletions()
