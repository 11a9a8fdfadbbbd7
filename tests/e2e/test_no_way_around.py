"""Programs that ignore the proxy are reported by `exec`."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.lacking import lacking
from tests.e2e.server import COMMAND, Running

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
def running(gateways: Gateways) -> Running:
    return gateways(detection="patterns")


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


def executing(running: Running, folder: Path, words: list[str], *options: str) -> "subprocess.Popen[str]":
    places = ["--data-dir", str(running.data), "--certs-dir", str(running.certs)]
    ports = ["--proxy-port", str(running.proxy_port), "--gateway-port", str(running.port)]
    command = [*COMMAND, "exec", *places, *ports, *options, "--", *words]
    clean = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("program", ["node", "java", "python"])
def test_programs_that_ignore_the_proxy_are_reported(
    running: Running, stranger: Stranger, program: str, tmp_path: Path
) -> None:
    words = [*command_of(program, tmp_path), f"http://{stranger.place}/"]
    with executing(running, tmp_path, words) as process:
        assert stranger.answer_once(process)
        said, errors = process.communicate(timeout=60)
    assert (said, process.returncode) == ("answered 204\n", 0), errors
    reports = [line for line in errors.splitlines() if line.startswith("run_proxy.py exec: ")]
    assert len(reports) == 1, errors
    assert reports[0].endswith(f") connects to {stranger.place}, past the gateway")


def test_a_program_that_uses_the_proxy_is_not_reported(running: Running, stranger: Stranger, tmp_path: Path) -> None:
    code = "import urllib.request, sys; print(urllib.request.urlopen(sys.argv[1], timeout=20).status)"
    with executing(running, tmp_path, [sys.executable, "-c", code, f"http://{stranger.place}/"]) as process:
        assert stranger.answer_once(process)
        assert process.communicate(timeout=60) == ("204\n", "")
