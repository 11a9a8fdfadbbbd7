"""A client on another machine: a network namespace, linked to this machine by a pair of virtual interfaces (Linux).

Making one takes root and the command `ip` (iproute2).
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

_PATIENCE = 20


class OtherMachine(NamedTuple):
    """`here` is the address of this machine on the link between the two."""

    name: str
    here: str

    def connect(self, port: int) -> socket.socket:
        """Connects from the other machine to a port of this one."""
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(self._connect, port).result()

    def _connect(self, port: int) -> socket.socket:
        # This concerns the thread alone; the socket stays in its namespace.
        with Path(f"/run/netns/{self.name}").open("rb") as namespace:
            os.setns(namespace.fileno(), os.CLONE_NEWNET)
        return socket.create_connection((self.here, port), timeout=_PATIENCE)


def why_not() -> str | None:
    """Says why there can be no other machine; None if there can be."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces need root on Linux"
    return None if shutil.which("ip") else "the command `ip` (iproute2) is missing"


@contextlib.contextmanager
def other_machine() -> Iterator[OtherMachine]:
    """Makes another machine. Raises CalledProcessError where the system does not allow it."""
    number = os.getpid() % 16_000
    name, near, far = f"svc-test-{number}", f"svct{number}a", f"svct{number}b"
    network = f"10.{213 + number // 4000}.{number // 16 % 250}.{number % 16 * 4}"
    start, _, last = network.rpartition(".")
    here, there = f"{start}.{int(last) + 1}", f"{start}.{int(last) + 2}"
    _ip("netns", "add", name)
    try:
        _ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
        _ip("addr", "add", f"{here}/30", "dev", near)
        _ip("link", "set", near, "up")
        _ip("-n", name, "addr", "add", f"{there}/30", "dev", far)
        _ip("-n", name, "link", "set", far, "up")
        yield OtherMachine(name, here)
    finally:
        # The interfaces end with the namespace.
        _ip("netns", "del", name)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=_PATIENCE)
