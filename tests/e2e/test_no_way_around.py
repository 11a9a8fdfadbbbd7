"""Programs that ignore the proxy are reported by `exec`, and stopped by `exec --contain`, as is all else."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.e2e.another_user import as_another_user
from tests.e2e.conftest import Gateways
from tests.e2e.lacking import lacking, skip_unless_seen
from tests.e2e.raw import each_connection
from tests.e2e.server import COMMAND, OPERATOR_KEY, ROOT, Running, free_port
from tests.e2e.upstream import Upstream

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

NODE = """
fetch(process.argv[1]).then(r => console.log("answered", r.status), e => console.log("failed", e.cause?.code))
"""
JAVA = """
import java.net.*; import java.net.http.*; import java.io.*; import java.util.List;
class Asks { public static void main(String[] words) throws Exception {
    var direct = new ProxySelector() {
        public List<Proxy> select(URI uri) { return List.of(Proxy.NO_PROXY); }
        public void connectFailed(URI uri, SocketAddress at, IOException error) { } };
    try {
        var request = HttpRequest.newBuilder(URI.create(words[0])).build();
        var client = HttpClient.newBuilder().proxy(direct).version(HttpClient.Version.HTTP_1_1).build();
        System.out.println("answered " + client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode());
    } catch (IOException error) { System.out.println("failed " + error.getClass().getSimpleName()); }
} }
"""
PYTHON = """
import http.client, sys, urllib.parse
url = urllib.parse.urlsplit(sys.argv[1])
connection = http.client.HTTPConnection(url.hostname, url.port, timeout=10)
try:
    connection.request("GET", "/")
    print("answered", connection.getresponse().status)
except OSError as error:
    print("failed", error.errno)
"""


class Stranger:
    """A service at an address of this machine that is not loopback, so that it might be another's."""

    def __init__(self, host: str) -> None:
        self._listener = socket.create_server((host, 0))
        self._listener.settimeout(0.2)
        self.place = f"{host}:{self._listener.getsockname()[1]}"

    def answer_once(self, process: "subprocess.Popen[str]") -> bool:
        """Returns whether a connection came before the process ended."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                peer, _ = self._listener.accept()
            except TimeoutError:
                if process.poll() is not None:
                    return False
                continue
            with peer:
                peer.recv(4096)
                peer.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
            return True
        raise TimeoutError("the program did not end")

    def close(self) -> None:
        self._listener.close()


@pytest.fixture(scope="module")
def stranger() -> Iterator[Stranger]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            lacking("this machine has no address but loopback")
        host = probe.getsockname()[0]
    found = Stranger(host)
    yield found
    found.close()


@pytest.fixture(scope="module")
def listed() -> Iterator[int]:
    """The port of a service that answers bytes with bytes."""
    with each_connection(lambda sock: sock.sendall(sock.recv(100))) as port:
        yield port


@pytest.fixture(scope="module")
def running(gateways: Gateways, listed: int, _tls: Upstream) -> Running:
    return gateways(
        *gateways.with_upstream,
        web=True,
        detection="patterns",
        operations_port=str(free_port()),
        contained_hosts=f"localhost:{listed}",
        proxy_private_destinations=f"localhost:{_tls.port}",
    )


def command_of(program: str, folder: Path) -> list[str]:
    """The command that asks for the URL which is its last word."""
    if program == "python":
        return [sys.executable, "-c", PYTHON]
    path = shutil.which(program)
    if path is None:
        lacking(f"{program} is not installed")
    if program == "node":
        return [path, "-e", NODE]
    source = folder / "Asks.java"
    source.write_text(JAVA)
    return [path, str(source)]


@dataclass
class Place:
    """A folder that every user can reach, with the public files of the gateway's authority."""

    path: Path
    running: Running
    as_user: bool

    def executing(
        self, words: Sequence[str], *options: str, folder: Path | None = None, before: Sequence[str] = (), **more: Any
    ) -> "subprocess.Popen[str]":
        places = ["--data-dir", str(self.running.data), "--certs-dir", str(self.path / "certs")]
        ports = ["--proxy-port", str(self.running.proxy_port), "--gateway-port", str(self.running.port)]
        command = [COMMAND[0], "-B", *COMMAND[1:], "exec", *places, *ports, *options, "--", *words]
        clean = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        clean |= {"HOME": str(self.path / "home"), "PYTHONPATH": str(ROOT)}
        streams: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        streams["start_new_session"] = True
        wrapped = [*before, *(as_another_user(command) if self.as_user else command)]
        return subprocess.Popen(wrapped, cwd=folder or self.path / "work", env=clean, **streams, **more)


@pytest.fixture(params=["user", "root"])
def place(request: pytest.FixtureRequest, running: Running) -> Iterator[Place]:
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("needs root")
    with TemporaryDirectory(dir="/var/tmp") as name:
        path = Path(name)
        shutil.copytree(running.certs, path / "certs", ignore=shutil.ignore_patterns("mitmproxy-ca.*"))
        for folder in (path, path / "home", path / "work", path / "certs"):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o777)
        yield Place(path, running, as_user=request.param == "user")


PROGRAMS = ("node", "java", "python")


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_that_ignore_the_proxy_are_reported(place: Place, stranger: Stranger, program: str) -> None:
    words = [*command_of(program, place.path), f"http://{stranger.place}/"]
    with place.executing(words) as process:
        assert stranger.answer_once(process)
        said, errors = process.communicate(timeout=60)
    assert (said, process.returncode) == ("answered 204\n", 0), errors
    reports = [line for line in errors.splitlines() if line.startswith("run_proxy.py exec: ")]
    assert len(reports) == 1, errors
    assert reports[0].endswith(f") connects to {stranger.place}, past the gateway")


