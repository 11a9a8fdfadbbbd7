"""Implements the moderations wire (POST …/moderations) of the OpenAI API reference, and Mistral's of messages (POST
…/chat/moderations).
"""

import re
from typing import Any

from gateway.errors import BadRequest
from gateway.text.answers import AnswerText
from gateway.wires.answer_reading import strings_beside
from gateway.wires.base import Body, Conversation, Wire
from gateway.wires.openai_reading import OpenAIReader, first_text, refuse_token_numbers
from gateway.wires.reading import begun, kind_of

_KEYS = frozenset("model input type text image_url url user metadata".split())
_CHAT_KEYS = _KEYS | {"role", "content"}
_ANSWER_KEYS = frozenset("id object model usage".split())
# The API uses it for a request that names no model.
_DEFAULT_MODEL = "omni-moderation-latest"


class Moderations(Wire):
    """The wire. Stateless."""

    id = "moderations"
    path = re.compile(r"(?:/[\w.-]+)*/(?:chat/)?moderations\Z")
    method = "moderations"

    def model(self, body: Body, path: str) -> object:
        return body.get("model", _DEFAULT_MODEL)

    def read(self, body: Body, path: str = "") -> Conversation:
        body.setdefault("model", _DEFAULT_MODEL)
        conversation = begun(body, can_stream=False)
        refuse_token_numbers(body)
        given = body.get("input")
        if not isinstance(given, str | list) or not given:
            raise BadRequest("`input` must be a string or a non-empty list.", param="input")
        _check(given, conversation.files)
        reader = OpenAIReader(conversation.files, _CHAT_KEYS if "/chat/" in path else _KEYS)
        texts = [*reader.fields(body, "input", given)]
        conversation.seed = first_text((field for field in texts if field.key != "role"), self.id)
        conversation.blocks = [texts, [*reader.settings(body, {"model", "input"})]]
        return conversation

    def method_path(self, path: str, model: str) -> str:
        return f"chat/{self.method}" if path.endswith(f"/chat/{self.method}") else self.method

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*strings_beside(_ANSWER_KEYS, body)]

    def refuse_answer(self, body: Body, message: str) -> None:
        body.update(results=[], error={"message": message, "code": "content_filter"})


def _check(given: Any, files: set[str]) -> None:
    """Adds the kinds of parts that are no text. Raises BadRequest for anything but texts, parts and messages."""
    for item in given if isinstance(given, list) else []:
        if isinstance(item, list):
            _check(item, files)
        elif isinstance(item, dict) and "role" in item:
            # Mistral's calls to moderate a chat have messages.
            _check(item.get("content"), files)
        elif isinstance(item, dict):
            files.update({kind_of(item)} - {"text"})
        elif not isinstance(item, str):
            raise BadRequest("`input` must hold strings, parts or messages.", param="input")


WIRE = Moderations()
