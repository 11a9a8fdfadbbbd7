"""Implements the generation wire of Ollama's API (POST …/api/generate)."""

import re

from gateway.errors import BadRequest
from gateway.text.fields import Place, placed
from gateway.wires.base import Body, Conversation
from gateway.wires.ollama_answers import AnsweringWire, AnswerLines
from gateway.wires.ollama_request import RequestReader, begun_by_default_streamed
from gateway.wires.openai_reading import first_text
from gateway.wires.prompts import first_turn

# Members in the order in which a model reads them.
_INSTRUCTIONS = ("template", "system", "format")
_PROMPTS = ("prompt", "suffix")
_READ = frozenset({"model", "stream", "context", *_INSTRUCTIONS, *_PROMPTS})


class OllamaGenerate(AnsweringWire):
    """The wire. Stateless."""

    id = "ollama-generate"
    stream = AnswerLines("", "response")
    path = re.compile(r"(?:/[\w.-]+)*/api/generate\Z")
    method = "api/generate"
    routes = (("POST", "/api/generate"),)

    def read(self, body: Body, path: str = "") -> Conversation:
        """Reads a request. One without a prompt loads the model."""
        conversation = begun_by_default_streamed(body)
        if body.get("context"):
            message = "`context` holds token numbers, which the gateway cannot protect; send the turns to /api/chat."
            raise BadRequest(message, param="context")
        reader = RequestReader(conversation.files)
        told = [field for name in _INSTRUCTIONS if name in body for field in reader.fields(body, name, body[name])]
        asked = [field for name in _PROMPTS if name in body for field in reader.fields(body, name, body[name])]
        conversation.seed = first_turn(first_text(asked, "")) or self.id
        settings = placed(Place.SETTINGS, reader.settings(body, _READ))
        conversation.blocks = [[*placed(Place.INSTRUCTIONS, told), *asked], [*settings]]
        return conversation


WIRE = OllamaGenerate()
