"""Tries to get out of `exec --contain`, and prints what became of each try as JSON."""

import contextlib
import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

given: dict[str, Any] = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)


def connecting(family: int, kind: int, address: Any) -> None:
    with socket.socket(family, kind) as sock:
        sock.settimeout(5)
        sock.connect(address)


def sending(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", (host, port))


def call(number: int, *words: Any) -> None:
    if libc.syscall(number, *words) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def attach(process: int) -> None:
    if libc.ptrace(16, process, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def listing(path: str) -> None:
    if not list(Path(path).iterdir()):
        raise OSError(0, "empty")


def in_namespaces(*words: str) -> None:
    done = subprocess.run(["unshare", "--user", "--keep-caps", *words], capture_output=True, check=False)
    if done.returncode:
        raise OSError(0, "failed")


def writing(path: str) -> None:
    with Path(path).expanduser().open("a") as file:
        file.write("x")


def asked(port: int, text: str, then: bytes = b"") -> None:
    """Raises an error unless the answer is 200 and, if bytes are sent then, more comes."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        sock.sendall(text.replace("\n", "\r\n").encode())
        said = sock.recv(65536)
        while b" 200 " not in said.split(b"\r\n")[0] and (more := sock.recv(65536)):
            said += more
        if b" 200 " not in said.split(b"\r\n")[0]:
            code = b"contained_program" if b"contained_program" in said else b"private" if b"private" in said else said
            raise OSError(0, code.decode("utf-8", "replace"))
        if then:
            sock.sendall(then)
            if sock.recv(10) in (b"", b"\x15\x03\x03\x00\x02\x02\x31"):
                raise OSError(0, "closed")


def connect(host: str) -> str:
    return f"CONNECT {host} HTTP/1.1\nHost: {host}\n\n"


def hello(name: str) -> bytes:
    import ssl

    ours, theirs = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(theirs, ours, server_hostname=name).do_handshake()
    return ours.read()


host, port = given["stranger"]
proxy, gateway, key = given["proxy"], given["gateway"], given["key"]
data, target = given["data"], f"{host}:{port}"
TRIES: dict[str, Callable[[], object]] = {
    "tcp": lambda: connecting(socket.AF_INET, socket.SOCK_STREAM, (host, port)),
    "tcp6": lambda: connecting(socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::1", 443)),
    "mapped": lambda: connecting(socket.AF_INET6, socket.SOCK_STREAM, (f"::ffff:{host}", port)),
    "udp": lambda: sending(host, port),
    "multicast": lambda: sending("224.0.0.251", 5353),
    "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
    "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "vsock": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM),
    "io_uring": lambda: call(425, 1, ctypes.create_string_buffer(120)),
    **{
        f"unix {number}": lambda path=path: connecting(socket.AF_UNIX, socket.SOCK_STREAM, path)
        for number, path in enumerate(given["sockets"])
    },
    **{
        f"port {each}": lambda each=each: connecting(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", each))
        for each in given["ports"]
    },
    "data": lambda: listing(data),
    "own namespaces": lambda: in_namespaces("--mount", "sh", "-c", f"umount '{data}' && ls '{data}/gateway.db'"),
    "own network": lambda: in_namespaces(
        "--net", sys.executable, "-c", f"import socket; socket.create_connection({(host, port)})"
    ),
    "private key": lambda: Path(given["private_key"]).read_bytes(),
    "inherited": lambda: os.fstat(given["descriptor"]),
    "outer process": lambda: Path(f"/proc/{given['process']}/root").readlink(),
    "first process": lambda: Path("/proc/1/root").readlink(),
    "ptrace": lambda: attach(1),
    "signal": lambda: os.kill(given["process"], 0),
    "sysctl": lambda: writing("/proc/sys/kernel/core_pattern"),
    "connect": lambda: asked(proxy, connect(target)),
    "connect to a name": lambda: asked(proxy, connect("example.com:443")),
    "connect to loopback": lambda: asked(proxy, connect(f"127.0.0.1:{given['ports'][0]}")),
    "plain": lambda: asked(proxy, f"GET http://{target}/ HTTP/1.1\nHost: {target}\n\n"),
    "plain by host": lambda: asked(proxy, f"GET http://localhost:{given['listed']}/ HTTP/1.1\nHost: {target}\n\n"),
    "bytes to a decrypted host": lambda: asked(proxy, connect(given["decrypted"]), b"\x00\x01\x02\x03" * 8),
    "another name in a listed tunnel": lambda: asked(
        proxy, connect(f"localhost:{given['listed']}"), hello("evil.test")
    ),
    "keys": lambda: asked(gateway, f"GET /v1/keys HTTP/1.1\nHost: g\nAuthorization: Bearer {key}\n\n"),
    "metrics": lambda: asked(gateway, f"GET /metrics HTTP/1.1\nHost: g\nAuthorization: Bearer {key}\n\n"),
    "restoring": lambda: asked(
        gateway, f"POST /v1/reconstruct HTTP/1.1\nHost: g\nContent-Length: 2\nAuthorization: Bearer {key}\n\n{{}}"
    ),
    # These are meant to succeed.
    "model": lambda: asked(gateway, f"POST /v1/chat/completions HTTP/1.1\nHost: g\n{given['call']}"),
    "listed": lambda: asked(proxy, connect(f"localhost:{given['listed']}"), b"\x00\x01\x02\x03"),
    "working folder": lambda: writing("written"),
    "home": lambda: writing("~/written"),
    "bundle": lambda: Path(os.environ["SSL_CERT_FILE"]).read_bytes(),
    "terminal": os.openpty,
}


def tried(act: Callable[[], object]) -> str:
    try:
        act()
    except OSError as error:
        return f"{error.errno} {error.strerror}"
    return "done"


print(json.dumps({name: tried(act) for name, act in TRIES.items()}))
