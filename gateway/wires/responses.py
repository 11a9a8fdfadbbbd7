"""Implements the Responses wire (POST …/responses and the calls below it) of the OpenAI API reference.

A request that names an earlier response (`previous_response_id`, `conversation`) has only the new turn. The
placeholders of the earlier turns are restored while the gateway remembers them (`gateway.exchange.earlier_answers`).
"""

import re
from urllib.parse import parse_qs

from gateway.config.settings import CONFIGURED_UPSTREAM
from gateway.errors import BadRequest, GatewayError
from gateway.text.answers import AnswerText, Channel
from gateway.text.fields import Place, placed
from gateway.wires.answer_reading import token_counts
from gateway.wires.base import Body, Conversation, EventFormat, Tokens, Wire
from gateway.wires.members import index_at, object_at, objects_at, text_at
from gateway.wires.reading import begun, divide
from gateway.wires.responses_answers import event_texts, response_texts, withheld_message
from gateway.wires.responses_items import ItemReader

# Reading a response that is stored.
_STORED = re.compile(r"(?:/[\w.-]+)*/(responses/(\w+))\Z", re.ASCII)

# Fields of the prompt that a model reads before the items. All others belong to the single request.
_BEFORE_ITEMS = ("tools", "instructions", "prompt", "text")
# Members that are read on their own, or validated where they are read.
_READ = frozenset({"model", "input", "stream", *_BEFORE_ITEMS})
CREATE = "response.create"
"""The type of the messages on a WebSocket that are requests. They have no other member that a POST has not."""
# Codex reports in it where it runs: folder, remote and commit. As a header it is not sent either.
_REPORT = "x-codex-turn-metadata"
_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
_ENVELOPE = ("id", "object", "created_at", "model", "previous_response_id")
_INDICES = ("content_index", "summary_index", "command_index", "annotation_index")


