"""Implements the Anthropic wire (POST …/messages and …/messages/count_tokens) of the Anthropic API reference.

Everything that is not known to be structure is text: unknown fields, blocks and keys are searched like a message.
`anthropic_request.py` reads the parts of a request, `anthropic_events.py` the answers.

A request that continues a `thread` has only the new turn. An SDK that is told that its thread is unknown sends the
whole conversation again, so that is what it is told when the gateway does not remember the thread.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gateway.errors import BadRequest
from gateway.models import Family
from gateway.text.answers import AnswerText
from gateway.text.fields import MessageField, Place, placed
from gateway.wires.anthropic_events import MessageEvents, message_texts, refuse, tokens
from gateway.wires.anthropic_request import RequestReader
from gateway.wires.base import Body, Conversation, Tokens, Wire
from gateway.wires.members import text_at
from gateway.wires.reading import (
    Turn,
    begun,
    check_role,
    check_whole,
    divide,
    plain_text,
    word,
)

_ROLES = frozenset({"user", "assistant", "system"})
# Fields that are read on their own: those that a model reads, and words that are validated. All others belong to the
# single request.
_READ = frozenset({"model", "messages", "stream", "tools", "system", "output_format"})
# Claude Code starts its system prompt with a header that differs in every request. The provider takes it out again.
_BILLING = "x-anthropic-billing-header:"


class AnthropicMessages(Wire):
    """The wire. Stateless."""

    id = "anthropic-messages"
    family: Family = "anthropic"
    stream = MessageEvents()
    # Not the messages of OpenAI's threads.
    path = re.compile(r"(?!.*/threads/)(?:/[\w.-]+)*/messages(?:/count_tokens)?\Z")
    routes: Sequence[tuple[str, str]] = (("POST", "/v1/messages"), ("POST", "/v1/messages/count_tokens"))

    def method_path(self, path: str, model: str) -> str:
        return "v1/messages/count_tokens" if path.endswith("/count_tokens") else "v1/messages"

    def read(self, body: Body, path: str = "") -> Conversation:
        conversation = begun(body, model=self.model(body, path.partition("?")[0]))
        check_whole(body, "max_tokens")
        messages, continues = body.get("messages"), text_at(body.get("thread"), "previous_message_id")
        # A turn that the provider has paused is continued without a new message.
        if not isinstance(messages, list) or not (messages or continues):
            raise BadRequest("`messages` must be a non-empty list.", param="messages")
        conversation.continues, conversation.replays = continues, continues != ""
        conversation.resumable = isinstance(body.get("thread"), dict)
        reader = RequestReader(conversation.files)
        divide(
            conversation,
            placed(Place.INSTRUCTIONS, _before_messages(body, reader)),
            _turns(messages, reader),
            lambda cut: {**_lasting(body), "messages": messages[:cut]},
        )
        settings = [*reader.settings(body, _READ)]
        conversation.blocks.append([*placed(Place.SETTINGS, [*reader.late, *settings])])
        return conversation

    def answer_ids(self, body: Body, path: str = "") -> tuple[str, ...]:
        """Returns the name by which a thread may continue a message, or that of the event that starts one."""
        name = text_at(body.get("message", body), "id")
        return (name,) if name else ()

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*message_texts(body)]

    def usage(self, body: Body) -> Tokens:
        message = body.get("message")
        usage = message.get("usage") if isinstance(message, dict) else body.get("usage")
        read, written = tokens(usage if isinstance(usage, dict) else body)
        # Events may report only one of them.
        is_partial = isinstance(usage, dict) and not word(body.get("type")).startswith("message_")
        return (None, None) if is_partial and None in (read, written) else (read, written)

    def refuse_answer(self, body: Body, message: str) -> None:
        refuse(body, message)


def _turns(messages: list[Any], reader: RequestReader) -> Iterator[Turn]:
    for index, message in enumerate(messages):
        role = check_role(message, f"messages[{index}]", _ROLES)
        said = plain_text(message.get("content")) if role == "user" else ""
        fields = reader.message(message, f"messages[{index}].content")
        yield role == "assistant", said, placed(Place.INSTRUCTIONS, fields) if role == "system" else fields


def _system(body: Body) -> tuple[Body, Body]:
    """Divides the blocks of the system prompt into those that stay and those that differ in every request."""
    system = body.get("system")
    if not isinstance(system, list):
        return body, {}
    billed = [block for block in system if text_at(block, "text").startswith(_BILLING)]
    return {"system": [block for block in system if block not in billed]}, {"system": billed}


def _lasting(body: Body) -> Body:
    """Returns what precedes the messages at every turn of a conversation."""
    system, _ = _system(body)
    return {name: given[name] for name, given in (("tools", body), ("system", system)) if name in given}


def _before_messages(body: Body, reader: RequestReader) -> Iterator[MessageField]:
    if "tools" in body:
        yield from reader.fields(body, "tools", body["tools"])
    system, billed = _system(body)
    yield from reader.content(system, "system", "system")
    reader.late += reader.content(billed, "system", "system")
    if "output_format" in body:
        yield from reader.fields(body, "output_format", body["output_format"])
    config = body.get("output_config")
    if isinstance(config, dict) and "format" in config:
        yield from reader.fields(config, "format", config["format"])


WIRE = AnthropicMessages()
