"""The layer of a connection, driven by hand: what each end gets for what the other sends, whatever the hooks do."""

import json
from collections import deque
from collections.abc import Callable
from typing import Any, cast
from weakref import WeakKeyDictionary

import pytest
from mitmproxy import http
from mitmproxy.flow import Error
from mitmproxy.options import Options
from mitmproxy.proxy import commands, events
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http import HttpErrorHook, HttpRequestHook, HttpResponseHeadersHook, HttpResponseHook
from mitmproxy.test import tflow
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from addons.patches.connection_limits import Clients, ClientState, Phase
from addons.patches.response_delivery import Answers
from addons.patches.websocket_frames import WebSocketLayer
from addons.websockets import Stopping
from gateway.exchange.streaming.framing import sequence_of

CREATE = '{"type":"response.create","input":"canary"}'
DELTA, DONE = '{"type":"response.output_text.delta","delta":"a"}', '{"type":"response.completed"}'


class Sockets:
    """In place of `WebSockets`: releases what a test says."""

    limit, seconds, answer_limit, closing = 200_000, 30.0, 1000, False

    def __init__(self) -> None:
        self.protected: bytes | None = b'{"input":"[EMAIL_ADDRESS_7KQ2M]"}'
        self.left: list[http.HTTPFlow] = []
        self.ends: list[tuple[tuple[int, int], list[int]]] = []

    def request(self, _: Any, text: bytes, since: float) -> Any:
        flow = tflow.tflow()
        flow.request.raw_content = text
        return flow

    def released(self, _: Any, flow: http.HTTPFlow) -> bytes | None:
        return self.protected

    def closed(self, _: Any, messages: tuple[int, int], codes: list[int]) -> None:
        self.ends.append((messages, codes))

    def upstream_left(self, flow: http.HTTPFlow) -> None:
        self.left.append(flow)


class Driven:
    """A layer with both peers. `hook` is called for every hook; those in `holds` wait until `go`."""

    def __init__(self) -> None:
        self.context = Context(tflow.tclient_conn(), Options())
        self.context.server = tflow.tserver_conn()
        self.sockets, self.answers, self.clients = Sockets(), cast(Answers, WeakKeyDictionary()), Clients(300_000)
        self.state = ClientState(self.context.client.id, "a")
        self.clients.add(self.state)
        self.ended: list[int] = []
        socket: Any = type("Socket", (), {"owner": "key", "ended": lambda _: self.ended.append(1)})()
        socket.opening = tflow.tflow()
        given: Any = self.sockets
        self.layer = WebSocketLayer(self.context, socket, given, self.clients, self.answers)
        self.client, self.server = Connection(ConnectionType.CLIENT), Connection(ConnectionType.SERVER)
        self.hook: Callable[[Any], None] = self.streams
        self.hooks: list[Any] = []
        self.holds: tuple[type, ...] = ()
        self.held: deque[Any] = deque()
        self.closed: list[object] = []
        self.take(events.Start())

    def streams(self, hook: Any) -> None:
        if isinstance(hook, HttpResponseHeadersHook):
            cast(Any, hook.flow.response).stream = lambda piece: [piece] if piece else []

    def take(self, event: events.Event) -> None:
        todo = deque([event])
        while todo:
            for command in self.layer.handle_event(todo.popleft()):
                if isinstance(command, commands.SendData):
                    peer = self.client if command.connection is self.context.client else self.server
                    peer.receive_data(command.data)
                elif isinstance(command, commands.CloseConnection):
                    self.closed.append(command.connection)
                elif isinstance(command, commands.StartHook):
                    self.hooks.append(command)
                    self.hook(command)
                    (self.held if isinstance(command, self.holds) else todo).append(events.HookCompleted(command))

    def go(self) -> None:
        self.holds = ()
        while self.held:
            self.take(self.held.popleft())

    def asks(self, *frames: Any) -> None:
        data = b"".join(self.client.send(TextMessage(each) if isinstance(each, str) else each) for each in frames)
        self.take(events.DataReceived(self.context.client, data))

    def answers_with(self, *frames: Any) -> None:
        data = b"".join(self.server.send(TextMessage(each) if isinstance(each, str) else each) for each in frames)
        self.take(events.DataReceived(self.context.server, data))

    def got(self, peer: Connection) -> list[Any]:
        return [each.data if isinstance(each, TextMessage) else each for each in peer.events()]

    @property
    def kinds(self) -> list[type]:
        return [type(each) for each in self.hooks]