class ResponseEvents(EventFormat):
    """The events of a streamed answer. One with a `delta` continues a text, the one with `done` for it ends it."""

    names_events = True
    has_empty_deltas = False

    def texts(self, event: Body) -> list[AnswerText]:
        kind = text_at(event, "type")
        delta, number = event.get("delta"), index_at(event, "output_index")
        if kind.endswith(".delta") and isinstance(delta, str | dict):
            place: Channel = (kind.removesuffix(".delta"), number, *_place(event))
            return [*event_texts(event, number, place)]
        return [*event_texts(event, number)]

    def ends_channel(self, event: Body, channel: Channel) -> bool:
        """The `done` of a text ends it, that of an item all its texts, the end of the answer or an error all texts."""
        kind = text_at(event, "type")
        if kind in _LAST or kind == "error":
            return True
        if kind == "response.output_item.done":
            return channel[1] == index_at(event, "output_index")
        text = (kind.removesuffix(".done"), index_at(event, "output_index"), *_place(event))
        return kind.endswith(".done") and channel[: len(text)] == text

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        kept = {name: value for name, value in last.items() if name != "obfuscation"}
        if "logprobs" in kept:
            kept["logprobs"] = []
        return {**kept, "delta": {channel[-1]: text} if isinstance(last.get("delta"), dict) else text}

    def is_last(self, event: Body) -> bool:
        return text_at(event, "type") in _LAST

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        """Shows the message as an item of its own, and ends the response as incomplete, so that no tool is run."""
        earlier, number = object_at(like, "response"), like.get("output_index")
        at = number + 1 if isinstance(number, int) else 0
        count = like.get("sequence_number")
        count = count + 1 if isinstance(count, int) else 0
        item = withheld_message(message)
        part = item["content"][0]
        response = {
            **{"id": "resp_withheld", "object": "response", "created_at": 0, "model": ""},
            **{name: earlier[name] for name in _ENVELOPE if name in earlier},
            **{"parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "error": None, "metadata": {}},
        }
        place = {"output_index": at, "item_id": item["id"], "content_index": 0}
        events: list[Body] = [
            {
                "type": "response.output_item.added",
                "output_index": at,
                "item": {**item, "status": "in_progress", "content": []},
            },
            {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
            {"type": "response.output_text.delta", **place, "delta": message, "logprobs": []},
            {"type": "response.output_text.done", **place, "text": message, "logprobs": []},
            {"type": "response.content_part.done", **place, "part": part},
            {"type": "response.output_item.done", "output_index": at, "item": item},
            {
                "type": "response.incomplete",
                "response": {
                    **response,
                    "status": "incomplete",
                    "incomplete_details": {"reason": "content_filter"},
                    "output": [item],
                },
            },
        ]
        if not earlier or text_at(like, "type") == "response.created":
            begun = {**response, "status": "in_progress", "incomplete_details": None, "output": []}
            events.insert(0, {"type": "response.created", "response": begun})
        return [{**event, "sequence_number": count + place} for place, event in enumerate(events)]

    def error(self, error: GatewayError, request_id: str) -> Body:
        """As the API reference has it, with the `error` that the official SDKs raise."""
        body = error.body(request_id)
        given = {"code": error.code, "message": error.message, "param": error.param, "status": error.status}
        return {"type": "error", **given, "sequence_number": 0, **body}


class Responses(Wire):
    """The wire. Stateless."""

    id = "responses"
    stream = ResponseEvents()
    path = re.compile(r"(?:/[\w.-]+)*/(responses(?:/compact|/input_tokens)?)\Z")
    routes = (
        *(("POST", f"/v1/responses{call}") for call in ("", "/compact", "/input_tokens")),
        ("GET", "/v1/responses/{response_id}"),
    )

    def serves(self, method: str, path: str) -> bool:
        """Whether this creates something, or reads a response, which may hold placeholders."""
        return (self.path if method == "POST" else _STORED).match(path) is not None and method in {"POST", "GET"}

    def model(self, body: Body, path: str) -> object:
        return body.get("model") if body or self.path.match(path) else CONFIGURED_UPSTREAM

    def set_model(self, body: Body, model: str) -> None:
        if body:
            body["model"] = model

    def method_path(self, path: str, model: str) -> str:
        found = self.path.match(path) or _STORED.match(path)
        return found[1] if found else "responses"

    def read(self, body: Body, path: str = "") -> Conversation:
        path, _, query = path.partition("?")
        if not body and not self.path.match(path) and (stored := _STORED.match(path)):
            is_stream = "true" in parse_qs(query).get("stream", ())
            return Conversation(body, "", is_stream, [[]], continues=stored[2], only_reads=True)
        conversation = begun(body)
        if isinstance(reported := body.get("client_metadata"), dict):
            reported.pop(_REPORT, None)
        _check_tools(body)
        reader = ItemReader(conversation.files)
        before = {name: body[name] for name in _BEFORE_ITEMS if name in body}
        block = [
            *placed(
                Place.INSTRUCTIONS, (field for name in before for field in reader.item_member(body, name, body[name]))
            )
        ]
        given = body.get("input")
        if isinstance(given, str):
            block += reader.item_member(body, "input", given)
            conversation.seed = given if given.strip() else ""
        elif not isinstance(given, list | None):
            raise BadRequest("`input` must be a string or a list of items.", param="input")
        items = given if isinstance(given, list) else []
        divide(conversation, block, reader.turns(items), lambda cut: {**before, "input": items[:cut]})
        read = _READ | {"type"} if body.get("type") == CREATE else _READ
        conversation.blocks.append([*placed(Place.SETTINGS, reader.settings(body, read))])
        conversation.continues = _continued(body)
        conversation.resumable = body.get("store") is not False
        return conversation

    def answer_ids(self, body: Body, path: str = "") -> tuple[str, ...]:
        """Returns the names by which a later request may continue a response, or that of an event."""
        response = object_at(body, "response") or body
        ids = response.get("id"), _conversation(response)
        return tuple(each for each in ids if isinstance(each, str) and each)

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*response_texts(body)]

    def usage(self, body: Body) -> Tokens:
        return token_counts(object_at(body, "response") or body, "input_tokens", "output_tokens")

    def annotate(self, body: Body, note: Body | None) -> None:
        """In an event, its response gets the member, which SDKs pass on."""
        super().annotate(body, None)
        super().annotate(object_at(body, "response") or body, note)

    def refuse_answer(self, body: Body, message: str) -> None:
        body.pop("output_text", None)
        body["output"] = [withheld_message(message)]
        body["status"], body["incomplete_details"] = "incomplete", {"reason": "content_filter"}


def takes_sockets(path: str) -> bool:
    """Whether the API takes WebSockets at a path, which has no query."""
    found = Responses.path.match(path)
    return found is not None and found[1] == "responses"


def _check_tools(body: Body) -> None:
    for tool in objects_at(body, "tools"):
        if tool.get("type") == "mcp" and tool.get("authorization"):
            message = "`authorization` is a secret, which must not leave; call that server from the client."
            raise BadRequest(message, param="tools")


def _continued(body: Body) -> str:
    found = body.get("previous_response_id") or _conversation(body)
    return found if isinstance(found, str) else ""


def _conversation(body: Body) -> object:
    """Returns the name of the conversation that a request or a response belongs to, which may be in an object."""
    return text_at(body.get("conversation"), "id") or body.get("conversation")


def _place(event: Body) -> tuple[int, ...]:
    return tuple(value for name in _INDICES if isinstance(value := event.get(name), int))


WIRE = Responses()
