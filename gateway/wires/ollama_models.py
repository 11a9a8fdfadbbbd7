"""Implements the wire of Ollama's calls about its models (POST …/api/show) and itself (GET …/api/version).

Clients ask for both before they begin: which tools a model takes, and whether the server is new enough.
"""

import re

from gateway.config.settings import CONFIGURED_UPSTREAM
from gateway.models import Family
from gateway.text.answers import AnswerText
from gateway.text.fields import Place, placed
from gateway.wires.answer_reading import answer_strings
from gateway.wires.base import Body, Conversation, OptionalModel
from gateway.wires.ollama_request import RequestReader
from gateway.wires.reading import begun

_VERSION = re.compile(r"(?:/[\w.-]+)*/api/version\Z")


class OllamaModels(OptionalModel):
    """The wire. Stateless."""

    id = "ollama-models"
    family: Family = "ollama"
    path = re.compile(r"(?:/[\w.-]+)*/api/show\Z")
    routes = (("POST", "/api/show"), ("GET", "/api/version"))

    def serves(self, method: str, path: str) -> bool:
        pattern = {"POST": self.path, "GET": _VERSION}.get(method)
        return pattern is not None and pattern.match(path) is not None

    def model(self, body: Body, path: str) -> object:
        """Returns the model, which older clients have as the name; without one, the call is about the server."""
        return body.get("model") or body.get("name") if body or self.path.match(path) else CONFIGURED_UPSTREAM

    def set_model(self, body: Body, model: str) -> None:
        for name in ("model", "name"):
            if body.get(name):
                body[name] = model

    def method_path(self, path: str, model: str) -> str:
        return f"api/{path.rpartition('/')[2]}"

    def read(self, body: Body, path: str = "") -> Conversation:
        if not body and _VERSION.match(path.partition("?")[0]):
            return Conversation(body, "", False, [[]], only_reads=True)
        conversation = begun(body, can_stream=False, model=self.model(body, path))
        conversation.seed = self.id
        reader = RequestReader(conversation.files)
        settings = reader.settings(body, frozenset({"model"} if body.get("model") else {"name"}))
        conversation.blocks = [[*placed(Place.SETTINGS, settings)]]
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*answer_strings(body, {}, "", 0)]

    def refuse_answer(self, body: Body, message: str) -> None:
        body.clear()
        body["error"] = message


WIRE = OllamaModels()
