"""Implements the Gemini wire (POST …/models/MODEL:generateContent and its relatives) of the Gemini API reference.

Everything that is not known to be structure is text: unknown fields, parts and keys are searched like a message.
`gemini_request.py` reads the parts of a request, `gemini_answers.py` the answers.
"""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs

from gateway.errors import BadRequest
from gateway.models import Family
from gateway.text.answers import AnswerText
from gateway.text.fields import MessageField, Place, placed
from gateway.wires.base import Body, Conversation, Tokens, Wire
from gateway.wires.gemini_answers import ResponseEvents, refuse, response_texts, tokens
from gateway.wires.gemini_request import KEYS, RequestReader, camel, items, named_requests
from gateway.wires.reading import divide, take_own, unknown_keys

_METHODS = ("generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents")
# A path of the Gemini API or of Vertex AI, also below the path of a base URL and without a version.
_PATH = re.compile(
    r"(?P<before>(?:/[\w-][\w.:-]*)*?)/(?P<kind>models|tunedModels|endpoints)/(?P<model>[\w@][\w.:@+-]*(?:/[\w@][\w.:@+-]*)*):"
    rf"(?P<method>{'|'.join(_METHODS)})\Z",
    re.ASCII,
)
_VERSION = re.compile(r"/(v\d+(?:alpha|beta)?\d*(?:/projects/.*)?)\Z", re.ASCII)
_STREAMING = "streamGenerateContent"
# Members of `generationConfig` that a model reads before the contents. All others belong to the single request.
_SCHEMAS = frozenset({"responseSchema", "responseJsonSchema", "responseFormat"})
_BEFORE_CONTENTS = ("tools", "systemInstruction", "generationConfig")
# Members that precede the contents at every turn of a conversation.
_LASTING = frozenset({"tools", "systemInstruction"})


class Gemini(Wire):
    """The wire. Stateless."""

    id = "gemini"
    family: Family = "gemini"
    stream = ResponseEvents()
    path = _PATH
    routes = tuple(("POST", f"/v1beta/models/{{model}}:{method}") for method in _METHODS)

    def model(self, body: Body, path: str) -> object:
        called = _PATH.match(path)
        if called is None:
            return None
        return called["model"] if called["kind"] == "models" else f"{called['kind']}/{called['model']}"

    def set_model(self, body: Body, model: str) -> None:
        for request in named_requests(body):
            if "model" in request:
                request["model"] = _resource(model)

    def method_path(self, path: str, model: str) -> str:
        called = _PATH.match(path)
        assert called is not None
        version = _VERSION.search(called["before"])
        return f"{version[1] if version else 'v1beta'}/{_resource(model)}:{called['method']}"

    def read(self, body: Body, path: str = "") -> Conversation:
        path, _, query = path.partition("?")
        called = _PATH.match(path)
        method = called["method"] if called else "generateContent"
        model = self.model(body, path)
        conversation = Conversation(body, model if isinstance(model, str) else "", method == _STREAMING)
        take_own(conversation)
        given = parse_qs(query)
        conversation.framing = "sse" if "sse" in (*given.get("alt", ()), *given.get("$alt", ())) else "json-array"
        reader = RequestReader(conversation.files)
        if method.endswith(("embedContent", "EmbedContents")):
            self._read_embedded(body, conversation, reader)
        else:
            self._read_contents(body, conversation, reader)
            conversation.continues = _cached_content(body)
        return conversation

    def _read_contents(self, body: Body, conversation: Conversation, reader: RequestReader) -> None:
        """Reads what a model reads in this order: tools, system instruction, schemas of the answer, contents."""
        requests = [*_objects(body, "generateContentRequest"), body]
        before = [*placed(Place.INSTRUCTIONS, (field for each in requests for field in _before_contents(each, reader)))]
        contents = [item for each in requests for item in items(each.get("contents"), "contents")]
        if not contents:
            raise BadRequest("`contents` must be a non-empty list.", param="contents")
        lasting = [{name: each[name] for name in each if camel(name) in _LASTING} for each in requests]
        turns = reader.turns(contents)
        divide(conversation, before, turns, lambda cut: {"before": lasting, "contents": contents[:cut]})
        read = _LASTING | {"model", "contents", "generateContentRequest"}
        settings = (field for each in requests for field in _settings(each, reader, read))
        conversation.blocks.append([*placed(Place.SETTINGS, settings)])

    def _read_embedded(self, body: Body, conversation: Conversation, reader: RequestReader) -> None:
        """Reads the contents of embeddings. All have the same key, so that equal texts get equal vectors."""
        requests = [*_objects(body, "requests"), body]
        contents = [each for each in requests if each.get("content")]
        if not contents:
            raise BadRequest("`content` must be an object with parts.", param="content")
        conversation.seed = "embeddings"
        block = [field for each in contents for field in reader.content(each, "content", "content")]
        read = frozenset({"model", "content", "requests"})
        settings = [field for each in requests for field in _settings(each, reader, read)]
        conversation.blocks = [block, settings]

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*response_texts(body)]

    def usage(self, body: Body) -> Tokens:
        read, written = tokens(body)
        return (None, None) if read is None else (read, written)

    def refuse_answer(self, body: Body, message: str) -> None:
        refuse(body, message)


def _resource(model: str) -> str:
    return model if model.startswith(("tunedModels/", "endpoints/")) else f"models/{model}"


def _cached_content(body: Body) -> str:
    """Returns the name of the stored texts that a model reads before those of the request."""
    found = (value for each in named_requests(body) for name, value in each.items() if camel(name) == "cachedContent")
    return next((name for name in found if isinstance(name, str)), "")


def _objects(body: Body, wanted: str) -> Iterator[Body]:
    """Yields the objects that a body has under a name. Raises BadRequest for anything else there."""
    for name, value in body.items():
        for each in items(value, name) if camel(name) == wanted else ():
            if not isinstance(each, dict):
                raise BadRequest(f"`{name}` must hold objects.", param=name)
            yield each


def _before_contents(request: Body, reader: RequestReader) -> Iterator[MessageField]:
    for wanted in _BEFORE_CONTENTS:
        for name, value in request.items():
            if camel(name) != wanted:
                continue
            if wanted == "systemInstruction":
                yield from reader.content(request, name, name)
            elif wanted == "tools":
                yield from reader.fields(request, name, value)
            elif isinstance(value, dict):
                for key in value:
                    if camel(key) in _SCHEMAS:
                        yield from reader.fields(value, key, value[key])


def _settings(request: Body, reader: RequestReader, read: frozenset[str]) -> Iterator[MessageField]:
    """Yields the fields of the single request: those of the members but for `read`, and unknown keys."""
    for name, value in request.items():
        if camel(name) == "generationConfig" and isinstance(value, dict):
            yield from reader.members(value, frozenset(key for key in value if camel(key) in _SCHEMAS))
        elif camel(name) not in read:
            yield from reader.member(request, name, value)
    yield from unknown_keys(request, KEYS)


WIRE = Gemini()
