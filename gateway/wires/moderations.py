"""Implements the moderations wire (POST …/moderations) of the OpenAI API reference."""

import re

from gateway.errors import BadRequest
from gateway.text.answers import AnswerText
from gateway.wires.answer_reading import strings_beside
from gateway.wires.base import Body, Conversation, Wire
from gateway.wires.openai_reading import OpenAIReader, first_text, refuse_token_numbers
from gateway.wires.reading import begun, kind_of

_KEYS = frozenset("model input type text image_url url user metadata".split())
_ANSWER_KEYS = frozenset("id object model usage".split())
# The API uses it for a request that names no model.
_DEFAULT_MODEL = "omni-moderation-latest"


class Moderations(Wire):
    """The wire. Stateless."""

    id = "moderations"
    path = re.compile(r"(?:/[\w.-]+)*/moderations\Z")
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
        for item in given if isinstance(given, list) else []:
            if not isinstance(item, str | dict):
                raise BadRequest("`input` must hold strings or parts.", param="input")
            if isinstance(item, dict) and item.get("type") != "text":
                conversation.files.add(kind_of(item))
        reader = OpenAIReader(conversation.files, _KEYS)
        texts = [*reader.fields(body, "input", given)]
        conversation.seed = first_text(texts, self.id)
        conversation.blocks = [texts, [*reader.settings(body, {"model", "input"})]]
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*strings_beside(_ANSWER_KEYS, body)]

    def refuse_answer(self, body: Body, message: str) -> None:
        body.update(results=[], error={"message": message, "code": "content_filter"})


WIRE = Moderations()
