"""Connections past the gateway are reported, each address once, and nothing else is."""

import errno
import os
import socket
import struct
import sys
from ipaddress import ip_address
from pathlib import Path

import pytest

from gateway.programs.connection_report import parse_address
from tests.conftest import ROOT
from tests.e2e.mitmweb import wait_for
from tests.e2e.terminal import Terminal
from tests.gateway.programs.running import python, ran, supervised

TRIES = """
import socket
def tried(act):
    try:
        act()
    except OSError as error:
        assert error.errno != 38
def connected(kind, address):
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family, kind) as sock:
        sock.settimeout(0.1)
        tried(lambda: sock.connect(address))
for _ in range(2):
    connected(socket.SOCK_STREAM, ("192.0.2.9", 443))
connected(socket.SOCK_STREAM, ("2001:db8::1", 443))
connected(socket.SOCK_STREAM, ("127.0.0.1", 9))
connected(socket.SOCK_STREAM, ("192.0.2.7", 80))
connected(socket.SOCK_DGRAM, ("192.0.2.10", 443))
connected(socket.SOCK_DGRAM, ("192.0.2.53", 53))
kept = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
tried(lambda: kept.connect(("192.0.2.11", 443)))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    tried(lambda: sock.sendto(b"x", ("192.0.2.12", 4433)))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    tried(lambda: sock.sendmsg([b"x"], [], 0, ("192.0.2.13", 4433)))
for number, kind in ((14, socket.SOCK_STREAM), (15, socket.SOCK_DGRAM)):
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.settimeout(0)
        tried(lambda: sock.sendmsg([b"x"], [], socket.MSG_FASTOPEN, (f"192.0.2.{number}", 443)))
with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
    sock.settimeout(0)
    tried(lambda: sock.sendto(b"x", socket.MSG_FASTOPEN, ("192.0.2.16", 443)))
for host in ("192.0.2.64", "198.51.100.64"):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        tried(lambda: sock.connect((host, 443)))
        tried(lambda: sock.send(b"x"))
import time
time.sleep(1)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_each_address_is_reported_once() -> None:
    done = ran(*python(TRIES))
    assert done.returncode == 0
    assert [line.partition(") ")[2] for line in done.stderr.splitlines()] == [
        f"{what}, past the gateway"
        for what in (
            "connects to 192.0.2.9:443",
            "connects to [2001:db8::1]:443",
            "looks host names up at 192.0.2.53:53",
            "sends datagrams to 192.0.2.12:4433",
            "sends datagrams to 192.0.2.13:4433",
            "connects to 192.0.2.14:443",
            "sends datagrams to 192.0.2.15:443",
            "connects to 192.0.2.16:443",
            "sends datagrams to 192.0.2.11:443",
            "sends datagrams to 192.0.2.64:443",
            "sends datagrams to 198.51.100.64:443",
        )
    ]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
@pytest.mark.parametrize("count", [0, 2, 17])
def test_on_a_terminal_the_addresses_come_again_in_the_end(tmp_path: Path, count: int) -> None:
    addresses = [f"192.0.2.{number}" for number in range(1, count + 1)]
    code = "import socket, sys\nfor each in sys.argv[1:]:\n  with socket.socket() as sock:\n    sock.settimeout(0.1)"
    code += "\n    sock.connect_ex((each, 443))\nprint('program ended', flush=True)"
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    terminal = Terminal(supervised(*python(code), *addresses), tmp_path, variables)
    listed = ", ".join(f"{each}:443" for each in addresses[:16]) + " and others" * (count > 16)
    last = f"exec: {count} addresses past the gateway: {listed}\n" if addresses else ""
    wait_for(lambda: f"program ended\n{last}" in terminal.shown())
    assert terminal.process.wait(60) == 0
    assert terminal.shown().endswith(f"program ended\n{last}")
    terminal.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_io_uring_whose_connections_cannot_be_seen_is_missing() -> None:
    code = "import ctypes; libc = ctypes.CDLL(None, use_errno=True); libc.syscall(425, 1, bytes(120))"
    done = ran(*python(f"{code}; print(ctypes.get_errno())"))
    assert (done.stdout, done.stderr) == (f"{errno.ENOSYS}\n", "")


def sockaddr(host: str, port: int) -> bytes:
    address = ip_address(host)
    lead = struct.pack("=H", socket.AF_INET6 if address.version == 6 else socket.AF_INET) + port.to_bytes(2)
    return lead + (bytes(4) + address.packed + bytes(4) if address.version == 6 else address.packed + bytes(8))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (sockaddr("192.0.2.1", 443), ("192.0.2.1", 443)),
        (sockaddr("2001:db8::1", 443), ("2001:db8::1", 443)),
        (sockaddr("::ffff:192.0.2.1", 80), ("192.0.2.1", 80)),
        (sockaddr("127.0.0.53", 53), None),
        (sockaddr("::1", 443), None),
        (sockaddr("::ffff:127.0.0.1", 443), None),
        (sockaddr("0.0.0.0", 443), None),
        (sockaddr("192.0.2.1", 0), None),
        (sockaddr("192.0.2.1", 443)[:6], None),
        (sockaddr("2001:db8::1", 443)[:20], None),
        (b"\x01\x00/run/socket", None),
        (b"", None),
    ],
)
def test_addresses_of_other_machines_are_read(given: bytes, found: tuple[str, int] | None) -> None:
    assert parse_address(given) == found
