"""Implements the wire of Mistral's conversations (POST …/conversations and the calls on one).

Mistral keeps the history, and each call has only what is new. The placeholders of earlier turns are restored while the
gateway remembers them (`gateway.exchange.earlier_answers`). OpenAI's API creates its conversations at the same path,
with other members, which are read as text.
"""

import re
from collections.abc import Iterator
from typing import Any

from gateway.config.settings import CONFIGURED_UPSTREAM
from gateway.detection.data_files import word_lists
from gateway.errors import BadRequest, GatewayError
from gateway.http.strict_json import dump
from gateway.text.answers import AnswerText, Channel
from gateway.text.fields import MessageField, Place, placed
from gateway.wires.answer_reading import DocumentWriter, answer_strings, strings_beside
from gateway.wires.base import Body, Conversation, EventFormat, Tokens, Wire
from gateway.wires.chat_completions import MessageReader
from gateway.wires.choice_events import usage_of
from gateway.wires.members import index_at, objects_at, text_at
from gateway.wires.other_json import OTHER_JSON
from gateway.wires.reading import SCHEMA_KEYS, Turn, begun, divide, json_field, plain_text, unknown_keys, word

_WORDS = word_lists(__file__)
_KEYS = SCHEMA_KEYS | _WORDS["keys"]
_NO_TEXT = _WORDS["no_text"]
_ID = r"(?P<id>[A-Za-z0-9][\w.-]*)"
_STORED = re.compile(rf"(?:/v1)?/(?P<call>conversations/{_ID}(?:/(?:history|messages))?)\Z", re.ASCII)
# Members that a model reads before the entries. All others belong to the single request.
_BEFORE = ("tools", "instructions")
_READ = frozenset({"model", "inputs", "stream", *_BEFORE})
# The lists of entries in an answer: of a call, of the history, and of the messages in it.
_LISTS = ("outputs", "entries", "messages")
_MESSAGE, _EXECUTION = "message.output.delta", "tool.execution.delta"
_ENDS = frozenset({"conversation.response.done", "conversation.response.error"})


class EntryReader(MessageReader):
    """Yields the fields of the entries of one request: messages, calls of tools and their results."""

    text_parts = _WORDS["text_parts"]

    def turns(self, messages: list[Any]) -> Iterator[Turn]:
        was_made = False
        for position, entry in enumerate(messages):
            if not isinstance(entry, dict):
                where = f"inputs[{position}]"
                raise BadRequest(f"`{where}` must be an object.", param=where)
            kind, role = word(entry.get("type")), entry.get("role")
            is_made = kind in _WORDS["made"] or role == "assistant"
            said = plain_text(entry.get("content")) if role == "user" else ""
            place = Place.TOOL_RESULT if kind == "function.result" else Place.MESSAGE
            yield is_made and not was_made, said, placed(place, self._entry(entry))
            was_made = is_made

    def _entry(self, entry: Body) -> Iterator[MessageField]:
        for name, value in entry.items():
            is_word = (name == "type" and value in _WORDS["entries"]) or (name == "role" and value in _WORDS["roles"])
            is_document = name == "result" and word(value).lstrip()[:1] in {"{", "["}
            if name == "content" and isinstance(value, list):
                for position, part in enumerate(value):
                    yield from self._part(value, position, part)
            elif isinstance(value, str) and (name == "arguments" or is_document):
                yield json_field(entry, name, value)
            elif not is_word:
                yield from self.fields(entry, name, value)
        yield from unknown_keys(entry, self.keys)