def _in(lane: str, text: str) -> str:
    return json.dumps({**json.loads(text), "stream_id": lane})


def refuse(status: int, code: str) -> Callable[[Any], None]:
    def hook(hook: Any) -> None:
        hook.flow.response = http.Response.make(status, json.dumps({"error": {"code": code}}))

    return hook


def test_a_message_passes_its_hooks_and_leaves_protected() -> None:
    driven = Driven()
    driven.asks(CREATE)
    assert driven.got(driven.server) == ['{"input":"[EMAIL_ADDRESS_7KQ2M]"}']
    driven.answers_with(DELTA, DONE)
    assert driven.got(driven.client) == [DELTA, DONE]
    assert driven.kinds == [HttpRequestHook, HttpResponseHeadersHook, HttpResponseHook]
    assert not driven.hooks[0].flow.live


@pytest.mark.parametrize("hook", [lambda _: None, lambda hook: setattr(hook.flow, "error", Error("killed"))])
def test_what_is_not_released_is_not_sent(hook: Callable[[Any], None]) -> None:
    driven = Driven()
    driven.sockets.protected, driven.hook = None, hook
    driven.asks(CREATE)
    assert (driven.got(driven.server), driven.kinds) == ([], [HttpRequestHook, HttpErrorHook])


@pytest.mark.parametrize(
    ("code", "closes"), [("invalid_request", None), ("unknown_event", 1008), ("stopping", 1001), ("unauthorized", 1008)]
)
def test_a_refusal_is_an_event(code: str, closes: int | None) -> None:
    driven = Driven()
    driven.sockets.protected, driven.hook = None, refuse(400, code)
    driven.asks(_in("a", CREATE))
    event, *rest = driven.got(driven.client)
    assert json.loads(event) == {"type": "error", "status": 400, "error": {"code": code}, "stream_id": "a"}
    assert [each.code for each in rest] == ([closes] if closes else [])
    assert driven.layer.is_open is (closes is None)
    assert [each for each in driven.got(driven.server) if isinstance(each, str)] == []


def test_an_exception_closes_both_ends() -> None:
    driven = Driven()
    driven.sockets.released = lambda *_: 1 / 0  # type: ignore[method-assign, assignment]
    driven.asks(CREATE)
    assert [each.code for each in driven.got(driven.client)] == [1011]
    assert [each.code for each in driven.got(driven.server)] == [1011]
    assert (driven.layer.is_open, driven.ended, driven.state.phase) == (False, [1], Phase.CLOSING)
    assert HttpErrorHook in driven.kinds


def test_messages_are_protected_one_after_the_other() -> None:
    driven = Driven()
    driven.holds = (HttpRequestHook,)
    driven.asks(CREATE, CREATE)
    assert (len(driven.hooks), driven.got(driven.server)) == (1, [])
    driven.go()
    assert (len(driven.hooks), len(driven.got(driven.server))) == (2, 2)


def test_no_request_begins_while_the_end_of_an_answer_is_recorded() -> None:
    driven = Driven()
    driven.asks(CREATE)
    driven.holds = (HttpResponseHook,)
    driven.answers_with(DONE, '{"type":"error","error":{}}')
    driven.asks(CREATE)
    assert driven.kinds.count(HttpRequestHook) == 1
    assert driven.got(driven.client) == [DONE]
    driven.go()
    assert driven.kinds.count(HttpRequestHook) == 2
    assert driven.got(driven.client) == ['{"type":"error","error":{}}']


