"""Implements the chat wire of Ollama's API (POST …/api/chat)."""

import re

from gateway.errors import BadRequest
from gateway.models import Family
from gateway.text.answers import AnswerText
from gateway.text.fields import Place, placed
from gateway.wires.base import Body, Conversation, Tokens, Wire
from gateway.wires.ollama_answers import AnswerLines, tokens
from gateway.wires.ollama_request import RequestReader, begun_by_default_streamed
from gateway.wires.reading import divide

# Members that a model reads before the messages. All others belong to the single request.
_BEFORE_MESSAGES = ("tools", "format")
_READ = frozenset({"model", "messages", "stream", *_BEFORE_MESSAGES})


class OllamaChat(Wire):
    """The wire. Stateless."""

    id = "ollama-chat"
    family: Family = "ollama"
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
        before = {name: body[name] for name in _BEFORE_MESSAGES if name in body}
        lasting = (field for name in before for field in reader.fields(body, name, body[name]))
        divide(
            conversation,
            placed(Place.INSTRUCTIONS, lasting),
            reader.turns(messages),
            lambda cut: {**before, "messages": messages[:cut]},
        )
        conversation.blocks.append([*placed(Place.SETTINGS, reader.settings(body, _READ))])
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*self.stream.read(body)]

    def usage(self, body: Body) -> Tokens:
        return tokens(body)

    def refuse_answer(self, body: Body, message: str) -> None:
        refused = self.stream.refused(message, body)
        body.clear()
        body |= refused


WIRE = OllamaChat()