class ConversationEvents(EventFormat):
    """The events of a streamed answer. One of a kind that ends in `.delta` continues a text."""

    names_events = True

    def texts(self, event: Body) -> list[AnswerText]:
        index = index_at(event, "output_index")
        if text_at(event, "type") != _MESSAGE:
            return [*_entry_texts(event, index, (index, "arguments"))]
        place: Channel = (index, index_at(event, "content_index"), "content")
        beside = strings_beside(_NO_TEXT | {"content"}, event)
        return [*_content_texts(event, "content", event.get("content"), index, place), *beside]

    def ends_channel(self, event: Body, channel: Channel) -> bool:
        """The last event ends all texts, what comes after a text that text, and the end of a call its arguments."""
        kind = text_at(event, "type")
        if kind in _ENDS:
            return True
        if channel[1] == "arguments":
            return kind == "tool.execution.done" and channel[0] == index_at(event, "output_index")
        channels = [text.channel for text in self.texts(event) if text.channel is not None]
        return bool(channels[-1:] != [channel] and kind)

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        if channel[1] == "arguments":
            kind = text_at(last, "type")
            return {**last, "type": _EXECUTION if kind.startswith("tool.") else kind, "arguments": text}
        return {**last, "content": _rebuilt(last.get("content"), channel[3:], text)}

    def is_last(self, event: Body) -> bool:
        return text_at(event, "type") in _ENDS

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        """Shows the message as an output of its own, and ends with an error, so that no tool is run."""
        index = index_at(like, "output_index", -1) + 1
        events: list[Body | bytes] = []
        if not like or text_at(like, "type") == "conversation.response.started":
            given = text_at(like, "conversation_id")
            events.append({"type": "conversation.response.started", "conversation_id": given or "conv_withheld"})
        said = {**_withheld(message), "type": _MESSAGE, "output_index": index, "content_index": 0}
        return [*events, said, {"type": "conversation.response.error", "message": message, "code": 403}]

    def error(self, error: GatewayError, request_id: str) -> Body:
        body = super().error(error, request_id)
        return {"type": "conversation.response.error", "message": error.message, "code": error.status, **body}


class MistralConversations(Wire):
    """The wire. Stateless."""

    id = "mistral-conversations"
    stream = ConversationEvents()
    path = re.compile(rf"(?:/v1)?/(?P<call>conversations(?:/{_ID}(?:/restart)?)?)\Z", re.ASCII)
    routes = (
        *(("POST", f"/v1/conversations{call}") for call in ("", "/{conversation_id}", "/{conversation_id}/restart")),
        *(("GET", f"/v1/conversations/{{conversation_id}}{call}") for call in ("", "/history", "/messages")),
    )

    def serves(self, method: str, path: str) -> bool:
        """Whether this adds to a conversation, or reads one, which may hold placeholders."""
        return method in {"POST", "GET"} and (self.path if method == "POST" else _STORED).match(path) is not None

    def model(self, body: Body, path: str) -> object:
        """Returns the model or agent, by which a conversation begins. It keeps it afterwards."""
        return body.get("agent_id") or body.get("model") or CONFIGURED_UPSTREAM

    def set_model(self, body: Body, model: str) -> None:
        for name in ("agent_id", "model"):
            if body.get(name):
                body[name] = model
                return

    def method_path(self, path: str, model: str) -> str:
        found = self.path.match(path) or _STORED.match(path)
        return found["call"] if found else "conversations"

    def read(self, body: Body, path: str = "") -> Conversation:
        path = path.partition("?")[0]
        found = self.path.match(path) or _STORED.match(path)
        earlier = (found["id"] if found else None) or ""
        if not body and earlier:
            return Conversation(body, "", False, [[]], continues=earlier, only_reads=True)
        conversation = begun(body, model=self.model(body, path))
        if "inputs" not in body and not earlier:
            other = OTHER_JSON.read(body, path)
            conversation.blocks, conversation.seed, conversation.files = other.blocks, other.seed, other.files
            conversation.resumable = True
            return conversation
        for tool in objects_at(body, "tools"):
            if tool.get("authorization"):
                message = "`authorization` is a secret, which must not leave; register it with the provider instead."
                raise BadRequest(message, param="tools")
        reader = EntryReader(conversation.files, _KEYS)
        before = {name: body[name] for name in _BEFORE if name in body}
        lasting = [field for name in before for field in reader.fields(body, name, body[name])]
        opening = [*placed(Place.INSTRUCTIONS, lasting)]
        given = body.get("inputs")
        if isinstance(given, str):
            opening += reader.fields(body, "inputs", given)
            conversation.seed = given if given.strip() else ""
        elif not isinstance(given, list | None):
            raise BadRequest("`inputs` must be a string or a list of entries.", param="inputs")
        entries = given if isinstance(given, list) else []
        divide(conversation, opening, reader.turns(entries), lambda cut: {**before, "inputs": entries[:cut]})
        conversation.blocks.append([*placed(Place.SETTINGS, reader.settings(body, _READ))])
        conversation.continues, conversation.resumable = earlier, body.get("store") is not False
        return conversation

    def answer_ids(self, body: Body, path: str = "") -> tuple[str, ...]:
        """Returns the name of the conversation that an answer, or the first event of one, belongs to."""
        name = text_at(body, "conversation_id") or (text_at(body, "id") if body.get("object") == "conversation" else "")
        return (name,) if name else ()

    def answer_texts(self, body: Body) -> list[AnswerText]:
        found: list[AnswerText] = []
        for listed in _LISTS:
            for choice, entry in enumerate(objects_at(body, listed)):
                found += _entry_texts(entry, choice)
        return [*found, *strings_beside({*_NO_TEXT, *_LISTS}, body)]

    def usage(self, body: Body) -> Tokens:
        return usage_of(body)

    def refuse_answer(self, body: Body, message: str) -> None:
        for listed in (*_LISTS, "guardrails"):
            body.pop(listed, None)
        body["outputs"] = [_withheld(message) | {"type": "message.output"}]


