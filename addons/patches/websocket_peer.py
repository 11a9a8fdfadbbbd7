"""The frames of one end of a WebSocket, bounded. mitmproxy's layer keeps as many of a message as there are.

Control frames are answered here, and of a close frame only the code is passed on.
"""

from time import monotonic, time

from mitmproxy.connection import Connection
from mitmproxy.proxy import commands, layer
from wsproto.connection import Connection as Frames
from wsproto.connection import ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, TextMessage

CHECKED_WITH = "12.2.3"

type Commands = layer.CommandGenerator[None]

# RFC 6455 section 7.4.1.
NORMAL, GOING_AWAY, UNSUPPORTED, POLICY, TOO_BIG, FAILED = 1000, 1001, 1003, 1008, 1009, 1011
# In no frame: a connection ended without one.
LOST = 1006
PASSED_ON = frozenset({1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, *range(3000, 5000)})
# A message may have this many frames of any size, plus one for this many bytes.
_FREE_FRAMES, _BYTES_PER_FRAME = 4096, 256


class Peer:
    """The frames from and to one peer, and the message that is arriving. Bounded: `limit` bytes, in so many frames."""

    def __init__(self, conn: Connection, kind: ConnectionType, limit: int) -> None:
        self.conn = conn
        self.frames = Frames(kind)
        self.text = bytearray()
        self.since = 0.0
        # Complete messages.
        self.received = self.sent = 0
        self._begun = 0.0
        self._count = 0
        self._limit = limit

    @property
    def is_open(self) -> bool:
        return self.frames.state is ConnectionState.OPEN

    @property
    def seconds(self) -> float:
        """The time since the message that is arriving began."""
        return monotonic() - self._begun if self._begun else 0.0

    def add(self, part: TextMessage | BytesMessage) -> int:
        """Adds a part of a message. Returns the code to close with if it breaks a rule, else 0."""
        if not isinstance(part, TextMessage):
            return UNSUPPORTED
        if not self._begun:
            self.since, self._begun = time(), monotonic()
        self.text += part.data.encode()
        self._count += part.frame_finished
        if len(self.text) > self._limit:
            return TOO_BIG
        return POLICY if self._count > _FREE_FRAMES + len(self.text) // _BYTES_PER_FRAME else 0

    def taken(self) -> bytes:
        """Returns the message, which is complete."""
        text = bytes(self.text)
        self.text.clear()
        self._begun, self._count = 0.0, 0
        self.received += 1
        return text

    def send(self, text: bytes) -> Commands:
        if self.is_open:
            self.sent += 1
            yield commands.SendData(self.conn, self.frames.send(TextMessage(text.decode())))

    def close(self, code: int, *, waits: bool = False) -> Commands:
        """Sends or answers a close frame. Reasons are text, and none is passed on.

        With `waits`, a peer that has not sent its own has time for it: to close with unread data would reset the
        connection, and could lose the frame.
        """
        self.text.clear()
        if self.frames.state in {ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING}:
            yield commands.SendData(self.conn, self.frames.send(CloseConnection(code)))
        if self.frames.state is not ConnectionState.LOCAL_CLOSING or not waits:
            yield commands.CloseConnection(self.conn)

    def has_left(self, data: bytes) -> bool:
        """Reads on after a close frame was sent, and tells whether that of the peer has come."""
        if self.frames.state is not ConnectionState.LOCAL_CLOSING:
            return True
        self.frames.receive_data(data)
        return any(isinstance(frame, CloseConnection) for frame in self.frames.events())
