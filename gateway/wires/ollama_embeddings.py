"""Implements the embeddings wire of Ollama's API (POST …/api/embed, and …/api/embeddings of older clients).

As with the embeddings wire, all texts of a caller share one placeholder key, so that vectors stay comparable.
"""

import re

from gateway.errors import BadRequest
from gateway.models import Family
from gateway.text.answers import AnswerText
from gateway.wires.answer_reading import count_of, strings_beside
from gateway.wires.base import Body, Conversation, Tokens, Wire
from gateway.wires.ollama_request import RequestReader
from gateway.wires.openai_reading import refuse_token_numbers
from gateway.wires.reading import begun

_TEXTS = ("input", "prompt")
_READ = frozenset({"model", *_TEXTS})
# Members of an answer that hold no text.
_ANSWER_KEYS = frozenset("model embeddings embedding total_duration load_duration prompt_eval_count".split())


class OllamaEmbeddings(Wire):
    """The wire. Stateless."""

    id = "ollama-embeddings"
    family: Family = "ollama"
    path = re.compile(r"(?:/[\w.-]+)*/api/(?P<method>embed|embeddings)\Z")
    routes = (("POST", "/api/embed"), ("POST", "/api/embeddings"))

    def method_path(self, path: str, model: str) -> str:
        return f"api/{path.rpartition('/')[2]}"

    def read(self, body: Body, path: str = "") -> Conversation:
        conversation = begun(body, can_stream=False)
        refuse_token_numbers(body)
        given = [body[name] for name in _TEXTS if name in body]
        is_text = all(isinstance(each, str) or _is_texts(each) for each in given)
        if not given or not is_text:
            raise BadRequest("`input` must be a string or a list of strings.", param="input")
        reader = RequestReader(conversation.files)
        conversation.seed = self.id
        texts = [field for name in _TEXTS if name in body for field in reader.fields(body, name, body[name])]
        conversation.blocks = [texts, [*reader.settings(body, _READ)]]
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*strings_beside(_ANSWER_KEYS, body)]

    def usage(self, body: Body) -> Tokens:
        read = count_of(body.get("prompt_eval_count"))
        return read, None if read is None else 0

    def refuse_answer(self, body: Body, message: str) -> None:
        body.clear()
        body.update(embeddings=[], error=message)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


WIRE = OllamaEmbeddings()
