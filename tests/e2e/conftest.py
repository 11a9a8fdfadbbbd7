"""Real parts on loopback: a recording upstream over HTTP and over TLS, and the gateway in a process of its own."""

import socket as sockets
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import trustme

from tests.e2e.entrances import Entrance
from tests.e2e.raw import each_connection, pushed
from tests.e2e.server import Running, gateway
from tests.e2e.socket_upstream import SocketEntrance, SocketUpstream, repeat
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


@pytest.fixture(params=["gateway", "proxy"])
def entrance(request: pytest.FixtureRequest, served: Running, upstream: Upstream, tls_upstream: Upstream) -> Entrance:
    """Both listeners of the gateway that the module's fixture `served` is."""
    return Entrance(request.param, served, upstream if request.param == "gateway" else tls_upstream)


@pytest.fixture(scope="session")
def _sockets(authority: trustme.CA) -> Iterator[tuple[SocketUpstream, SocketUpstream]]:
    with SocketUpstream().running() as plain, SocketUpstream(authority).running() as tls:
        yield plain, tls


@pytest.fixture(scope="session")
def speaking(gateways: "Gateways", _sockets: tuple[SocketUpstream, SocketUpstream]) -> Running:
    """A gateway whose upstreams speak WebSocket."""
    plain, tls = _sockets
    given = ("--upstream", f"{plain.url}/v1", "--intercept", f"localhost:{tls.port}")
    return gateways(*given, web=True, upstream_key="upstream-key-of-the-tests", log_level="debug")


@pytest.fixture(params=["gateway", "proxy"])
def socket(
    request: pytest.FixtureRequest, speaking: Running, _sockets: tuple[SocketUpstream, SocketUpstream]
) -> SocketEntrance:
    """Both listeners of `speaking`."""
    upstream = _sockets[request.param == "proxy"]
    upstream.sockets.clear()
    upstream.answer = repeat
    return SocketEntrance(request.param, speaking, upstream)


def _fresh(upstream: Upstream) -> Upstream:
    upstream.recorded.clear()
    upstream.answer = echo
    return upstream


class Gateways:
    """The gateways that tests of a worker share: one for each set of options. The last two that were used stay."""

    def __init__(self, make_folder: Callable[[str], Path], plain: Upstream, tls: Upstream, authority: trustme.CA):
        self._make_folder = make_folder
        ca = make_folder("authority") / "upstream-ca.pem"
        authority.cert_pem.write_to_path(ca)
        self._common = ("--upstream-ca", str(ca), "--intercept", f"localhost:{tls.port}")
        self.with_upstream = ("--upstream", f"{plain.url}/v1")
        self._running: dict[Hashable, tuple[ExitStack, Running]] = {}

    def __call__(
        self,
        *arguments: str,
        web: bool = False,
        config: str = "",
        prepare: Callable[[], object] | None = None,
        **settings: str,
    ) -> Running:
        """Returns the gateway with these arguments, the text of its settings file, and `settings` as variables."""
        key = (arguments, web, config, prepare, *sorted(settings.items()))
        if key in self._running:
            self._running[key] = self._running.pop(key)
        else:
            self._running[key] = self._start(arguments, web, config, prepare, settings)
        while len(self._running) > 2:
            self._stop(next(iter(self._running)))
        return self._running[key][1]

    def _start(
        self,
        arguments: tuple[str, ...],
        web: bool,
        config: str,
        prepare: Callable[[], object] | None,
        settings: dict[str, str],
    ) -> tuple[ExitStack, Running]:
        folder, stack = self._make_folder("gateway"), ExitStack()
        if config:
            (folder / "svc.toml").write_text(config)
            arguments += ("--config", str(folder / "svc.toml"))
        variables = {f"SVC_{name.upper()}": value for name, value in settings.items()}
        started = gateway(folder, *self._common, *arguments, web=web, environment=variables, prepare=prepare)
        return stack, stack.enter_context(started)

    def _stop(self, key: Hashable) -> None:
        stack, running = self._running.pop(key)
        stack.close()
        assert "Traceback" not in running.output()

    def close(self) -> None:
        while self._running:
            self._stop(next(iter(self._running)))


@pytest.fixture(scope="session")
def gateways(
    tmp_path_factory: pytest.TempPathFactory, _plain: Upstream, _tls: Upstream, authority: trustme.CA
) -> Iterator[Gateways]:
    with closing(Gateways(tmp_path_factory.mktemp, _plain, _tls, authority)) as shared:
        yield shared


@pytest.fixture(scope="session")
def running(
    tmp_path_factory: pytest.TempPathFactory, _plain: Upstream, _tls: Upstream, authority: trustme.CA
) -> Iterator[Running]:
    """One gateway for all tests that do not change it: with mitmweb, an upstream, and one host to intercept."""
    with closing(Gateways(tmp_path_factory.mktemp, _plain, _tls, authority)) as shared:
        yield shared(*shared.with_upstream, web=True, upstream_key="upstream-key-of-the-tests", log_level="debug")


@pytest.fixture
def talker() -> Iterator[tuple[int, list[bytes]]]:
    """The port of an upstream that answers every request with the first of the bytes that a test adds to the list."""
    said: list[bytes] = []

    def answer(connection: sockets.socket) -> None:
        connection.recv(65536)
        said.append(b"%d" % pushed(connection, said[0], len(said[0])))

    with each_connection(answer) as port:
        yield port, said
