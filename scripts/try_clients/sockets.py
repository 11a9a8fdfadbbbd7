"""The upstream's side of Responses over a WebSocket, of which clients send new items only.

The first connection breaks in the middle of an answer, so that the client has to send the whole conversation again.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import CloseConnection, Event, Ping, TextMessage

type Json = Any

# RFC 6455 section 1.3.
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Conversations:
    """The answers of one connection, by their ids: each with all items up to it."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._items: dict[str, list[Json]] = {}

    def whole(self, asked: Json) -> Json | None:
        """Returns a request with what its conversation has had before; None if this connection does not know it."""
        given = asked.get("input", [])
        own = given if isinstance(given, list) else [{"role": "user", "content": given}]
        name = asked.get("previous_response_id")
        earlier = [] if name is None else self._items.get(name)
        return None if earlier is None else {**asked, "input": [*earlier, *own]}

    def answered(self, whole: Json, events: list[Json]) -> list[Json]:
        """Remembers an answer, and returns its events with an id of its own."""
        name = f"resp_{self._number}_{len(self._items)}"
        self._items[name] = [*whole["input"], *events[-1]["response"]["output"]]
        return [
            {**each, "response": {**each["response"], "id": name}} if "response" in each else each for each in events
        ]


def messages_of(handler: BaseHTTPRequestHandler) -> Iterator[tuple[Connection, str]]:
    """Answers the handshake of a client, and yields each of its messages with the connection to answer on."""
    key = handler.headers["sec-websocket-key"] + _GUID
    accept = b64encode(hashlib.sha1(key.encode(), usedforsecurity=False).digest()).decode()
    head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade"
    handler.wfile.write(f"{head}\r\nSec-WebSocket-Accept: {accept}\r\n\r\n".encode())
    handler.close_connection = True
    frames, text = Connection(ConnectionType.SERVER), ""
    while frames.state is ConnectionState.OPEN and (data := handler.connection.recv(65536)):
        frames.receive_data(data)
        for event in frames.events():
            if isinstance(event, Ping | CloseConnection):
                handler.wfile.write(frames.send(event.response()))
            elif isinstance(event, TextMessage):
                text += event.data
                if event.message_finished:
                    yield frames, text
                    text = ""


def send(handler: BaseHTTPRequestHandler, frames: Connection, events: list[Json]) -> None:
    """Sends each event as a message."""
    made: list[Event] = [TextMessage(json.dumps(event)) for event in events]
    handler.wfile.write(b"".join(map(frames.send, made)))


def break_off(handler: BaseHTTPRequestHandler, frames: Connection) -> None:
    """Closes the connection, as a server does that stops."""
    handler.wfile.write(frames.send(CloseConnection(1012)))
