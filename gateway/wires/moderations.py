"""Implements the moderations wire (POST …/moderations) of the OpenAI API reference."""

import re

from gateway.errors import BadRequest
from gateway.text.answers import AnswerText
from gateway.wires.base import Body, Conversation, EventFormat, Family
from gateway.wires.reading import (
    model_of,
    put_note,
    refuse_token_numbers,
    setting_fields,
    strings_beside,
    take_own,
    text_fields,
    unknown_keys,
)

_PATH = re.compile(r"(?:/[\w.-]+)*/moderations\Z")
_KEYS = frozenset("model input type text image_url url user metadata".split())
_ANSWER_KEYS = frozenset("id object model usage".split())
# What the API uses for a request that names no model.
_DEFAULT_MODEL = "omni-moderation-latest"


class Moderations:
    """The wire. Stateless."""

    id = "moderations"
    family: Family = "openai"
    stream: EventFormat | None = None

    def serves(self, method: str, path: str) -> bool:
        return method == "POST" and _PATH.match(path) is not None

    def model(self, body: Body, path: str) -> object:
        return body.get("model", _DEFAULT_MODEL)

    def set_model(self, body: Body, model: str) -> None:
        body["model"] = model

    def method_path(self, path: str, model: str) -> str:
        return "moderations"

    def read(self, body: Body, path: str = "") -> Conversation:
        own = take_own(body)
        body.setdefault("model", _DEFAULT_MODEL)
        model = model_of(body)
        refuse_token_numbers(body)
        given = body.get("input")
        if not isinstance(given, str | list) or not given:
            raise BadRequest("`input` must be a string or a non-empty list.", param="input")
        attachments = set[str]()
        for item in given if isinstance(given, list) else []:
            if not isinstance(item, str | dict):
                raise BadRequest("`input` must hold strings or parts.", param="input")
            kind = item.get("type") if isinstance(item, dict) else "text"
            if kind != "text":
                attachments.add(kind if isinstance(kind, str) else "unknown")
        settings = [
            field
            for name, value in body.items()
            if name not in {"model", "input"}
            for field in setting_fields(body, name, value, _KEYS, frozenset(), attachments)
        ]
        texts = [*text_fields(body, "input", given, _KEYS, attachments)]
        seed = next((text for field in texts for text in field.texts), self.id)
        conversation = Conversation(body, model, False, [texts, [*settings, *unknown_keys(body, _KEYS)]], seed)
        conversation.attachments = tuple(sorted(attachments))
        own.put(conversation)
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*strings_beside(_ANSWER_KEYS, body)]

    def usage(self, body: Body) -> tuple[int, int] | None:
        return None

    def annotate(self, body: Body, note: Body | None) -> None:
        put_note(body, note)

    def refuse_answer(self, body: Body, message: str) -> None:
        body.update(results=[], error={"message": message, "code": "content_filter"})


WIRE = Moderations()
