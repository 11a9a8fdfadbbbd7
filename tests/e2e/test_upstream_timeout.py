"""An upstream that takes too long, at whatever it was: 504 after the time of the settings, and a line in the log."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.e2e.server import Running, gateway
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


@contextlib.contextmanager
def doing(what: Callable[[socket.socket], None]) -> Iterator[int]:
    """The port of a server that does this with every connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def handle(connection: socket.socket) -> None:
            with contextlib.suppress(OSError), connection:
                what(connection)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=handle, args=(server.accept()[0],), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def full() -> Iterator[int]:
    """The port of a server whose queue is full: an attempt to connect neither succeeds nor fails."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]


def slowly(request: Recorded) -> Reply:
    time.sleep(SECONDS / 2)
    return echo(request)


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("slow")
    with contextlib.ExitStack() as stack:
        quiet, drip = (stack.enter_context(doing(what)) for what in (silent, dripping))
        answering = stack.enter_context(Upstream().running())
        answering.answer = slowly
        urls = {
            "silent": f"http://127.0.0.1:{quiet}",
            "dripping": f"http://127.0.0.1:{drip}",
            "no-handshake": f"https://127.0.0.1:{quiet}",
            "full": f"http://127.0.0.1:{stack.enter_context(full())}",
            "answering": answering.url,
        }
        table = '[upstreams.{}]\nbase_url = "{}/v1"\nmodels = ["{}-1"]\ntimeout_seconds = {}\n'
        config = folder / "svc.toml"
        config.write_text("".join(table.format(name, url, name, SECONDS) for name, url in urls.items()))
        variables = {"SVC_DETECTION": "patterns", "SVC_UPSTREAM_TIMEOUT_SECONDS": str(OF_HOSTS)}
        arguments = ("--config", str(config), "--intercept", f"127.0.0.1:{quiet}")
        with gateway(folder, *arguments, environment=variables) as running:
            yield running


def chat(model: str) -> dict[str, object]:
    return {"model": model, "messages": [{"role": "user", "content": "Write to anna@acme.test"}]}


def check(answer: httpx.Response, running: Running, name: str) -> None:
    body = answer.json()
    assert (answer.status_code, body["error"]["code"]) == (504, "upstream_timeout")
    (line,) = [line for line in running.output().splitlines() if body["request_id"] in line]
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
    assert receipt["outcome"]["outcome"] == "failed"


def test_a_host_of_the_proxy_has_the_time_of_the_setting(slow: Running) -> None:
    port = next(line for line in (slow.data.parent / "svc.toml").read_text().splitlines() if "127.0.0.1" in line)
    url = port.split('"')[1].replace("http:", "https:") + "/chat/completions"
    context = ssl.create_default_context(cafile=str(slow.ca))
    with httpx.Client(proxy=slow.proxy, verify=context, trust_env=False, timeout=30) as client:
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
