"""Implements the wire by which clients use Anthropic's models on Vertex AI (POST …/publishers/anthropic/models/…).

Bodies, answers and events are those of the Anthropic wire. The path names the model, except for counts of tokens, whose
path has `count-tokens` in its place.
"""

from gateway.errors import BadRequest
from gateway.wires.anthropic_messages import AnthropicMessages
from gateway.wires.base import Body, Conversation, OptionalModel
from gateway.wires.vertex_paths import below_base_url, publisher_path

_COUNT = "count-tokens"
_PLACE = "/v1/projects/{project}/locations/{location}/publishers/anthropic/models"


class VertexAnthropic(OptionalModel, AnthropicMessages):
    """The wire. Stateless."""

    id = "vertex-anthropic"
    path = publisher_path("anthropic", "rawPredict", "streamRawPredict")
    routes = (
        *(("POST", f"{_PLACE}/{{model}}:{method}") for method in ("rawPredict", "streamRawPredict")),
        ("POST", f"{_PLACE}/{_COUNT}:rawPredict"),
    )

    def model(self, body: Body, path: str) -> object:
        called = self.path.match(path)
        return called["model"] if called and called["model"] != _COUNT else body.get("model")

    def method_path(self, path: str, model: str) -> str:
        called = self.path.match(path)
        assert called is not None
        return below_base_url(called, "anthropic", _COUNT if called["model"] == _COUNT else model)

    def read(self, body: Body, path: str = "") -> Conversation:
        called = self.path.match(path.partition("?")[0])
        if called and called["model"] != _COUNT and "model" in body:
            raise BadRequest("The path names the model; leave `model` out of the body.", param="model")
        conversation = super().read(body, path)
        conversation.stream = conversation.stream or (called is not None and called["method"] == "streamRawPredict")
        return conversation


WIRE = VertexAnthropic()
