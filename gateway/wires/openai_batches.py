"""Implements batches of the OpenAI API: a file with a request on each line (POST …/files), the batch that it is for
(POST …/batches), and the files with the results. Mistral's jobs (POST …/batch/jobs) use the same files.
"""

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from io import BytesIO

from gateway.config.settings import CONFIGURED_UPSTREAM
from gateway.errors import BadRequest
from gateway.http.multipart import Part, parse_form, write_form
from gateway.http.strict_json import dump, parse_object
from gateway.http.types import Field
from gateway.wires.base import Body, Conversation, Wire
from gateway.wires.batches import ID, BatchWire, CallKind, Request, at, is_id, request_in
from gateway.wires.chat_completions import WIRE as CHAT
from gateway.wires.completions import WIRE as COMPLETIONS
from gateway.wires.embeddings import WIRE as EMBEDDINGS
from gateway.wires.members import object_at, text_at
from gateway.wires.moderations import WIRE as MODERATIONS
from gateway.wires.other_json import OTHER_JSON
from gateway.wires.responses import WIRE as RESPONSES

_FILE = "file"
_CALLS: tuple[tuple[str, str, CallKind], ...] = (
    ("POST", "files", "create"),
    ("GET", "files", "list"),
    ("GET", f"files/(?P<id>{ID})", "read"),
    ("DELETE", f"files/(?P<id>{ID})", "delete"),
    ("GET", f"files/(?P<id>{ID})/content", "results"),
    ("POST", "(?:batches|batch/jobs)", "start"),
    ("GET", "(?:batches|batch/jobs)", "list"),
    ("GET", f"(?:batches|batch/jobs)/(?P<id>{ID})", "read"),
    ("POST", f"(?:batches|batch/jobs)/(?P<id>{ID})/cancel", "cancel"),
)
_URL = re.compile(r"(?:/v1)?/(?:chat/completions|completions|embeddings|moderations|responses)\Z")
_WIRES: tuple[Wire, ...] = (CHAT, COMPLETIONS, EMBEDDINGS, MODERATIONS, RESPONSES)
_OBJECTS: dict[str, Wire] = {
    "chat.completion": CHAT,
    "text_completion": COMPLETIONS,
    "list": EMBEDDINGS,
    "response": RESPONSES,
}
_FORM = frozenset({_FILE, "filename", "purpose", "expires_after[anchor]", "expires_after[seconds]"})
_SOURCES = frozenset({"input_file_id", "input_files"})
_RESULTS = ("output_file_id", "error_file_id", "output_file", "error_file")


class OpenAIBatches(BatchWire):
    """The wire. Stateless."""

    id = "openai-batches"
    calls = tuple(
        (method, re.compile(rf"(?:/api|/openai)?(?:/v1)?/(?P<path>{path})\Z", re.ASCII), kind)
        for method, path, kind in _CALLS
    )
    known = (
        _FORM
        | _SOURCES
        | frozenset(
            "endpoint completion_window metadata output_expires_after anchor seconds model timeout_hours".split()
        )
    )
    holds = _FILE

    def parse(self, content: bytes, kind: str | None, path: str) -> Body:
        """Parses the body of a call: of an upload the fields of its form, with the bytes of the file."""
        if not path.endswith("/files"):
            return super().parse(content, kind, path)
        body: Body = {}
        for part in parse_form(content, kind):
            if part.name == _FILE and part.filename is not None:
                body |= {_FILE: part.content, "filename": part.filename}
            else:
                body[part.name] = part.content.decode("utf-8", "replace")
        if body.get("purpose") != "batch" or not isinstance(body.get(_FILE), bytes):
            message = "Only files with the purpose `batch` can be protected; others cannot be, and nothing was sent."
            raise BadRequest(message, param="purpose")
        if any(name not in _FORM and not name.startswith("svc_") for name in body):
            raise BadRequest("The form has a field that the gateway does not know; leave it out.")
        return body

    def model(self, body: Body, path: str) -> object:
        """Returns the model of a file's first request, which decides where the file goes, or that of a job."""
        if not isinstance(body.get(_FILE), bytes):
            return body.get("model") or CONFIGURED_UPSTREAM
        line = next((line for line in BytesIO(body[_FILE]) if line.strip()), b"{}")
        with at("Line 1"):
            return object_at(parse_object(line), "body").get("model") or CONFIGURED_UPSTREAM

    def seed(self, body: Body) -> str:
        return sha256(body.get(_FILE, b"")).hexdigest()

    def source(self, body: Body) -> str:
        given = body.get("input_files", [body.get("input_file_id")])
        return given[0] if isinstance(given, list) and len(given) == 1 and is_id(given[0]) else ""

    def read(self, body: Body, path: str = "") -> Conversation:
        if "requests" in body:
            message = (
                "`requests` inside a job cannot be protected yet, and nothing was sent; upload them as a file with the "
                "purpose `batch`, and name it in `input_files`."
            )
            raise BadRequest(message, param="requests")
        if body and _FILE not in body and not self.source(body):
            name = "input_files" if "input_files" in body else "input_file_id"
            raise BadRequest(f"`{name}` must name one file that was uploaded for it.", param=name)
        return super().read(body, path)

    def unsearched(self, body: Body) -> frozenset[str]:
        return frozenset({_FILE, "purpose"}) | _SOURCES

    def requests(self, body: Body) -> Iterator[Request]:
        lines, request = BytesIO(body.get(_FILE, b"")), None
        body[_FILE] = b""
        for number, line in enumerate(lines, 1):
            if line.strip():
                with at(where := f"Line {number}"):
                    holder = parse_object(line)
                    url = holder.get("url")
                    if url is not None and not (isinstance(url, str) and _URL.match(url)):
                        raise BadRequest("`url` must be that of a call of models, such as `/v1/chat/completions`.")
                    if holder.get("method", "POST") != "POST":
                        raise BadRequest("`method` must be `POST`.")
                    wire = next((each for each in _WIRES if url and each.serves("POST", url)), OTHER_JSON)
                    request = request_in(holder, where, "body", wire, url or "/", frozenset({"method", "url"}))
                yield request
        if request is None:
            raise BadRequest("The file has no requests; write one on each line.", param=_FILE)

    def assembled(self, body: Body, requests: Sequence[bytes]) -> tuple[bytes, Field | None]:
        if _FILE not in body:
            return dump(body), None
        fields = [Part(name, str(body[name]).encode()) for name in body if name not in {_FILE, "filename"}]
        file = Part(_FILE, b"\n".join([*requests, b""]), body["filename"])
        content, kind = write_form([*fields, file])
        return content, (b"content-type", kind)

    def answer_in(self, line: Body) -> tuple[Wire, Body] | None:
        answer = object_at(line, "response").get("body")
        if not isinstance(answer, dict):
            return None
        wire = MODERATIONS if "results" in answer else _OBJECTS.get(text_at(answer, "object"), OTHER_JSON)
        return wire, answer

    def results_of(self, batch: Body) -> Sequence[str]:
        return [str(batch[member]) for member in _RESULTS if is_id(batch.get(member))]


WIRE = OpenAIBatches()