def test_lanes() -> None:
    driven = Driven()
    for lane in "ab":
        driven.sockets.protected = b'{"stream_id":"%s"}' % lane.encode()
        driven.asks(_in(lane, CREATE))
    made = [_in(lane, each) for lane, each in (("b", DELTA), ("a", DONE), ("b", DONE))]
    driven.answers_with(*made)
    assert driven.got(driven.client) == made
    ended = [hook.flow for hook in driven.hooks if isinstance(hook, HttpResponseHook)]
    assert [json.loads(flow.request.raw_content or b"")["stream_id"] for flow in ended] == ["a", "b"]


def created(name: str, kind: str = "created") -> str:
    return json.dumps({"type": f"response.{kind}", "response": {"id": name}})


def delta(name: str) -> str:
    return json.dumps({"type": "response.output_text.delta", "delta": "a", "response_id": name})


@pytest.mark.parametrize("foreign", [delta("resp_2"), created("resp_2")])
def test_an_event_of_a_foreign_response_closes_both(foreign: str) -> None:
    driven = Driven()
    driven.asks(CREATE)
    own = [created("resp_1"), delta("resp_1"), DELTA]
    driven.answers_with(*own, foreign, DONE)
    *passed, end = driven.got(driven.client)
    assert passed == own
    assert isinstance(end, CloseConnection)
    assert end.code == 1011
    assert driven.ended == [1]


def test_a_late_event_of_the_last_response_is_dropped() -> None:
    driven = Driven()
    driven.asks(CREATE)
    driven.answers_with(created("resp_1"), created("resp_1", "completed"))
    driven.asks(CREATE)
    driven.answers_with(delta("resp_1"), created("resp_2"), delta("resp_2"), created("resp_2", "completed"))
    first, second = created("resp_1"), created("resp_2")
    ends = [created("resp_1", "completed"), created("resp_2", "completed")]
    assert driven.got(driven.client) == [first, ends[0], second, delta("resp_2"), ends[1]]


def test_a_response_may_have_the_name_of_the_last() -> None:
    driven = Driven()
    made = [created("resp_1"), delta("resp_1"), created("resp_1", "completed")]
    for _ in range(2):
        driven.asks(CREATE)
        driven.answers_with(*made)
    assert driven.got(driven.client) == made * 2


def test_an_event_without_a_lane_goes_to_its_response() -> None:
    driven = Driven()
    for lane in "ab":
        driven.sockets.protected = b'{"stream_id":"%s"}' % lane.encode()
        driven.asks(_in(lane, CREATE))
    begun = [_in(lane, created(f"resp_{lane}")) for lane in "ab"]
    driven.answers_with(*begun, delta("resp_b"), delta("resp_a"))
    of_b, of_a = driven.got(driven.client)[2:]
    assert (json.loads(of_b)["stream_id"], json.loads(of_a)["stream_id"]) == ("b", "a")


def held(driven: Driven) -> Callable[[Any], None]:
    """Has answers restored as a whole."""

    def hook(hook: Any) -> None:
        if isinstance(hook, HttpResponseHook):
            driven.answers[cast(Any, hook.flow.response)] = sequence_of(b"1", b"2")

    return hook


def test_an_answer_that_is_held() -> None:
    driven = Driven()
    driven.hook = held(driven)
    driven.asks(CREATE)
    driven.answers_with(DELTA, DONE)
    assert driven.got(driven.client) == ["1", "2"]
    assert driven.hooks[-1].flow.response.raw_content == sequence_of(DELTA.encode(), DONE.encode())
    driven.asks(CREATE)
    driven.answers_with(*[DELTA] * 30)
    assert driven.got(driven.client)[-1].code == 1011


@pytest.mark.parametrize("kind", [HttpResponseHeadersHook, HttpResponseHook])
def test_a_hook_of_the_answer_that_refuses(kind: type) -> None:
    driven = Driven()
    driven.hook = lambda hook: refuse(502, "upstream_invalid")(hook) if isinstance(hook, kind) else None
    driven.asks(CREATE)
    driven.answers_with(DELTA, DONE)
    (event,) = driven.got(driven.client)
    assert json.loads(event)["status"] == 502
    assert driven.layer.is_open