def _withheld(message: str) -> Body:
    return {"id": "msg_withheld", "role": "assistant", "content": message}


def _entry_texts(entry: Body, choice: int, channel: Channel | None = None) -> Iterator[AnswerText]:
    """Yields the strings of an entry, or of an event, whose arguments continue `channel`."""
    is_call = "arguments" in entry
    tool = text_at(entry, "name") or None if is_call else None
    for name, value in entry.items():
        if name == "arguments" and isinstance(value, dict | list):
            yield AnswerText(DocumentWriter(entry), name, dump(value).decode(), "json", choice, tool)
        elif name == "arguments" and isinstance(value, str):
            call = text_at(entry, "tool_call_id")
            yield AnswerText(entry, name, value, "json", choice, tool, channel, call)
        elif name == "name" and tool:
            yield AnswerText(entry, name, tool, choice=choice, tool=tool)
        elif name == "content":
            yield from _content_texts(entry, name, value, choice)
        elif name not in _NO_TEXT:
            yield from answer_strings(value, entry, name, choice)


def _content_texts(
    container: Any, key: Any, value: Any, choice: int, channel: Channel | None = None
) -> Iterator[AnswerText]:
    """Yields the strings of content: of a piece of it with a `channel`, whose texts and thoughts continue."""
    if isinstance(value, str):
        yield AnswerText(container, key, value, choice=choice, channel=channel)
    elif isinstance(value, dict | list):
        for name, member in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(name, int) or name in {"text", "thinking"}:
                yield from _content_texts(value, name, member, choice, channel and (*channel, name))
            elif name != "type":
                yield from answer_strings(member, value, name, choice)


def _rebuilt(like: Any, path: Channel, text: str) -> Any:
    """Returns a piece of content that has a text at a path alone, with the types of the last one."""
    if not path:
        return text
    name, *rest = path
    if isinstance(name, int):
        part = like[name] if isinstance(like, list) and name < len(like) else None
        return [_rebuilt(part, tuple(rest), text)]
    kind = {"type": like["type"]} if isinstance(like, dict) and isinstance(like.get("type"), str) else {}
    return {**kind, name: _rebuilt(like.get(name) if isinstance(like, dict) else None, tuple(rest), text)}


WIRE = MistralConversations()
