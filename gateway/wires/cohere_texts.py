"""Implements the wire of Cohere's calls on texts (POST …/embed and …/rerank, version 1 and 2).

As with the embeddings wire, all texts of a caller share one placeholder key, so that vectors and ranks stay comparable.
"""

import re

from gateway.detection.data_files import word_lists
from gateway.errors import BadRequest
from gateway.models import Family
from gateway.text.answers import AnswerText
from gateway.wires.answer_reading import count_of, strings_beside
from gateway.wires.base import Body, Conversation, OptionalModel, Tokens
from gateway.wires.cohere_chat import RequestReader
from gateway.wires.members import object_at
from gateway.wires.openai_reading import refuse_token_numbers
from gateway.wires.reading import begun

_WORDS = word_lists(__file__)
_TEXTS = ("query", "texts", "inputs", "documents")
_READ = frozenset({"model", *_TEXTS})
# The API uses it for a request that names no model.
_DEFAULT_MODEL = "default"


class CohereTexts(OptionalModel):
    """The wire. Stateless."""

    id = "cohere-texts"
    family: Family = "cohere"
    path = re.compile(r"(?:/[\w.-]+)*/(?P<method>v[12]/(?:embed|rerank))\Z")
    routes = (("POST", "/v2/embed"), ("POST", "/v2/rerank"))

    def model(self, body: Body, path: str) -> object:
        return body.get("model", _DEFAULT_MODEL)

    def method_path(self, path: str, model: str) -> str:
        called = self.path.match(path)
        assert called is not None
        return called["method"]

    def read(self, body: Body, path: str = "") -> Conversation:
        conversation = begun(body, can_stream=False, model=self.model(body, path))
        refuse_token_numbers(body)
        if body.get("images"):
            conversation.files.add("images")
        given = [name for name in _TEXTS if body.get(name)]
        if not given and not conversation.files:
            raise BadRequest("The body has no texts; send `texts`, or `query` and `documents`.", param="texts")
        reader = RequestReader(conversation.files, _WORDS["keys"], _WORDS["numbers"])
        for each in body["inputs"] if isinstance(body.get("inputs"), list) else ():
            content = each.get("content") if isinstance(each, dict) else None
            parts = content if isinstance(content, list) else []
            conversation.files.update("image_url" for part in parts if object_at(part, "image_url"))
        conversation.seed = self.id
        texts = [field for name in given for field in reader.fields(body, name, body[name])]
        conversation.blocks = [texts, [*reader.settings(body, _READ)]]
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*strings_beside(_WORDS["answer"], body)]

    def usage(self, body: Body) -> Tokens:
        read = count_of(object_at(object_at(body, "meta"), "billed_units").get("input_tokens"))
        return read, None if read is None else 0

    def refuse_answer(self, body: Body, message: str) -> None:
        body.clear()
        body.update(embeddings={}, results=[], message=message)


WIRE = CohereTexts()