@pytest.mark.parametrize("message", ["[]", "{", BytesMessage(b"a"), "x" * 1001])
def test_an_upstream_that_breaks_a_rule(message: Any) -> None:
    driven = Driven()
    driven.asks(CREATE)
    driven.answers_with(message)
    assert [each.code for each in driven.got(driven.client)] == [1011]
    assert driven.sockets.left == [driven.hooks[0].flow]
    assert HttpErrorHook in driven.kinds


def test_control_frames_stay_on_their_side() -> None:
    driven = Driven()
    driven.asks(Ping(b"canary"), Pong(b"canary"))
    assert driven.got(driven.client) == [Pong(b"canary")]
    assert driven.got(driven.server) == []
    driven.asks(CloseConnection(4000, "canary"))
    (closing,) = driven.got(driven.server)
    assert (closing.code, closing.reason) == (4000, "")
    assert driven.closed == [driven.context.client, driven.context.server]
    assert driven.sockets.ends == [((0, 0), [4000, 4000])]


@pytest.mark.parametrize("who", ["client", "server"])
def test_a_peer_that_is_gone(who: str) -> None:
    driven = Driven()
    driven.asks(CREATE)
    driven.got(driven.server)
    driven.take(events.ConnectionClosed(getattr(driven.context, who)))
    assert bool(driven.sockets.left) is (who == "server")
    other, code = (driven.server, 1001) if who == "client" else (driven.client, 1011)
    assert [each.code for each in driven.got(other)] == [code]
    driven.take(events.ConnectionClosed(driven.context.client))
    assert driven.context.client in driven.closed
    assert driven.sockets.ends == [((1, 0), [1006, 1001] if who == "client" else [1011, 1006])]


def test_large_messages_count_against_the_room() -> None:
    driven = Driven()
    driven.holds = (HttpRequestHook,)
    driven.asks(CREATE.replace("canary", "c" * 100_000))
    assert driven.state.body_bytes >= 100_000
    driven.asks(CREATE.replace("canary", "c" * 150_000))
    event, closing = driven.got(driven.client)
    assert (json.loads(event)["status"], closing.code) == (413, 1009)
    driven.go()
    assert driven.state.body_bytes == 0
    assert driven.got(driven.server)[0].code == 1001


def test_other_connections_of_the_caller_fill_the_room() -> None:
    driven = Driven()
    driven.clients.add(ClientState("other", "b", owner="key", body_bytes=250_000))
    driven.asks(CREATE.replace("canary", "c" * 100_000))
    sent, closing = driven.got(driven.client)
    assert (json.loads(sent)["status"], closing.code) == (429, 1009)


def test_a_message_that_takes_too_long() -> None:
    driven = Driven()
    driven.sockets.seconds = 0.0
    driven.asks(TextMessage("{", message_finished=False))
    driven.asks(TextMessage(" ", message_finished=False))
    assert driven.got(driven.client)[-1].code == 1008


def test_the_last_answer_before_a_stop() -> None:
    driven = Driven()
    driven.asks(CREATE)
    driven.sockets.closing = True
    driven.answers_with(DONE)
    event, closing = driven.got(driven.client)
    assert (event, closing.code) == (DONE, 1001)


def test_a_stop_waits_for_the_last_answer() -> None:
    idle, busy, late = Driven(), Driven(), Driven()
    for driven in (busy, late):
        driven.asks(CREATE)
        driven.got(driven.server)
    for driven in (idle, busy, late):
        driven.sockets.closing = True
        driven.take(Stopping(driven.layer.socket.opening, False))
    assert [driven.layer.is_open for driven in (idle, busy, late)] == [False, True, True]
    busy.answers_with(DELTA, DONE)
    late.take(Stopping(late.layer.socket.opening, True))
    for driven, said in ((idle, []), (busy, [DELTA, DONE]), (late, [])):
        *texts, closing = driven.got(driven.client)
        assert (texts, closing.code) == (said, 1001)
        assert driven.got(driven.server)[-1].code == 1001
    assert late.kinds[-1] is HttpErrorHook
    assert busy.sockets.ends == [((1, 2), [1001, 1001])]
