"""An upstream that takes too long at any step: 504 after the time of the settings, and a line in the log."""

import contextlib
import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.raw import each_connection, full_queue
from tests.e2e.server import Running
from tests.e2e.upstream import Recorded, Reply, Upstream, echo

SECONDS, OF_HOSTS = 1.0, 2.0


# Neither ever ends by itself: an answer comes from the gateway, or not at all.
def silent(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def dripping(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
    while True:
        connection.sendall(b" ")
        time.sleep(0.1)


def slowly(request: Recorded) -> Reply:
    time.sleep(SECONDS / 2)
    return echo(request)


@pytest.fixture(scope="module")
def slow(gateways: Gateways) -> Iterator[Running]:
    with contextlib.ExitStack() as stack:
        quiet, drip = (stack.enter_context(each_connection(work)) for work in (silent, dripping))
        answering = stack.enter_context(Upstream().running())
        answering.answer = slowly
        urls = {
            "silent": f"http://127.0.0.1:{quiet}",
            "dripping": f"http://127.0.0.1:{drip}",
            "no-handshake": f"https://127.0.0.1:{quiet}",
            "full": f"http://127.0.0.1:{stack.enter_context(full_queue())}",
            "answering": answering.url,
        }
        table = '[upstreams.{}]\nbase_url = "{}/v1"\nmodels = ["{}-1"]\ntimeout_seconds = {}\n'
        config = "".join(table.format(name, url, name, SECONDS) for name, url in urls.items())
        intercept = ("--intercept", f"127.0.0.1:{quiet}")
        yield gateways(*intercept, config=config, detection="patterns", upstream_timeout_seconds=str(OF_HOSTS))


def chat(model: str) -> dict[str, object]:
    return {"model": model, "messages": [{"role": "user", "content": "Write to anna@acme.test"}]}


def check(answer: httpx.Response, running: Running, name: str) -> None:
    body = answer.json()
    assert (answer.status_code, body["error"]["code"]) == (504, "upstream_timeout")
    (line,) = [line for line in running.output().splitlines() if body["request_id"] in line and "WARNING" in line]
    assert f"upstream {name} did not answer in time (timed_out)" in line


@pytest.mark.parametrize("name", ["silent", "dripping", "no-handshake", "full"])
def test_it_ends_when_its_time_is_over(slow: Running, name: str) -> None:
    with slow.client() as client:
        began = time.monotonic()
        answer = client.post("/v1/chat/completions", json=chat(name))
        took = time.monotonic() - began
        check(answer, slow, f"`{name}`")
        assert took >= SECONDS
        receipt = client.get(f"/v1/receipts/{answer.json()['request_id']}").json()
    assert receipt["outcome"]["outcome"] == "upstream_error"


def test_a_host_of_the_proxy_has_the_time_of_the_setting(slow: Running) -> None:
    port = next(line for line in (slow.data.parent / "svc.toml").read_text().splitlines() if "127.0.0.1" in line)
    url = port.split('"')[1].replace("http:", "https:") + "/chat/completions"
    with slow.proxied() as client:
        began = time.monotonic()
        check(client.post(url, json=chat("gpt-x")), slow, "host 127.0.0.1")
        assert time.monotonic() - began >= OF_HOSTS


def test_who_answers_in_time_is_not_hurried(slow: Running) -> None:
    """On one connection: the time begins anew with every request."""
    with slow.client() as client:
        for _ in range(4):
            answer = client.post("/v1/chat/completions", json=chat("answering"))
            assert answer.status_code == 200
            assert "anna@acme.test" in answer.text
