"""Implements the Code Assist wire (POST /v1internal:generateContent and its relatives), by which clients use Gemini
with a Google account.

A request of the Gemini wire is in the member `request`, its answer in the member `response`, both whole and in streams.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gateway.errors import BadRequest
from gateway.models import Family
from gateway.text.answers import AnswerText, Channel
from gateway.text.fields import MessageField, Place, placed
from gateway.text.uuids import is_drawn
from gateway.wires.base import Body, Conversation, Tokens, Wire
from gateway.wires.gemini import WIRE as GEMINI
from gateway.wires.gemini_answers import ResponseEvents, other_strings
from gateway.wires.members import object_at
from gateway.wires.reading import FieldReader, take_own, unknown_keys

_METHODS = ("generateContent", "streamGenerateContent", "countTokens")
# Members beside the request.
_KEYS = frozenset(
    {
        *("model", "project", "user_prompt_id", "enabled_credit_types", "request"),
        # Antigravity's.
        *("userAgent", "requestId", "requestType"),
    }
)
# The id of a project of Google Cloud, which an organization may prefix with its domain.
_PROJECT = re.compile(r"(?:[a-z][a-z0-9.-]{0,62}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]\Z")


class CodeAssistEvents(ResponseEvents):
    """The events of a streamed answer, each with an event of the Gemini wire in it."""

    def texts(self, event: Body) -> list[AnswerText]:
        return [*_texts(event, super().texts(_inner(event)))]

    def ends_channel(self, event: Body, channel: Channel) -> bool:
        return super().ends_channel(_inner(event), channel)

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        return _wrapped(super().continued(channel, text, _inner(last)), last)

    def is_last(self, event: Body) -> bool:
        return super().is_last(_inner(event))

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        refused = super().refusal(message, _inner(like))
        return [_wrapped(event, like) if isinstance(event, dict) else event for event in refused]


class CodeAssist(Wire):
    """The wire. Stateless."""

    id = "code-assist"
    family: Family = "gemini"
    stream = CodeAssistEvents()
    path = re.compile(rf"/v1internal:(?P<method>{'|'.join(_METHODS)})\Z")
    routes = tuple(("POST", f"/v1internal:{method}") for method in _METHODS)

    def model(self, body: Body, path: str) -> object:
        named = body.get("model") or object_at(body, "request").get("model")
        return named.removeprefix("models/") if isinstance(named, str) else named

    def set_model(self, body: Body, model: str) -> None:
        if "model" in body:
            body["model"] = model
        GEMINI.set_model(object_at(body, "request"), model)

    def method_path(self, path: str, model: str) -> str:
        return path.removeprefix("/")

    def read(self, body: Body, path: str = "") -> Conversation:
        path, _, query = path.partition("?")
        called = self.path.match(path)
        own = Conversation(body, "", False)
        take_own(own)
        request, model = body.get("request"), self.model(body, path)
        if not isinstance(request, dict):
            raise BadRequest("`request` must be an object.", param="request")
        if not isinstance(model, str) or not model:
            raise BadRequest("`model` must be the name of a model.", param="model")
        method = called["method"] if called else _METHODS[0]
        inner = GEMINI.read(request, f"/models/m:{method}?{query}")
        beside = placed(Place.SETTINGS, _beside(body, inner.files))
        return replace(
            inner,
            body=body,
            model=model,
            blocks=[*inner.blocks[:-1], [*inner.blocks[-1], *beside]],
            task=own.task or inner.task,
            policy_id=own.policy_id or inner.policy_id,
            mode=own.mode or inner.mode,
            allow=own.allow if own.allow is not None else inner.allow,
            deny=own.deny if own.deny is not None else inner.deny,
        )

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*_texts(body, GEMINI.answer_texts(_inner(body)))]

    def usage(self, body: Body) -> Tokens:
        return GEMINI.usage(_inner(body))

    def refuse_answer(self, body: Body, message: str) -> None:
        inner = dict(_inner(body))
        GEMINI.refuse_answer(inner, message)
        refused = _wrapped(inner, body)
        body.clear()
        body |= refused


def _inner(body: Body) -> Body:
    """Returns the answer of the Gemini wire. That to `countTokens`, and errors, have no member for it."""
    return object_at(body, "response") or body


def _wrapped(inner: Body, like: Body) -> Body:
    return {"response": inner, **({"traceId": like["traceId"]} if isinstance(like.get("traceId"), str) else {})}


def _texts(body: Body, inner: list[AnswerText]) -> Iterator[AnswerText]:
    """Yields the texts of the inner answer and the strings beside it, but for the id of a trace."""
    yield from inner
    if _inner(body) is not body:
        yield from other_strings({name: body[name] for name in body if name not in {"response", "traceId"}}, body)


def _is_address(name: str, value: Any) -> bool:
    """Whether a member names the project that pays, or is the id of a prompt or request."""
    if not isinstance(value, str):
        return False
    return (name == "project" and _PROJECT.match(value) is not None) or (
        name in {"user_prompt_id", "requestId"} and is_drawn(value)
    )


def _beside(body: Body, files: set[str]) -> Iterator[MessageField]:
    """Yields the fields of the members beside the request."""
    reader = FieldReader(files, _KEYS)
    for name, value in body.items():
        if name not in {"model", "request"} and not _is_address(name, value):
            yield from reader.member(body, name, value)
    yield from unknown_keys(body, _KEYS)


WIRE = CodeAssist()
