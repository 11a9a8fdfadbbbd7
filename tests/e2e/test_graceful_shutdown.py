"""On a stop signal, the gateway refuses new requests, and waiting clients get their answers."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
import trustme
from websockets.exceptions import ConnectionClosed
from websockets.sync.connection import Connection

from gateway.workers.stop_signals import STOP_SIGNALS
from tests.e2e.mitmweb import wait_for
from tests.e2e.server import OPERATOR_KEY, PLAIN, ROOT, Running, gateway
from tests.e2e.socket_upstream import Socket, SocketEntrance, SocketUpstream, answered, create, events, text_of
from tests.e2e.upstream import Upstream, answer_when_told, completion

SAID = "mail canary@acme.test"
CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": SAID}]}


@contextmanager
def a_call_under_way(
    folder: Path, upstream: Upstream, seconds: str
) -> Iterator[tuple[Running, Future[httpx.Response], threading.Event]]:
    """A gateway with a call that the upstream answers when the event is set."""
    asked, answered = answer_when_told(upstream)
    with (
        gateway(folder, "--upstream", f"{upstream.url}/v1", environment={"SVC_SHUTDOWN_SECONDS": seconds}) as running,
        ThreadPoolExecutor(1) as pool,
        running.client() as client,
    ):
        call = pool.submit(client.post, "/v1/chat/completions", json=CHAT)
        assert asked.wait(60)
        try:
            yield running, call, answered
        finally:
            answered.set()


def outcomes(running: Running) -> list[str]:
    with closing(sqlite3.connect(running.data / "gateway.db")) as db:
        return [body for (body,) in db.execute("SELECT body FROM receipts WHERE kind = 'outcome'")]


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_waiting_clients_get_answers_and_new_ones_are_refused(tmp_path: Path, upstream: Upstream, number: int) -> None:
    with a_call_under_way(tmp_path, upstream, "20") as (running, call, answered), running.client() as known:
        assert known.get("/healthz").status_code == 200
        running.process.send_signal(number)
        while (refused := known.get("/healthz")).status_code == 200:  # the signal is on its way
            pass
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "stopping")
        assert (refused.headers["retry-after"], refused.headers["connection"]) == ("1", "close")
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{running.url}/healthz", trust_env=False, verify=PLAIN)
        answered.set()
        assert call.result(60).json()["choices"][0]["message"]["content"] == SAID
        assert running.process.wait(60) == 0
        assert '"outcome":"answered"' in outcomes(running)[0]


def test_what_does_not_end_in_time_is_cut_off_and_recorded(tmp_path: Path, upstream: Upstream) -> None:
    with a_call_under_way(tmp_path, upstream, "0.5") as (running, call, _):
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0
        with pytest.raises(httpx.TransportError):
            call.result(60)
        assert '"outcome":"cancelled"' in outcomes(running)[0]
        assert "aborting the calls" in running.output()


def test_a_second_signal_ends_it_at_once(tmp_path: Path, upstream: Upstream) -> None:
    with a_call_under_way(tmp_path, upstream, "3600") as (running, call, _):
        running.process.send_signal(signal.SIGINT)
        turned_away = (httpx.NetworkError, httpx.RemoteProtocolError)
        with httpx.Client(trust_env=False, verify=PLAIN) as stranger, pytest.raises(turned_away):
            while True:  # until the first one has been seen, when what waits to be accepted is reset or closed
                stranger.get(f"{running.url}/healthz", headers={"connection": "close"})
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(60) == 0
        with pytest.raises(httpx.TransportError):
            call.result(60)


def test_however_many_signals_come_it_ends_in_order(tmp_path: Path, upstream: Upstream) -> None:
    with a_call_under_way(tmp_path, upstream, "3600") as (running, _, _):
        while running.process.poll() is None:
            running.process.send_signal(signal.SIGTERM)
            time.sleep(0.005)
        assert running.process.wait(60) == 0
        assert '"outcome":"cancelled"' in outcomes(running)[0]
        assert "ERROR" not in running.output()


@pytest.mark.parametrize("connection", ["keep-alive", "close"])
def test_who_reads_slowly_gets_all_of_the_answer(tmp_path: Path, upstream: Upstream, connection: str) -> None:
    upstream.answer = lambda _: completion({"role": "assistant", "content": "z" * 12_000_000})
    body = json.dumps(CHAT)
    with (
        gateway(tmp_path, "--upstream", f"{upstream.url}/v1", environment={"SVC_SHUTDOWN_SECONDS": "3600"}) as running,
        socket.socket() as client,
    ):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(120)
        client.connect(("127.0.0.1", running.port))
        client.sendall(
            f"POST /v1/chat/completions HTTP/1.1\r\nhost: h\r\nauthorization: Bearer {OPERATOR_KEY}\r\n"
            f"connection: {connection}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            f"{body}".encode()
        )
        received = client.recv(1)
        running.process.send_signal(signal.SIGTERM)
        while "shutting down" not in running.output():
            assert running.process.poll() is None
            time.sleep(0.05)
        # Long enough: the end has begun with nearly all of the answer still to be read.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        with client.makefile("rb") as rest:
            head, _, answer = (received + rest.read()).partition(b"\r\n\r\n")
        assert f"content-length: {len(answer)}".encode() in head.lower().split(b"\r\n")
        assert len(answer) > 12_000_000
        assert running.process.wait(60) == 0


def test_clients_that_go_on_calling_do_not_hold_up_the_end(tmp_path: Path, upstream: Upstream) -> None:
    def call_on(running: Running) -> None:
        with running.client() as client, suppress(httpx.TransportError):
            while True:
                client.post("/v1/chat/completions", json=CHAT)

    environment = {"SVC_SHUTDOWN_SECONDS": "3600"}
    with (
        ThreadPoolExecutor(16) as pool,
        gateway(tmp_path, "--upstream", f"{upstream.url}/v1", environment=environment) as running,
    ):
        calls = [pool.submit(call_on, running) for _ in range(16)]
        while len(upstream.recorded) < 32:
            time.sleep(0.05)
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0
        for call in calls:
            call.result(60)
        told = outcomes(running)
        assert len(told) == len(upstream.recorded)
        assert all('"outcome":"answered"' in each for each in told)


def test_an_upload_that_is_not_complete_is_not_waited_for(tmp_path: Path) -> None:
    with (
        gateway(tmp_path, environment={"SVC_SHUTDOWN_SECONDS": "3600"}) as running,
        socket.create_connection(("127.0.0.1", running.port)) as upload,
        running.client() as client,
    ):
        upload.sendall(b"POST /v1/protect HTTP/1.1\r\nhost: h\r\ncontent-length: 9\r\n\r\n{")
        assert client.get("/healthz").status_code == 200
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")
@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_stopped_while_it_starts_all_of_it_ends_quietly(tmp_path: Path, number: int) -> None:
    command = [sys.executable, str(ROOT / "run_proxy.py"), "serve", "--no-web", "--gateway-port", "0"]
    command += ["--proxy-port", "0", "--data-dir", str(tmp_path / "data"), "--certs-dir", str(tmp_path / "certs")]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    process = subprocess.Popen(command, env=clean, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while not (tmp_path / "data" / "gateway.db").exists():  # the child has begun
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)  # the child holds this pipe, too
    assert process.returncode == 128 + number
    assert said == b"Starting the Privacy Gateway. Its addresses follow when it is ready.\n"


def test_without_calls_it_ends_at_once(tmp_path: Path) -> None:
    with gateway(tmp_path, environment={"SVC_SHUTDOWN_SECONDS": "3600"}) as running:
        with running.client() as client:
            assert client.get("/v1/models", headers={"authorization": f"Bearer {OPERATOR_KEY}"}).status_code == 200
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0
        assert "shutting down" not in running.output()


def test_start_and_end_are_lines_of_the_log(tmp_path: Path) -> None:
    with gateway(tmp_path, environment={"SVC_LOG_JSON": "true"}) as running:
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0
    lines = [json.loads(line) for line in running.output().splitlines() if line.startswith("{")]
    assert [line["message"] for line in lines if line["logger"] == "addons.server"] == [
        f"serving on {running.url}, and as a proxy on {running.proxy}",
        "stopped",
    ]
    assert {line["level"] for line in lines} == {"info"}


@pytest.mark.parametrize(("name", "is_in_time"), [("gateway", True), ("gateway", False), ("proxy", True)])
def test_websockets_are_closed_after_their_last_answer(
    tmp_path: Path,
    authority: trustme.CA,
    _sockets: tuple[SocketUpstream, SocketUpstream],
    name: str,
    is_in_time: bool,
) -> None:
    told, upstream = threading.Event(), _sockets[name == "proxy"]

    def answer(socket: Socket, message: str) -> Iterator[str]:
        made = events("All is said", len(socket.messages))
        yield from made[:3]
        told.wait(60)
        yield from made[3:]

    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    given = ("--upstream", f"{_sockets[0].url}/v1", "--upstream-ca", str(tmp_path / "ca.pem"))
    environment = {"SVC_SHUTDOWN_SECONDS": "60" if is_in_time else "0.5", "SVC_DETECTION": "patterns"}
    upstream.sockets.clear()
    upstream.answer = answer
    with gateway(tmp_path, *given, "--intercept", f"localhost:{_sockets[1].port}", environment=environment) as running:
        entrance = SocketEntrance(name, running, upstream)
        with entrance.connect() as idle, entrance.connect() as busy:
            busy.send(json.dumps(create(SAID)))
            busy.recv(60)
            running.process.send_signal(signal.SIGTERM)
            assert closed(idle) == 1001
            if is_in_time:
                told.set()
                assert text_of(answered(busy)) == "All is said"
            assert closed(busy) == 1001
            assert running.process.wait(60) == 0
            told.set()
        assert wait_for(lambda: [each.close_code for each in upstream.sockets] == [1001, 1001])
        assert running.output().count("outcome=websocket") == 2
        assert f'"outcome":"{"answered" if is_in_time else "cancelled"}"' in outcomes(running)[0]


def closed(client: Connection) -> int:
    """The code with which the gateway closes a connection, whatever it says before."""
    with pytest.raises(ConnectionClosed) as ended:
        while True:
            client.recv(60)
    return ended.value.rcvd.code if ended.value.rcvd else 0
