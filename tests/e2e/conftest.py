"""Real parts on loopback: a recording upstream over HTTP and over TLS, and the gateway in a process of its own."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from tests.e2e.raw import pushed
from tests.e2e.server import Running, gateway
from tests.e2e.upstream import Upstream, echo


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def _plain() -> Iterator[Upstream]:
    with Upstream().running() as upstream:
        yield upstream


@pytest.fixture(scope="session")
def _tls(authority: trustme.CA) -> Iterator[Upstream]:
    with Upstream(authority).running() as upstream:
        yield upstream


@pytest.fixture
def upstream(_plain: Upstream) -> Upstream:
    """Reached through the gateway listener."""
    return _fresh(_plain)


@pytest.fixture
def tls_upstream(_tls: Upstream) -> Upstream:
    """Reached through the proxy listener."""
    return _fresh(_tls)


def _fresh(upstream: Upstream) -> Upstream:
    upstream.recorded.clear()
    upstream.answer = echo
    return upstream


@pytest.fixture(scope="session")
def running(
    tmp_path_factory: pytest.TempPathFactory, _plain: Upstream, _tls: Upstream, authority: trustme.CA
) -> Iterator[Running]:
    """One gateway for all tests that do not change it: with mitmweb, an upstream, and one host to intercept."""
    folder = tmp_path_factory.mktemp("gateway")
    authority.cert_pem.write_to_path(folder / "upstream-ca.pem")
    arguments = ("--upstream", f"{_plain.url}/v1", "--upstream-ca", str(folder / "upstream-ca.pem"))
    environment = {"SVC_UPSTREAM_KEY": "upstream-key-of-the-tests", "SVC_LOG_LEVEL": "debug"}
    arguments += ("--intercept", f"localhost:{_tls.port}")
    with gateway(Path(folder), *arguments, web=True, environment=environment) as process:
        yield process


@pytest.fixture
def talker() -> Iterator[tuple[int, list[bytes]]]:
    """An upstream that says, to every request, the bytes it is given, and what follows for as long as it is heard."""
    said: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    taken, _ = listener.accept()
                except OSError:
                    return
                with taken:
                    taken.recv(65536)
                    said.append(b"%d" % pushed(taken, said[0], len(said[0])))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1], said
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)
