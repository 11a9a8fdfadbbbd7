"""Reads and writes the events of WebSockets: their lanes, the responses that they belong to, and errors."""

from typing import Any

import orjson
from mitmproxy import http

from addons.patches.websocket_peer import TOO_BIG, UNSUPPORTED
from gateway.errors import BadRequest, GatewayError, Unprocessable
from gateway.http.content_encoding import too_large
from gateway.wires.base import Body
from gateway.wires.members import object_at

CHECKED_WITH = "12.2.3"


class Responses:
    """The names of the responses that answer a request: one, unless an upstream renames it at its end."""

    def __init__(self) -> None:
        self._names: list[Any] = []

    def has(self, event: Body) -> bool:
        """Whether an event names one of these."""
        return _named(event) in self._names

    def add(self, event: Body) -> bool:
        """Adds the response that an event names. Returns whether it can be part of this answer."""
        name = _named(event)
        if self._names and name is not None and name not in self._names:
            return False
        self._names += [each for each in (name, object_at(event, "response").get("id")) if each is not None]
        return True


def _named(event: Body) -> object:
    """Returns the response that an event says to be part of, or to begin. Later events may say another id."""
    if event.get("type") == "response.created":
        return object_at(event, "response").get("id")
    return event.get("response_id")


def parsed(text: bytes) -> Body | None:
    """Returns the object that a message is, None if it is none."""
    try:
        body = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return body if isinstance(body, dict) else None


def lane_of(text: bytes) -> object:
    """Returns the name of the lane that a request chooses, by which its answers are told apart from others."""
    return (parsed(text) or {}).get("stream_id") if b'"stream_id"' in text else None


def in_lane(text: bytes, lane: object) -> bytes:
    """Returns an event of a lane; one that the gateway has made does not name it."""
    if lane is None or b'"stream_id"' in text:
        return text
    return orjson.dumps({**(parsed(text) or {}), "stream_id": lane})


def error_of(response: http.Response) -> Body:
    """Returns one of the gateway's errors as the event that clients read."""
    body = parsed(response.raw_content or b"") or {}
    return {"type": "error", "status": response.status_code, **body}


def error_event(error: GatewayError) -> bytes:
    """Returns an error that is about no request as an event."""
    return orjson.dumps({"type": "error", "status": error.status, **error.body("")})


def explained(code: int, limit: int) -> GatewayError:
    """Returns the error for a message of a client, for which its connection is closed with `code`."""
    if code == UNSUPPORTED:
        return BadRequest("Only text messages can be protected; nothing was sent.", code="unknown_event")
    if code == TOO_BIG:
        return too_large(limit)
    return Unprocessable("The message is in too many frames; nothing was sent.")