def test_a_program_that_uses_the_proxy_is_not_reported(place: Place, stranger: Stranger) -> None:
    code = "import urllib.request, sys; print(urllib.request.urlopen(sys.argv[1], timeout=20).status)"
    with place.executing([sys.executable, "-c", code, f"http://{stranger.place}/"]) as process:
        assert stranger.answer_once(process)
        assert process.communicate(timeout=60) == ("204\n", "")


def test_a_file_that_cannot_be_run_and_closed_streams_are_as_in_a_shell(place: Place) -> None:
    for words, status in ((["/etc/passwd"], 126), (["/"], 126), (["no-such-program"], 127)):
        with place.executing(words) as process:
            said, errors = process.communicate(timeout=60)
        assert (said, process.returncode, errors.count("\n")) == ("", status, 1), errors
    closing = ("sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh")
    for option in ("--contain", "--no-report", "--through=proxy") if can_contain(place) else ():
        with place.executing(["sh", "-c", "test -e /proc/$$/fd/1 || exit 7"], option, before=closing) as process:
            assert process.communicate(timeout=60) == ("", "")
        assert process.returncode == 7


def contained(place: Place, words: Sequence[str], *options: str, **more: Any) -> "subprocess.Popen[str]":
    if not can_contain(place):
        lacking("the system does not permit namespaces")
    skip_unless_seen(words[0])
    return place.executing(words, "--contain", *options, **more)


def can_contain(place: Place) -> bool:
    command = ["unshare", "--user", "--map-current-user", "--net", "true"]
    tried = subprocess.run(as_another_user(command) if place.as_user else command, capture_output=True, check=False)
    return tried.returncode == 0


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_that_ignore_the_proxy_are_stopped(place: Place, stranger: Stranger, program: str) -> None:
    words = [*command_of(program, place.path), f"http://{stranger.place}/"]
    with contained(place, words) as process:
        assert not stranger.answer_once(process)
        said, errors = process.communicate(timeout=60)
    assert said.startswith("failed"), errors
    assert process.returncode == 0
    reports = [line for line in errors.splitlines() if line.startswith("run_proxy.py exec: ")]
    assert len(reports) == 1, errors
    assert reports[0].endswith(f") connects to {stranger.place}, which `--contain` blocks")


def test_a_program_that_containment_hides_is_named_as_such(place: Place) -> None:
    with TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        script = Path(folder, "script")
        script.write_text("#!/bin/sh\n")
        script.chmod(0o755)
        with contained(place, [str(script)]) as process:
            _, errors = process.communicate(timeout=60)
    assert process.returncode == 126
    assert "in a folder that contained programs do not see" in errors


def test_the_gateway_cannot_be_changed_from_its_own_folder(place: Place) -> None:
    files = " ".join(("policies/x.toml", "gateway/x.py", "addons/x.py", "x.py"))
    with contained(place, ["touch", *files.split()], folder=ROOT) as process:
        said, errors = process.communicate(timeout=60)
    assert not any((ROOT / name).exists() for name in files.split())
    assert (said, process.returncode) == ("", 1)
    assert "is the gateway's own, so the program cannot write there" in errors
    assert errors.count("Read-only") == 4 or place.as_user


CALL = json.dumps({"model": "svc-demo", "messages": [{"role": "user", "content": "hello"}]})
SUCCESSES = {"model", "listed", "working folder", "home", "bundle", "terminal"}
BY_GATEWAY = {
    "connect",
    "connect to a name",
    "connect to loopback",
    "plain",
    "plain by host",
    "keys",
    "metrics",
    "restoring",
}


def test_no_way_out_is_found(
    place: Place, stranger: Stranger, running: Running, listed: int, tls_upstream: Upstream
) -> None:
    with ExitStack() as held:
        sockets = [
            f"/tmp/outside-{os.getpid()}.sock",
            str(place.path / "home" / "agent.sock"),
            f"\0outside-{os.getpid()}",
        ]
        for path in sockets:
            listener = held.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(path)
            listener.listen()
            if path.startswith("/"):
                held.callback(Path(path).unlink)
                Path(path).chmod(0o777)
        secret = held.enter_context((running.data / "gateway.db").open("rb"))
        os.set_inheritable(secret.fileno(), True)
        host, _, port = stranger.place.partition(":")
        given = {
            "stranger": (host, int(port)),
            "sockets": sockets,
            "ports": [running.web_port, operations_port(running)],
            "data": str(running.data),
            "private_key": str(running.certs / "mitmproxy-ca.pem"),
            "descriptor": secret.fileno(),
            "process": os.getpid(),
            "proxy": running.proxy_port,
            "gateway": running.port,
            "key": OPERATOR_KEY,
            "listed": listed,
            "call": f"Authorization: Bearer {OPERATOR_KEY}\nContent-Type: application/json\n"
            f"Content-Length: {len(CALL)}\n\n{CALL}",
            "decrypted": f"localhost:{tls_upstream.port}",
        }
        script = [sys.executable, str(ROOT / "tests" / "e2e" / "escapes.py"), json.dumps(given)]
        with contained(place, script, "--through", "both", close_fds=False) as process:
            said, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    became = json.loads(said)
    print(json.dumps(became, indent=1))
    assert {name for name, end in became.items() if end == "done"} == SUCCESSES, became
    assert {name for name, end in became.items() if end == "0 contained_program"} == BY_GATEWAY, became
    assert "evil" not in running.output()


def operations_port(running: Running) -> int:
    shown = running.output().partition("Metrics:")[2].split()[0]
    return int(shown.rpartition(":")[2].partition("/")[0])
