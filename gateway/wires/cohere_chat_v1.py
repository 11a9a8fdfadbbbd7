"""Implements the first version of the chat wire of Cohere's API (POST …/v1/chat), which is streamed as lines of JSON.

A request has one message, with the earlier ones as its history.
"""

import re
from collections.abc import Iterator
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.errors import BadRequest, GatewayError
from gateway.models import Family
from gateway.text.answers import AnswerText, Channel, CitedSpan
from gateway.text.fields import MessageField, Place, placed
from gateway.wires.answer_reading import answer_strings, count_of
from gateway.wires.base import Body, Conversation, EventFormat, OptionalModel, Tokens
from gateway.wires.chat_completions import call_texts
from gateway.wires.cohere_events import strings
from gateway.wires.members import index_at, object_at, objects_at, text_at
from gateway.wires.openai_reading import OpenAIReader
from gateway.wires.reading import SCHEMA_KEYS, Turn, ValueReader, begun, check_role, divide, unknown_keys

_WORDS = word_lists(__file__)
_NO_TEXT, _ECHO = _WORDS["no_text"], _WORDS["echo"]
# The API uses it for a request that names no model.
_DEFAULT_MODEL = "default"
# Members that a model reads before the messages. All others belong to the single request.
_BEFORE = ("tools", "preamble", "response_format")
_READ = frozenset({"model", "message", "stream", "chat_history", "documents", "tool_results", *_BEFORE})
_TEXT: Channel = ("text",)
_PLAN: Channel = ("plan",)
_CHUNK, _CALLS, _END = "tool-calls-chunk", "tool-calls-generation", "stream-end"


class TurnReader(OpenAIReader):
    """Yields the fields of the turns of one request."""

    def __init__(self, files: set[str]) -> None:
        super().__init__(files, SCHEMA_KEYS | _WORDS["keys"], _WORDS["numbers"])

    def turns(self, body: Body) -> Iterator[Turn]:
        """Yields the history and the message of a request. Raises BadRequest."""
        history = body.get("chat_history") or []
        if not isinstance(history, list):
            raise BadRequest("`chat_history` must be a list of messages.", param="chat_history")
        for position, turn in enumerate(history):
            role = check_role(turn, f"chat_history[{position}]", _WORDS["roles"]).upper()
            said = text_at(turn, "message") if role == "USER" else ""
            place = {"SYSTEM": Place.INSTRUCTIONS, "TOOL": Place.TOOL_RESULT}.get(role, Place.MESSAGE)
            yield role == "CHATBOT", said, placed(place, self._turn(turn))
        last = [
            *self.fields(body, "message", body["message"]),
            *placed(Place.TOOL_RESULT, self.objects(body, "tool_results")),
        ]
        yield False, body["message"], last

    def _turn(self, turn: Body) -> Iterator[MessageField]:
        for name, value in turn.items():
            if name in {"tool_calls", "tool_results"}:
                yield from self.objects(turn, name)
            elif name != "role":
                yield from self.fields(turn, name, value)
        yield from unknown_keys(turn, self.keys)

    def objects(self, holder: Body, name: str) -> Iterator[MessageField]:
        """Yields the fields of calls, results or definitions of tools, and of anything else under that name."""
        value = holder.get(name)
        container: Any = value if isinstance(value, list) else holder
        for key in range(len(value)) if isinstance(value, list) else [name] if name in holder else []:
            item = container[key]
            yield from self._object(item) if isinstance(item, dict) else self.fields(container, key, item)

    def _object(self, value: Body) -> Iterator[MessageField]:
        """Yields the fields of one, in whose parameters and outputs every key is the caller's."""
        for name, member in value.items():
            if name in {"parameters", "outputs"}:
                yield from ValueReader(documents=name == "outputs").fields(value, name, member)
            elif name == "call" and isinstance(member, dict):
                yield from self._object(member)
            elif name == "parameter_definitions" and isinstance(member, dict):
                for key, defined in member.items():
                    yield from self.fields(member, key, defined)
                yield from unknown_keys(member, frozenset(), under="properties")
            else:
                yield from self.fields(value, name, member)
        yield from unknown_keys(value, self.keys)


