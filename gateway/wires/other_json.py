"""Reads the JSON of calls that no wire knows: every string, key and long number in them is text.

The proxy protects such calls to intercepted hosts, since their clients cannot be changed. This wire serves no path. No
member says where a file is, so base64 that cannot be searched counts as one.

Some of these calls store texts that a model call then names instead of repeating them: the items of a conversation of
OpenAI's API, and what Gemini's keeps as cached content. Their values are remembered under that name.
"""

import re
from collections.abc import Iterator
from typing import Any

from gateway.text.answers import AnswerText
from gateway.text.fields import MessageField
from gateway.wires.answer_reading import answer_strings
from gateway.wires.base import Body, Conversation, Wire
from gateway.wires.encoded_files import has_unreadable, is_unreadable
from gateway.wires.openai_reading import OpenAIReader
from gateway.wires.prompts import first_turn_of
from gateway.wires.reading import opening_of, refuse_token_members, take_corrections, unknown_keys

# Calls that store texts for later ones, and the conversation that they store them in.
_STORING = re.compile(r"(?:/[\w.-]+)*/(?:conversations(?:/(\w+)/items)?|cachedContents)\Z", re.ASCII)

# Members that name a model, and such names. An address or a number is none.
_MODEL_MEMBERS = frozenset({"model", "models", "model_id", "modelId", "model_name", "modelName"})
_MODEL = re.compile(r"[A-Za-z](?:[\w.:/+-]{0,94}\w)?\Z", re.ASCII)
_MOST_NAMES = 16


class OtherReader(OpenAIReader):
    """Leaves names of models out of the texts, since they may read like a person's, and collects them in `names`."""

    def __init__(self, files: set[str], names: set[str]) -> None:
        super().__init__(files)
        self._names = names

    def string(self, container: Any, key: Any, value: str, under: str, label: str) -> Iterator[MessageField]:
        if under in _MODEL_MEMBERS and _MODEL.match(value) is not None and len(self._names) < _MOST_NAMES:
            self._names.add(value)
            return iter(())
        return super().string(container, key, value, under, label)


class OtherJson(Wire):
    """The wire. Stateless."""

    id = "other-json"
    routes = ()

    def serves(self, method: str, path: str) -> bool:
        return False

    def model(self, body: Body, path: str) -> object:
        return None

    def set_model(self, body: Body, model: str) -> None:
        """Changes nothing: a `model` in the body is sent as it is."""

    def method_path(self, path: str, model: str) -> str:
        return path.removeprefix("/")

    def read(self, body: Body, path: str = "") -> Conversation:
        conversation = Conversation(body, "", False)
        refuse_token_members(body)
        take_corrections(conversation)
        conversation.seed = first_turn_of(body) or opening_of(body)
        reader = OtherReader(conversation.files, conversation.names)
        fields = [field for key, value in body.items() for field in reader.fields(body, key, value)]
        read = [(field, (field.protected()[0], field.container, field.key)) for field in fields]
        texts = [field for field, string in read if not is_unreadable(*string)]
        if len(texts) < len(fields) or any(has_unreadable(*string) for _, string in read):
            conversation.files.add("data")
        conversation.blocks = [[*texts, *unknown_keys(body, reader.keys)]]
        if (storing := _STORING.match(path.partition("?")[0])) is not None:
            conversation.continues, conversation.resumable = storing[1] or "", True
        return conversation

    def answer_ids(self, body: Body, path: str = "") -> tuple[str, ...]:
        """Returns the name of the conversation or cached content in which a request to `path` has stored texts."""
        storing = _STORING.match(path)
        name = (storing[1] or body.get("id") or body.get("name")) if storing is not None else None
        return (name,) if isinstance(name, str) and name else ()

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*answer_strings(body, {}, "", 0)]

    def annotate(self, body: Body, note: Body | None) -> None:
        """Changes nothing: proxy clients get no note."""

    def refuse_answer(self, body: Body, message: str) -> None:
        body.clear()
        body["error"] = {"message": message, "type": "content_filter"}


OTHER_JSON = OtherJson()
