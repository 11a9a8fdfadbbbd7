"""Every request is told before it is sent, and every connection that carried none."""

from base64 import b64decode
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from mitmproxy import exceptions, http
from mitmproxy.connection import Server
from mitmproxy.proxy.server_hooks import ServerConnectionHookData
from mitmproxy.test import taddons, tflow, tutils

from addons import witness as module
from addons.flow_state import FlowStates
from addons.request_log import Line
from addons.witness import CountingStream, Observer, Witness
from gateway.errors import GatewayError, InternalError
from tests.addons.protected_flows import FORWARDED, PLAN, SECRET, SSE, Bench


class Stream:
    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    async def read(self, limit: int) -> bytes:
        return b"answer"[:limit]

    def is_closing(self) -> bool:
        return True


class Watched:
    """The addon, and what it tells; with connections of mitmproxy's own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, answers: bool = True) -> None:
        self.bench = Bench()
        self.told: list[dict[str, Any]] = []
        self.refused: list[GatewayError] = []
        observer = Observer(self.told.append, answers)
        self.witness = Witness(observer, self.bench.states, lambda _, error: self.refused.append(error))
        self.bench.protect._log.watch = self.witness.ended
        self.connections: dict[str, Any] = {}
        servers = [SimpleNamespace(listen_addrs=[("127.0.0.1", port)]) for port in (8001, 8002)]
        proxyserver = SimpleNamespace(connections=self.connections, servers=servers)
        monkeypatch.setattr(module, "ctx", SimpleNamespace(master=SimpleNamespace(addons={"proxyserver": proxyserver})))

    def connect(self, flow: http.HTTPFlow, host: str, port: int) -> tuple[Any, Server]:
        """Has a connection opened for the client of a flow. Returns its streams, as mitmproxy uses them."""
        server = Server(address=(host, port))
        streams = SimpleNamespace(writer=Stream(), reader=Stream())
        handler = self.connections.setdefault(flow.client_conn.id, SimpleNamespace(transports={}))
        handler.transports[server] = streams
        self.witness.server_connected(ServerConnectionHookData(server, flow.client_conn))
        return streams, server


@pytest.fixture(autouse=True)
def _master() -> Iterator[None]:
    with taddons.context():
        yield


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


async def test_a_request_is_told_as_it_is_sent_and_how_it_ended(watched: Watched) -> None:
    flow = await watched.bench.after("requestheaders", "request")
    await watched.witness.request(flow)
    (sending,) = watched.told
    assert (sending["event"], sending["host"], sending["port"], sending["scheme"]) == (
        "sending",
        "api.example",
        443,
        "https",
    )
    assert (sending["method"], sending["path"], sending["wire"]) == ("POST", "/v1/chat/completions", "chat-completions")
    assert b64decode(sending["body"]) == b"protected"
    assert SECRET.decode() not in str(sending["headers"])
    assert sending["credentials"] == [("authorization", SECRET.decode())]
    bytes(flow.request.headers)
    await watched.bench.after("responseheaders", "response", flow=flow)
    ended = watched.told[-1]
    assert (ended["event"], ended["sent"], ended["line"]["outcome"]) == ("ended", True, "answered")
    assert ended["line"]["request_id"] == sending["request_id"]
    assert b64decode(ended["answer"]) == b"received"


async def test_the_answer_is_told_only_if_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch, answers=False)
    flow = await watched.bench.after("requestheaders", "request", "responseheaders", "response")
    assert (watched.told[-1]["event"], watched.told[-1]["answer"], flow.response is None) == ("ended", "", False)


async def test_a_streamed_answer_is_kept_if_it_is_asked_for() -> None:
    for keeps in (False, True):
        bench = Bench()
        bench.protect._review._keeps_answers = keeps
        bench.gateway.results["open"] = FORWARDED._replace(plan=PLAN)
        flow = await bench.after("requestheaders", "request", "responseheaders", headers=SSE)
        stream = bench.state(flow).stream
        assert stream is not None
        assert stream._keeps is keeps


async def test_a_request_that_cannot_be_told_is_not_sent(watched: Watched) -> None:
    def gone(_: object) -> None:
        raise BrokenPipeError

    flow = await watched.bench.after("requestheaders", "request")
    watched.witness._tell = gone
    with pytest.raises(exceptions.AddonHalt):
        await watched.witness.request(flow)
    assert isinstance(watched.refused[0], InternalError)
    assert (flow.request.raw_content, flow.request.host) == (b"", "unprotected.invalid")


async def test_what_was_not_forwarded_is_told_as_ended(watched: Watched) -> None:
    watched.bench.gateway.results["open"] = InternalError("No.")
    flow = await watched.bench.after("requestheaders", "request")
    await Witness(Observer(watched.told.append), FlowStates(), watched.refused.append).request(flow)  # type: ignore[arg-type]
    (ended,) = watched.told
    assert (ended["event"], ended["sent"], isinstance(ended["line"], Line)) == ("ended", False, True)


async def test_a_connection_without_a_protected_request_is_a_tunnel(watched: Watched) -> None:
    flow = await watched.bench.after("requestheaders", "request")
    await watched.witness.request(flow)
    watched.told.clear()
    watched.connect(flow, "api.example", 443)
    streams, _ = watched.connect(flow, "other.example", 8443)
    streams.writer.write(b"hello")
    assert await streams.reader.read(3) == b"ans"
    _, server = watched.connect(flow, "proxy.example", 3128)
    asked = tflow.tflow(req=tutils.treq(host="asked.example", port=443))
    asked.client_conn, asked.server_conn = flow.client_conn, server
    watched.witness.http_connect_upstream(asked)
    watched.witness.done()
    assert watched.told == [
        {"event": "tunnel", "host": "other.example", "port": 8443, "sent": 5, "received": 3},
        {"event": "tunnel", "host": "asked.example", "port": 443, "sent": 0, "received": 0},
        {"event": "end"},
    ]
    watched.witness.client_disconnected(flow.client_conn)
    assert len(watched.told) == 3


def test_a_stream_that_is_counted_is_otherwise_itself() -> None:
    assert CountingStream(Stream()).is_closing()


def test_refused_tunnels_and_clients_without_trust_are_told(watched: Watched) -> None:
    flow = tflow.tflow(
        req=tutils.treq(
            method=b"CONNECT", host="unprotected.invalid", port=1, headers=((b"host", b"chat.example:443"),)
        )
    )
    flow.response = http.Response.make(403, b'{"error": {"code": "unprotected_host"}}')
    watched.witness.http_connect_error(flow)
    server = SimpleNamespace(address=("api.example", 443))
    handshake = SimpleNamespace(conn=SimpleNamespace(sni=None), context=SimpleNamespace(server=server))
    watched.witness.tls_failed_client(cast(Any, handshake))
    watched.witness.running()
    assert watched.told == [
        {"event": "refused", "host": "chat.example", "port": 443, "code": "unprotected_host"},
        {"event": "untrusted", "host": "api.example"},
        {"event": "ready", "ports": [8001, 8002]},
    ]
