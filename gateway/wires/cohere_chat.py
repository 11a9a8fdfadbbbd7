"""Implements the chat wire of Cohere's API (POST …/v2/chat)."""

import re
from collections.abc import Iterable
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.models import Family
from gateway.text.answers import AnswerText, CitedSpan
from gateway.text.fields import Place, placed
from gateway.wires.answer_reading import count_of, strings_beside
from gateway.wires.base import Body, Conversation, Tokens, Wire
from gateway.wires.chat_completions import MessageReader
from gateway.wires.cohere_events import ChatEvents, message_texts
from gateway.wires.members import index_at, object_at, objects_at
from gateway.wires.reading import SCHEMA_KEYS, begun, divide_messages, non_empty_list

_WORDS = word_lists(__file__)
# Members that a model reads before the messages. All others belong to the single request.
_BEFORE_MESSAGES = ("tools", "response_format")
_READ = frozenset({"model", "messages", "stream", "documents", *_BEFORE_MESSAGES})


class RequestReader(MessageReader):
    """Reads documents as texts: they are no files."""

    text_parts = _WORDS["text_parts"]


class CohereChat(Wire):
    """The wire. Stateless."""

    id = "cohere-chat"
    family: Family = "cohere"
    stream = ChatEvents()
    path = re.compile(r"(?:/[\w.-]+)*/v2/chat\Z")
    method = "v2/chat"
    routes = (("POST", "/v2/chat"),)

    def read(self, body: Body, path: str = "") -> Conversation:
        """Reads a request. Its documents are those of the last turn, as the results of tools are."""
        conversation = begun(body)
        messages = non_empty_list(body, "messages")
        reader = RequestReader(conversation.files, SCHEMA_KEYS | _WORDS["keys"], _WORDS["numbers"])
        divide_messages(conversation, reader, _BEFORE_MESSAGES, messages, reader.turns(messages))
        documents = reader.fields(body, "documents", body["documents"]) if "documents" in body else ()
        settings = placed(Place.SETTINGS, reader.settings(body, _READ))
        conversation.blocks.append([*placed(Place.TOOL_RESULT, documents), *settings])
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        found = [*message_texts(object_at(body, "message"))]
        for text in found:
            text.scored = body if text.kind == text.key == "text" else None
        return [*found, *strings_beside(_WORDS["answer"], body)]

    def spans(self, body: Body) -> list[CitedSpan]:
        message = object_at(body, "message")
        content = message.get("content")
        blocks: Iterable[Any] = enumerate(content) if isinstance(content, list) else ()
        texts = {at: (block, "text") for at, block in blocks if isinstance(block, dict) and "text" in block}
        first = next(iter(texts), 0)
        return [
            CitedSpan(citation, texts.get(index_at(citation, "content_index", first)))
            for citation in objects_at(message, "citations")
        ]

    def usage(self, body: Body) -> Tokens:
        """The last event of a stream reports the tokens in its delta."""
        counts = object_at(object_at(object_at(body, "delta") or body, "usage"), "tokens")
        return count_of(counts.get("input_tokens")), count_of(counts.get("output_tokens"))

    def refuse_answer(self, body: Body, message: str) -> None:
        known: Body = {name: body[name] for name in ("id", "usage") if name in body}
        body.clear()
        said = {"role": "assistant", "content": [{"type": "text", "text": message}]}
        body |= known | {"message": said, "finish_reason": "ERROR"}


WIRE = CohereChat()
