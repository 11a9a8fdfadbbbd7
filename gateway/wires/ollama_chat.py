"""Implements the chat wire of Ollama's API (POST …/api/chat)."""

import re

from gateway.errors import BadRequest
from gateway.text.fields import Place, placed
from gateway.wires.base import Body, Conversation
from gateway.wires.ollama_answers import AnsweringWire, AnswerLines
from gateway.wires.ollama_request import RequestReader, begun_by_default_streamed
from gateway.wires.reading import divide_messages

# Members that a model reads before the messages. All others belong to the single request.
_BEFORE_MESSAGES = ("tools", "format")
_READ = frozenset({"model", "messages", "stream", *_BEFORE_MESSAGES})


class OllamaChat(AnsweringWire):
    """The wire. Stateless."""

    id = "ollama-chat"
    stream = AnswerLines("message", "content")
    path = re.compile(r"(?:/[\w.-]+)*/api/chat\Z")
    method = "api/chat"
    routes = (("POST", "/api/chat"),)

    def read(self, body: Body, path: str = "") -> Conversation:
        """Reads a request. One without messages loads the model."""
        conversation = begun_by_default_streamed(body)
        messages = body.get("messages") or []
        if not isinstance(messages, list):
            raise BadRequest("`messages` must be a list.", param="messages")
        reader = RequestReader(conversation.files)
        divide_messages(conversation, reader, _BEFORE_MESSAGES, messages, reader.turns(messages))
        conversation.blocks.append([*placed(Place.SETTINGS, reader.settings(body, _READ))])
        return conversation


WIRE = OllamaChat()
