"""Implements the embeddings wire (POST …/embeddings) of the OpenAI API reference.

All texts of a caller share one placeholder key: the same value has the same placeholder in every text, so that
vectors of a text and of a question about it stay comparable.
"""

import re

from gateway.errors import BadRequest
from gateway.text.answers import AnswerText
from gateway.wires.base import Body, Conversation, EventFormat, Family
from gateway.wires.reading import (
    model_of,
    named_model,
    put_note,
    refuse_token_numbers,
    setting_fields,
    strings_beside,
    take_own,
    text_fields,
    token_counts,
    unknown_keys,
    word,
)

_PATH = re.compile(r"(?:/[\w.-]+)*/embeddings\Z")
_KEYS = frozenset("model input encoding_format dimensions user type text".split())
# Members of an answer that hold no text. Vectors are lists of numbers, or base64.
_ANSWER_KEYS = frozenset("object data model usage id created".split())
_FORMATS = ("float", "base64")
_NUMBERS = frozenset({"dimensions"})
_OPTION = "In LangChain, set `check_embedding_ctx_length=False`."


class Embeddings:
    """The wire. Stateless."""

    id = "embeddings"
    family: Family = "openai"
    stream: EventFormat | None = None

    def serves(self, method: str, path: str) -> bool:
        return method == "POST" and _PATH.match(path) is not None

    def model(self, body: Body, path: str) -> object:
        return named_model(body, path)

    def set_model(self, body: Body, model: str) -> None:
        body["model"] = model

    def method_path(self, path: str, model: str) -> str:
        return "embeddings"

    def read(self, body: Body, path: str = "") -> Conversation:
        own = take_own(body)
        model = model_of(body, path)
        given = body.get("input")
        refuse_token_numbers(body, _OPTION)
        if not isinstance(given, str | list) or not given:
            raise BadRequest("`input` must be a string or a non-empty list of strings.", param="input")
        attachments = set[str]()
        if isinstance(given, list):
            for item in given:
                if not isinstance(item, str | dict):
                    raise BadRequest("`input` must hold strings.", param="input")
                if isinstance(item, dict):
                    attachments.update(name for name in item if name not in {"text", "type"})
        settings = [
            field
            for name, value in body.items()
            if name not in {"model", "input"} and not (name == "encoding_format" and word(value) in _FORMATS)
            for field in setting_fields(body, name, value, _KEYS, _NUMBERS, attachments)
        ]
        blocks = [[*text_fields(body, "input", given, _KEYS, attachments)], [*settings, *unknown_keys(body, _KEYS)]]
        conversation = Conversation(body, model, False, blocks, self.id)
        conversation.attachments = tuple(sorted(attachments))
        own.put(conversation)
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*strings_beside(_ANSWER_KEYS, body)]

    def usage(self, body: Body) -> tuple[int, int] | None:
        counts = token_counts(body.get("usage"), "prompt_tokens", "total_tokens")
        return None if counts is None else (counts[0], 0)

    def annotate(self, body: Body, note: Body | None) -> None:
        put_note(body, note)

    def refuse_answer(self, body: Body, message: str) -> None:
        body.clear()
        body.update(object="list", data=[], error={"message": message, "code": "content_filter"})


WIRE = Embeddings()
