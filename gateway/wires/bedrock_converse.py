"""Implements the Converse wire of Amazon Bedrock (POST /model/{model}/converse and /converse-stream).

Everything that is not known to be structure is text: unknown fields, blocks and keys are searched like a message. A
block of reasoning with a signature is sent as it is, or left out, as the Anthropic wire does with thinking. Nova's
models take the same body from `invoke` (`bedrock_invoke.py`). `bedrock_answers.py` reads the answers.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any, ClassVar
from urllib.parse import quote, unquote

from gateway.detection.data_files import word_lists
from gateway.errors import BadRequest
from gateway.http.strict_json import Json
from gateway.models import Family
from gateway.text.answers import AnswerText
from gateway.text.fields import MessageField, NameField, Place, SettingField, TextField, placed
from gateway.wires.anthropic_request import SignedText
from gateway.wires.attached_files import source_of_bedrock
from gateway.wires.base import Body, Conversation, Framing, OptionalModel, Tokens
from gateway.wires.bedrock_answers import ConverseEvents, annotate, answer_texts, refuse, tokens
from gateway.wires.members import object_at
from gateway.wires.reading import (
    SCHEMA_KEYS,
    FieldReader,
    Turn,
    ValueReader,
    check_role,
    divide,
    is_file,
    is_opaque,
    json_field,
    non_empty_list,
    plain_text,
    take_own,
)

_WORDS = word_lists(__file__)
_ALLOWED = word_lists(__file__, "allowed")
_KEYS = SCHEMA_KEYS | _WORDS["keys"]
_ROLES = frozenset({"user", "assistant"})
_READ = frozenset({"messages", "toolConfig", "system"})
_SIGNED = frozenset({"text", "signature"})
# The id or ARN of a model, a profile, a deployment or a prompt. AWS's SDKs encode `:` and `/` in it.
_MODEL = r"(?P<model>[A-Za-z0-9](?:[\w.:-]|%3A|%2F(?!\.))*)"
_GUARDRAIL = re.compile(r"(?:arn:aws[a-z-]*:bedrock:[a-z0-9-]+:\d{12}:guardrail/)?[a-z0-9]{1,32}\Z")
_BASE64 = re.compile(r"[A-Za-z0-9+/\r\n]*={0,2}\s*\Z")


def calls(*methods: str) -> re.Pattern[str]:
    """Returns the pattern of the paths of some calls to a model."""
    return re.compile(rf"/model/{_MODEL}/(?P<method>{'|'.join(methods)})\Z", re.ASCII | re.IGNORECASE)


class ModelCall(OptionalModel):
    """A wire of Bedrock. The path names the model, and asks for a stream if its method ends with `stream`."""

    family: Family = "bedrock"
    framing: ClassVar[Framing]

    def model(self, body: Body, path: str) -> object:
        called = self.path.match(path)
        return unquote(called["model"]) if called is not None else None

    def method_path(self, path: str, model: str) -> str:
        called = self.path.match(path)
        assert called is not None
        return f"model/{quote(model, safe='')}/{called['method']}"

    def begun(self, body: Body, path: str) -> Conversation:
        """Returns the conversation of a request to `path`, without blocks. Raises Unprocessable like `take_own`."""
        path = path.partition("?")[0]
        model = self.model(body, path)
        conversation = Conversation(body, model if isinstance(model, str) else "", path.endswith("stream"))
        conversation.framing = self.framing
        take_own(conversation)
        return conversation

    def annotate(self, body: Body, note: Body | None) -> None:
        annotate(body, note)


class BedrockConverse(ModelCall):
    """The wire. Stateless."""

    id = "bedrock-converse"
    stream = ConverseEvents()
    framing = "eventstream"
    path = calls("converse", "converse-stream")
    routes = (("POST", "/model/{model}/converse"), ("POST", "/model/{model}/converse-stream"))

    def read(self, body: Body, path: str = "") -> Conversation:
        conversation = self.begun(body, path)
        read_converse(conversation, body)
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*answer_texts(body)]

    def usage(self, body: Body) -> Tokens:
        return tokens(body)

    def refuse_answer(self, body: Body, message: str) -> None:
        refuse(body, message)


def read_converse(conversation: Conversation, body: Body) -> None:
    """Reads the blocks of a request. Raises BadRequest.

    One that names a prompt of the provider's has its variables in the place of messages.
    """
    names_prompt = "promptVariables" in body and body.get("messages") in (None, [])
    messages = [] if names_prompt else non_empty_list(body, "messages")
    reader = _RequestReader(conversation.files)
    lasting = {name: body[name] for name in ("toolConfig", "system") if name in body}
    before = (field for name in lasting for field in _before(body, name, reader))
    turns = _turns(messages, reader)
    divide(
        conversation,
        placed(Place.INSTRUCTIONS, before),
        turns,
        lambda cut: {"before": _unmarked(lasting), "messages": _unmarked(messages[:cut])},
    )
    conversation.blocks.append([*placed(Place.SETTINGS, reader.settings(body, _READ))])


def _before(body: Body, name: str, reader: "_RequestReader") -> Iterator[MessageField]:
    if name == "system":
        return reader.content(body, "system", "system")
    return reader.fields(body, name, body[name])


def _turns(messages: list[Any], reader: "_RequestReader") -> Iterator[Turn]:
    for index, message in enumerate(messages):
        role = check_role(message, f"messages[{index}]", _ROLES)
        said = plain_text(message.get("content")) if role == "user" else ""
        yield role == "assistant", said, reader.message(message, f"messages[{index}].content")


def _unmarked(value: Any) -> Any:
    """Returns a copy without the points of prompt caches, which clients move at every turn."""
    if isinstance(value, dict):
        return {name: _unmarked(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_unmarked(each) for each in value if not (isinstance(each, dict) and "cachePoint" in each)]
    return value


class _RequestReader(FieldReader):
    """Yields the fields of one request. `files` fills up meanwhile."""

    def __init__(self, files: set[str]) -> None:
        super().__init__(files, _KEYS, _WORDS["numbers"])
        self._is_providers = False

    def message(self, message: Body, where: str) -> Iterator[MessageField]:
        """Yields the fields of a message. Raises BadRequest."""
        self._is_providers = message["role"] == "assistant"
        yield from self.content(message, "content", where)
        yield from self.members(message, frozenset({"role", "content"}))

    def content(self, container: Body, key: str, where: str) -> Iterator[MessageField]:
        """Yields the fields of a list of blocks. Raises BadRequest."""
        blocks = container.get(key)
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise BadRequest(f"`{where}` must be a list of blocks.", param=where)
        for block in [*blocks]:
            reasoning = object_at(block, "reasoningContent")
            thought = object_at(reasoning, "reasoningText")
            own = self._is_providers and is_opaque(thought.get("signature")) and isinstance(thought.get("text"), str)
            # With any other member, nothing of it is sent unsearched.
            if own and len(block) == len(reasoning) == 1 and thought.keys() == _SIGNED:
                if thought["text"]:
                    yield SignedText(blocks, block, thought, "text", {"text": "…"})
            else:
                yield from self.members(block)

    def member(self, container: Body, name: str, value: Json) -> Iterator[MessageField]:
        if name in _WORDS["files"] and isinstance(value, dict):
            passing = partial(self._passing, value)
            if name == "document" and (document := source_of_bedrock(value, passing)) is not None:
                return chain((document,), self.members(value, frozenset({"source"})))
            if not _WORDS["text_sources"] & object_at(value, "source").keys():
                self.files.add(name)
            return self.fields(container, name, value)
        if name == "toolResult" and isinstance(value, dict):
            return placed(Place.TOOL_RESULT, self._result(value))
        if (name == "input" and "toolUseId" in container) or name == "requestMetadata":
            return ValueReader().fields(container, name, value)
        if name == "guardrailIdentifier" and isinstance(value, str) and _GUARDRAIL.match(value):
            return iter(())
        return self.fields(container, name, value)

    def _passing(self, block: Body) -> Iterator[MessageField]:
        """Yields the fields of a document's source that is sent as it is."""
        self.files.add("document")
        return self.member(block, "source", block["source"])

    def _result(self, result: Body) -> Iterator[MessageField]:
        """Yields the fields of the result of a tool, in which JSON and texts may be documents."""
        content = result["content"] if isinstance(result.get("content"), list) else []
        for index, block in enumerate(content):
            if not isinstance(block, dict):
                yield from self.fields(content, index, block)
                continue
            for name in ("json", "text"):
                text = block.get(name)
                if isinstance(text, str) and text.lstrip()[:1] in {"{", "["}:
                    yield json_field(block, name, text)
                elif name in block:
                    yield from ValueReader().fields(block, name, text)
            yield from self.members(block, frozenset({"json", "text"}))
        rest = frozenset({"content"}) if isinstance(result.get("content"), list) else frozenset()
        yield from self.members(result, rest)

    def string(self, container: Any, key: Any, value: str, under: str, label: str) -> Iterator[MessageField]:
        if not value or value in _ALLOWED.get(under, ()) or is_file(value, self.files):
            return
        if key == "bytes" and _BASE64.match(value):
            self.files.add("bytes")
        elif not (key == "redactedContent" and self._is_providers and is_opaque(value)):
            is_name = key in _WORDS["names"]
            yield NameField(container, key, value) if is_name else TextField(container, key, value, label)

    def number(self, container: Any, key: Any, value: float, under: str, label: str) -> MessageField:
        is_setting = key in _WORDS["numbers"]
        return (
            SettingField(container, key, value) if is_setting else super().number(container, key, value, under, label)
        )


WIRE = BedrockConverse()
