"""The gateway in a process of its own, on free ports: `run_proxy.py` as its users start it, or forked (`preloaded`)."""

import atexit
import contextlib
import itertools
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import httpx

from addons.certificate_authority import make_authority
from tests.e2e.preloaded import Program

ROOT = Path(__file__).parents[2]
OPERATOR_KEY = "svck_" + "operator-of-the-tests-" * 2
# For `verify` of a client of plain HTTP: to load the authorities takes 70 ms of processor time, and it asks none.
PLAIN = False
# The command as it is typed, for `gateway`.
COMMAND = (sys.executable, str(ROOT / "run_proxy.py"))


# Below the ports of outgoing connections, and apart for each worker: until the gateway listens, no other
# process takes a port that was found free here.
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_ports = itertools.count(10_000 + _WORKER % 8 * 2_500 + os.getpid() % 500)


def free_port() -> int:
    for port in _ports:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("unreachable")


@dataclass
class Running:
    """A gateway under test."""

    process: subprocess.Popen[bytes] | Program
    port: int
    proxy_port: int
    web_port: int | None
    data: Path
    certs: Path
    log: Path
    scheme: str = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def proxy(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.proxy_port}"

    @property
    def web(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.web_port}"

    @property
    def ca(self) -> Path:
        return self.certs / "mitmproxy-ca-cert.pem"

    def client(self, key: str = OPERATOR_KEY) -> httpx.Client:
        return self.stranger(authorization=f"Bearer {key}")

    def stranger(self, **headers: str) -> httpx.Client:
        """A client of the gateway listener that has no key but in its headers."""
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False, verify=PLAIN)

    @property
    def trust(self) -> ssl.SSLContext:
        """Accepts what the gateway signs for intercepted hosts."""
        return ssl.create_default_context(cafile=self.ca)

    def proxied(self, base_url: str = "", **headers: str) -> httpx.Client:
        """A client of the proxy listener that trusts its authority."""
        return httpx.Client(
            base_url=base_url, headers=headers, proxy=self.proxy, verify=self.trust, timeout=30, trust_env=False
        )

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def faults(self) -> list[str]:
        """The lines of the log about errors in the gateway or in the libraries that it uses."""
        return re.findall(r".*(?: ERROR (?:mitmproxy|asyncio|tornado)|reports a problem).*", self.output())


@contextlib.contextmanager
def gateway(
    folder: Path,
    *arguments: str,
    web: bool = False,
    environment: dict[str, str] | None = None,
    command: Sequence[str] = (),
    prepare: Callable[[], object] | None = None,
) -> Iterator[Running]:
    """Starts a gateway with its data below `folder` and stops it again.

    Forked from a process that has it loaded, and calls `prepare` first; or else started by a `command`.
    """
    port, proxy_port, web_port = free_port(), free_port(), free_port()
    data, certs, log = folder / "data", folder / "certs", folder / "gateway.log"
    if not command and not certs.exists():
        shutil.copytree(_authority(), certs)
    given = ["serve", "--data-dir", str(data), "--certs-dir", str(certs)]
    given += ["--gateway-port", str(port), "--proxy-port", str(proxy_port)]
    given += ["--web", "--web-port", str(web_port)] if web else ["--no-web"]
    given += arguments
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SVC_") and "proxy" not in k.lower()}
    env = clean | {"SVC_API_KEY": OPERATOR_KEY} | (environment or {})
    log.touch()
    process: subprocess.Popen[bytes] | Program
    if command:
        with log.open("ab") as output:
            process = subprocess.Popen([*command, *given], stdout=output, stderr=output, env=env, cwd=folder)
    else:
        process = Program(given, env, folder, stdout=log, stderr=log, prepare=prepare)
    scheme = "https" if "SVC_TLS_CERTIFICATE" in env else "http"
    running = Running(process, port, proxy_port, web_port if web else None, data, certs, log, scheme)
    try:
        wait_until_served(running.url, process, log)
        yield running
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@cache
def _authority() -> Path:
    """An authority that all forked gateways start with: to make one takes each a tenth of a second."""
    folder = Path(mkdtemp(prefix="authority-of-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    make_authority(folder)
    return folder


def wait_until_served(url: str, process: subprocess.Popen[bytes] | Program, log: Path) -> None:
    """Waits until a gateway at `url` says that it is healthy."""
    deadline = time.monotonic() + 120
    with httpx.Client(timeout=2, trust_env=False, verify=PLAIN) as client:
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise RuntimeError(f"the gateway ended at start:\n{log.read_text(errors='replace')}")
            with contextlib.suppress(httpx.TransportError):
                if client.get(f"{url}/healthz").status_code == 200:
                    return
            time.sleep(0.05)
    raise TimeoutError(f"the gateway did not start:\n{log.read_text(errors='replace')}")