class GenerationEvents(EventFormat):
    """The lines of a streamed answer. The last one repeats all of it."""

    family: Family = "cohere"

    def texts(self, event: Body) -> list[AnswerText]:
        kind = text_at(event, "event_type")
        found: list[AnswerText] = []
        for name, value in event.items():
            if name == "text" and kind == "text-generation" and isinstance(value, str):
                found.append(AnswerText(event, name, value, channel=_TEXT))
            elif name == "tool_call_delta" and isinstance(value, dict):
                found += _delta_texts(value)
            elif name == "response" and isinstance(value, dict):
                found += response_texts(value)
            else:
                found += response_texts({name: value}, event)
        return found

    def spans(self, event: Body) -> list[CitedSpan]:
        cited = [*objects_at(event, "citations"), *objects_at(object_at(event, "response"), "citations")]
        return [CitedSpan(citation, channel=_TEXT) for citation in cited]

    def ends_channel(self, event: Body, channel: Channel) -> bool:
        """The last event ends all texts, calls what is said before them, and all calls at once the pieces of them."""
        kind, delta = text_at(event, "event_type"), object_at(event, "tool_call_delta")
        if channel == _PLAN and kind == _CHUNK:
            return bool(delta.get("name") or delta.get("parameters"))
        return kind in {_END, _CALLS} or (channel == _TEXT and kind == _CHUNK)

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        if channel == _TEXT:
            return {"is_finished": False, "event_type": "text-generation", "text": text}
        delta = {"text": text} if channel == _PLAN else {"index": channel[1], "parameters": text}
        return {"is_finished": False, "event_type": _CHUNK, "tool_call_delta": delta}

    def is_last(self, event: Body) -> bool:
        return text_at(event, "event_type") == _END

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        said: Body = {"is_finished": False, "event_type": "text-generation", "text": message}
        return [said, _failed(message)]

    def error(self, error: GatewayError, request_id: str) -> Body:
        return {**_failed(""), **super().error(error, request_id)}


class CohereChatV1(OptionalModel):
    """The wire. Stateless."""

    id = "cohere-chat-v1"
    family: Family = "cohere"
    stream = GenerationEvents()
    path = re.compile(r"(?:/[\w.-]+)*/v1/chat\Z")
    method = "v1/chat"
    routes = (("POST", "/v1/chat"),)

    def model(self, body: Body, path: str) -> object:
        return body.get("model", _DEFAULT_MODEL)

    def read(self, body: Body, path: str = "") -> Conversation:
        """Reads a request. Its documents are those of the last turn, as the results of tools are."""
        conversation = begun(body, model=self.model(body, path))
        conversation.framing = "ndjson"
        if not isinstance(body.get("message"), str):
            raise BadRequest("`message` must be a string.", param="message")
        reader = TurnReader(conversation.files)
        before = {name: body[name] for name in _BEFORE if name in body}
        told = (field for name in before if name != "tools" for field in reader.fields(body, name, body[name]))
        history = body.get("chat_history") or []
        divide(
            conversation,
            placed(Place.INSTRUCTIONS, [*reader.objects(body, "tools"), *told]),
            reader.turns(body),
            lambda cut: {**before, "chat_history": history[:cut]},
        )
        documents = ValueReader().fields(body, "documents", body["documents"]) if "documents" in body else ()
        settings = placed(Place.SETTINGS, reader.settings(body, _READ))
        conversation.blocks.append([*placed(Place.TOOL_RESULT, documents), *settings])
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*response_texts(body)]

    def spans(self, body: Body) -> list[CitedSpan]:
        return [CitedSpan(citation, (body, "text")) for citation in objects_at(body, "citations")]

    def usage(self, body: Body) -> Tokens:
        """The last event of a stream reports the tokens in its response."""
        counts = object_at(object_at(object_at(body, "response") or body, "meta"), "tokens")
        return count_of(counts.get("input_tokens")), count_of(counts.get("output_tokens"))

    def refuse_answer(self, body: Body, message: str) -> None:
        known: Body = {name: body[name] for name in ("response_id", "generation_id", "meta") if name in body}
        body.clear()
        body |= known | {"text": message, "finish_reason": "ERROR"}


def _failed(message: str) -> Body:
    response = {"text": message, "finish_reason": "ERROR"}
    return {"is_finished": True, "event_type": _END, "finish_reason": "ERROR", "response": response}


def response_texts(body: Body, container: Body | None = None) -> Iterator[AnswerText]:
    """Yields the strings of members of an answer, which are in `container` if it is another object."""
    holder = body if container is None else container
    for name, value in body.items():
        if name == "tool_calls" and isinstance(value, list):
            for call in value:
                yield from call_texts(call, 0)
        elif name in _ECHO:
            yield from strings(value, holder, name, "echo")
        elif name not in _NO_TEXT:
            yield from answer_strings(value, holder, name, 0)


def _delta_texts(delta: Body) -> Iterator[AnswerText]:
    """Yields the strings of a piece of a call, or of the plan before calls."""
    tool = text_at(delta, "name") or None
    for name, value in delta.items():
        if name == "parameters" and isinstance(value, str):
            yield AnswerText(delta, name, value, "json", 0, tool, ("call", index_at(delta)))
        elif name == "text" and isinstance(value, str):
            yield AnswerText(delta, name, value, channel=_PLAN)
        elif name == "name" and tool:
            yield AnswerText(delta, name, tool, tool=tool)
        else:
            yield from answer_strings(value, delta, name, 0)


WIRE = CohereChatV1()
