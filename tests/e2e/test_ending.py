"""Told to stop, the gateway lets nobody new in, and those who wait get their answers."""

import signal
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.e2e.server import OPERATOR_KEY, Running, gateway
from tests.e2e.upstream import Recorded, Reply, Upstream, echo

SAID = "mail canary@acme.test"
CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": SAID}]}


@contextmanager
def a_call_under_way(
    folder: Path, upstream: Upstream, seconds: str
) -> Iterator[tuple[Running, Future[httpx.Response], threading.Event]]:
    """A gateway with a call that the upstream answers when the event is set."""
    asked, answered = threading.Event(), threading.Event()

    def slowly(request: Recorded) -> Reply:
        asked.set()
        answered.wait(20)
        return echo(request)

    upstream.answer = slowly
    with (
        gateway(folder, "--upstream", f"{upstream.url}/v1", environment={"SVC_SHUTDOWN_SECONDS": seconds}) as running,
        ThreadPoolExecutor(1) as pool,
        running.client() as client,
    ):
        call = pool.submit(client.post, "/v1/chat/completions", json=CHAT)
        assert asked.wait(20)
        try:
            yield running, call, answered
        finally:
            answered.set()


def outcomes(running: Running) -> list[str]:
    with closing(sqlite3.connect(running.data / "gateway.db")) as db:
        return [body for (body,) in db.execute("SELECT body FROM receipts WHERE kind = 'outcome'")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_who_waits_gets_an_answer_and_nobody_new_comes_in(tmp_path: Path, upstream: Upstream, number: int) -> None:
    with a_call_under_way(tmp_path, upstream, "20") as (running, call, answered), running.client() as known:
        assert known.get("/healthz").status_code == 200
        running.process.send_signal(number)
        while (refused := known.get("/healthz")).status_code == 200:  # the signal is on its way
            pass
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "stopping")
        assert refused.headers["retry-after"] == "1"
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{running.url}/healthz", trust_env=False)
        answered.set()
        assert call.result(20).json()["choices"][0]["message"]["content"] == SAID
        assert running.process.wait(20) == 0
        assert '"outcome":"answered"' in outcomes(running)[0]


def test_what_does_not_end_in_time_is_cut_off_and_recorded(tmp_path: Path, upstream: Upstream) -> None:
    with a_call_under_way(tmp_path, upstream, "0.5") as (running, call, _):
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(20) == 0
        with pytest.raises(httpx.TransportError):
            call.result(20)
        assert '"outcome":"cancelled"' in outcomes(running)[0]
        assert "cut off" in running.output()


def test_a_second_signal_ends_it_at_once(tmp_path: Path, upstream: Upstream) -> None:
    with a_call_under_way(tmp_path, upstream, "3600") as (running, call, _):
        running.process.send_signal(signal.SIGINT)
        with httpx.Client(trust_env=False) as stranger, pytest.raises(httpx.ConnectError):
            while True:  # until the first one has been seen
                stranger.get(f"{running.url}/healthz", headers={"connection": "close"})
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(20) == 0
        with pytest.raises(httpx.TransportError):
            call.result(20)


def test_without_calls_it_ends_at_once(tmp_path: Path) -> None:
    with gateway(tmp_path, environment={"SVC_SHUTDOWN_SECONDS": "3600"}) as running:
        with running.client() as client:
            assert client.get("/v1/models", headers={"authorization": f"Bearer {OPERATOR_KEY}"}).status_code == 200
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(20) == 0
        assert "stopping when" not in running.output()
