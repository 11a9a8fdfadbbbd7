"""Implements the embeddings wire (POST …/embeddings) of the OpenAI API reference.

All texts of a caller share one placeholder key: the same value has the same placeholder in every text, so that
vectors of a text and of a question about it stay comparable.
"""

import re

from gateway.errors import BadRequest
from gateway.text.answers import AnswerText
from gateway.wires.answer_reading import strings_beside, token_counts
from gateway.wires.base import Body, Conversation, Tokens, Wire
from gateway.wires.openai_reading import OpenAIReader, refuse_token_numbers
from gateway.wires.reading import begun, named_model, word

_KEYS = frozenset("model input encoding_format dimensions user type text".split())
# Members of an answer that hold no text. Vectors are lists of numbers, or base64.
_ANSWER_KEYS = frozenset("object data model usage id created".split())
_FORMATS = ("float", "base64")
_OPTION = "In LangChain, set `check_embedding_ctx_length=False`."


class Embeddings(Wire):
    """The wire. Stateless."""

    id = "embeddings"
    # Not those of Ollama.
    path = re.compile(r"(?!.*/api/embeddings\Z)(?:/[\w.-]+)*/embeddings\Z")
    method = "embeddings"

    def model(self, body: Body, path: str) -> object:
        return named_model(body, path)

    def read(self, body: Body, path: str = "") -> Conversation:
        refuse_token_numbers(body, _OPTION)
        conversation = begun(body, path, can_stream=False)
        given = body.get("input")
        if not isinstance(given, str | list) or not given:
            raise BadRequest("`input` must be a string or a non-empty list of strings.", param="input")
        for item in given if isinstance(given, list) else []:
            if not isinstance(item, str | dict):
                raise BadRequest("`input` must hold strings.", param="input")
            if isinstance(item, dict):
                conversation.files.update(name for name in item if name not in {"text", "type"})
        reader = OpenAIReader(conversation.files, _KEYS, {"dimensions"})
        read = {"model", "input", *(["encoding_format"] if word(body.get("encoding_format")) in _FORMATS else [])}
        conversation.seed = self.id
        conversation.blocks = [[*reader.fields(body, "input", given)], [*reader.settings(body, read)]]
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*strings_beside(_ANSWER_KEYS, body)]

    def usage(self, body: Body) -> Tokens:
        read, _ = token_counts(body, "prompt_tokens", "total_tokens")
        return read, None

    def refuse_answer(self, body: Body, message: str) -> None:
        body.clear()
        body.update(object="list", data=[], error={"message": message, "code": "content_filter"})


WIRE = Embeddings()
