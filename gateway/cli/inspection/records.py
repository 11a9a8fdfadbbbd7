"""Keeps what an inspected gateway tells about requests, refusals and tunnels, in the order of their beginning."""

import threading
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

type Event = Mapping[str, Any]
type Header = tuple[str, str]


@dataclass(slots=True)
class Sent:
    """A request that the gateway forwarded. `line` is that of its log, once it has ended; `delivered` whether it left.

    `credentials` are the headers that the report does not show. `answer` is the protected one.
    """

    number: int
    request_id: str
    time: float
    method: str
    scheme: str
    host: str
    port: int
    path: str
    headers: Sequence[Header] = field(repr=False)
    credentials: Sequence[Header] = field(repr=False)
    body: bytes = field(repr=False)
    wire: str | None
    placeholders: frozenset[str]
    line: Mapping[str, Any] = field(default_factory=dict)
    delivered: bool | None = None
    answer: bytes = field(default=b"", repr=False)

    @property
    def address(self) -> str:
        """The scheme, the host, and the port unless it is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = {"http": 80, "https": 443}.get(self.scheme)
        return f"{self.scheme}://{host}" + ("" if self.port == usual else f":{self.port}")


@dataclass(frozen=True, slots=True)
class NotSent:
    """A request or tunnel of which nothing was sent. `decision` is `refused`, `answered` here, `dropped`, `untrusted`.

    `untrusted` is a connection whose program does not accept the gateway's certificate.
    """

    decision: str
    host: str
    port: int | None = None
    code: str | None = None
    line: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A connection that the gateway neither decrypted nor protected, with the bytes in both directions."""

    host: str
    port: int
    sent: int
    received: int


class Records:
    """All records. `on_end` gets each request that has ended; it is called by the thread that reads the events."""

    def __init__(self, on_end: Callable[[Sent], object] = lambda _: None) -> None:
        self.sent: list[Sent] = []
        self.not_sent: list[NotSent] = []
        self.tunnels: list[Tunnel] = []
        self.past: list[str] = []
        """Lines about connections that the program made past the gateway."""
        self.blocked: list[str] = []
        """Lines about connections that containment blocked."""
        self._on_end = on_end
        self._open: dict[str, Sent] = {}
        self._lock = threading.Lock()

    def take(self, event: Event) -> None:
        """Takes an event of `addons/witness.py`. Others are ignored."""
        with self._lock:
            match event["event"]:
                case "sending":
                    self._begin(event)
                case "ended":
                    self._end(event)
                case "tunnel":
                    self.tunnels.append(Tunnel(event["host"], event["port"], event["sent"], event["received"]))
                case "refused":
                    self.not_sent.append(NotSent("refused", event["host"], event["port"], event["code"]))
                case "untrusted":
                    self.not_sent.append(NotSent("untrusted", event["host"]))

    def _begin(self, event: Event) -> None:
        names = ("request_id", "time", "method", "scheme", "host", "port", "path", "wire")
        begun = Sent(
            number=len(self.sent) + 1,
            headers=[(name, value) for name, value in event["headers"]],
            credentials=[(name, value) for name, value in event["credentials"]],
            body=b64decode(event["body"]),
            placeholders=frozenset(event["placeholders"]),
            **{name: event[name] for name in names},
        )
        self.sent.append(begun)
        self._open[begun.request_id] = begun

    def _end(self, event: Event) -> None:
        line = event["line"]
        ended = self._open.pop(line["request_id"], None)
        if ended is not None:
            ended.line, ended.delivered, ended.answer = line, event["sent"], b64decode(event["answer"])
            self._on_end(ended)
            return
        outcome, code = line["outcome"], line.get("code")
        is_proxied = line["listener"] == "proxy"
        decision = "refused" if code else "dropped" if is_proxied and outcome == "answered" else outcome
        # Its own listener has no destination yet.
        host, port = (event["host"], event["port"]) if is_proxied else ("", None)
        self.not_sent.append(NotSent(decision, host, port, code, line))
