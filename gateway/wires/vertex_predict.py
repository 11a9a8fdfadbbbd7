"""Implements the prediction wire of Vertex AI (POST …/publishers/google/models/MODEL:predict), mainly for embeddings.

As with the embeddings wire, all texts of a caller share one placeholder key, so that vectors stay comparable.
"""

from collections.abc import Iterator
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.models import Family
from gateway.text.answers import AnswerText
from gateway.text.fields import MessageField
from gateway.wires.answer_reading import answer_strings
from gateway.wires.base import Body, Conversation, OptionalModel, Tokens
from gateway.wires.gemini_request import camel
from gateway.wires.members import objects_at
from gateway.wires.reading import FieldReader, non_empty_list, take_own, unknown_keys, word
from gateway.wires.vertex_paths import below_base_url, publisher_path

_WORDS = word_lists(__file__)


class VertexPredict(OptionalModel):
    """The wire. Stateless."""

    id = "vertex-predict"
    family: Family = "gemini"
    path = publisher_path("google", "predict")
    routes = (("POST", "/v1/projects/{project}/locations/{location}/publishers/google/models/{model}:predict"),)

    def model(self, body: Body, path: str) -> object:
        called = self.path.match(path)
        return called["model"] if called else None

    def method_path(self, path: str, model: str) -> str:
        called = self.path.match(path)
        assert called is not None
        return below_base_url(called, "google", model)

    def read(self, body: Body, path: str = "") -> Conversation:
        model = self.model(body, path.partition("?")[0])
        conversation = Conversation(body, model if isinstance(model, str) else "", False)
        take_own(conversation)
        instances = non_empty_list(body, "instances")
        reader = _InstanceReader(conversation.files, _WORDS["keys"], _WORDS["numbers"])
        conversation.seed = self.id
        settings = [field for name in body if name != "instances" for field in reader.fields(body, name, body[name])]
        texts = [*reader.fields(body, "instances", instances)]
        conversation.blocks = [texts, [*settings, *unknown_keys(body, reader.keys)]]
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        found = [
            text
            for name, value in body.items()
            if name not in _WORDS["answer"]
            for text in answer_strings(value, body, name, 0)
        ]
        for text in found:
            if text.key == "bytesBase64Encoded":
                text.kind = "data"
        return found

    def usage(self, body: Body) -> Tokens:
        counts = [_token_count(each) for each in objects_at(body, "predictions")]
        known = [count for count in counts if count is not None]
        return (sum(known), 0) if known else (None, None)

    def refuse_answer(self, body: Body, message: str) -> None:
        body.clear()
        body.update(predictions=[], error={"code": 400, "message": message, "status": "FAILED_PRECONDITION"})


def _token_count(prediction: Body) -> int | None:
    match prediction:
        case {"embeddings": {"statistics": {"token_count": int() | float() as count}}}:
            return int(count)
    return None


class _InstanceReader(FieldReader):
    """Skips the words that the API allows in a member, and notes images and other files."""

    def member(self, container: Body, name: str, value: Any) -> Iterator[MessageField]:
        if camel(name) in _WORDS["files"]:
            self.files.add(camel(name))
        return super().member(container, name, value)

    def string(self, container: Any, key: Any, value: str, under: str, label: str) -> Iterator[MessageField]:
        if camel(under) == "taskType" and word(value) in _WORDS["tasks"]:
            return
        yield from super().string(container, key, value, under, label)


WIRE = VertexPredict()
