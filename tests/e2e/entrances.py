"""The two ways of a client through the gateway: its base URL, and the proxy."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.mitmweb import wait_for
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Message, Upstream

MAIL = "anna.schmidt@acme.test"
CARD = "4111 1111 1111 1111"


@dataclass(frozen=True)
class Entrance:
    """One of the listeners, with its upstream."""

    name: str
    running: Running
    upstream: Upstream

    @property
    def url(self) -> str:
        """The base URL of a client, without a path."""
        return self.running.url if self.name == "gateway" else self.upstream.url

    @property
    def key(self) -> str:
        return OPERATOR_KEY if self.name == "gateway" else "key-of-the-provider"

    def client(self) -> httpx.Client:
        return self.running.client() if self.name == "gateway" else self.running.proxied(self.upstream.url)

    def connection(self, library: Any = httpx) -> Any:
        """A client of a library for HTTP that an SDK uses, `httpx` or `httpx2`."""
        if self.name == "gateway":
            return library.Client(trust_env=False)
        return library.Client(trust_env=False, proxy=self.running.proxy, verify=self.running.trust)

    @property
    def crossed(self) -> bytes:
        assert self.upstream.recorded
        return self.upstream.seen

    @property
    def hides(self) -> bool:
        """Whether the upstream saw something, and neither the address nor the card."""
        return MAIL.encode() not in self.crossed and CARD.encode() not in self.crossed

    def outcome(self, answer: httpx.Response) -> Message:
        """The outcome that was recorded of an answer."""
        path = f"/v1/receipts/{answer.headers['x-svc-request-id']}"
        with self.running.client() as client:
            found = wait_for(lambda: client.get(path).json().get("outcome"))
            assert client.get(f"{path}/verify").json()["valid"]
        return dict(found)

    def faults(self, answer: httpx.Response) -> list[str]:
        """How the log names what the upstream did wrong."""
        request_id = answer.headers["x-svc-request-id"]
        lines = [line for line in self.running.output().splitlines() if request_id in line and "WARNING" in line]
        return [line.rpartition("(")[2].partition(")")[0] for line in lines]


def har(dump: bytes, folder: Path) -> bytes:
    """The HAR that mitmdump makes of flows that mitmweb stored."""
    (folder / "flows").write_bytes(dump)
    mitmdump = Path(sys.executable).with_name("mitmdump")
    subprocess.run([mitmdump, "-qnr", folder / "flows", "--set", f"hardump={folder / 'har'}"], check=True)
    return (folder / "har").read_bytes()
