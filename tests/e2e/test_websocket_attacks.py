"""Nothing leaves a WebSocket unprotected, by any frames of a client or an upstream, and memory stays bounded."""

import json
import socket as sockets
import struct
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from addons.fail_closed import fail_closed
from gateway.detection.data_files import read_toml
from tests.e2e.mitmweb import wait_for
from tests.e2e.raw import open_files, resident_mb
from tests.e2e.server import OPERATOR_KEY, Running, gateway
from tests.e2e.socket_upstream import SocketUpstream, ask, create, events, repeat, text_of

VECTORS = Path(__file__).parents[1] / "vectors" / "websocket" / "attacks.toml"
ATTACKS: dict[str, Any] = read_toml(str(VECTORS.with_suffix(".py")))
CANARY = "canary.law-one@acme.test"
SAID = f"mail {CANARY}"
CREATE = json.dumps(create(SAID))
HEAD = (
    "GET /v1/responses HTTP/1.1\r\nHost: gateway\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
    f"Authorization: Bearer {OPERATOR_KEY}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
    f"{b64encode(b'canary' + bytes(10)).decode()}\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
)


@pytest.fixture(scope="module")
def upstream() -> Iterator[SocketUpstream]:
    with SocketUpstream().running() as running:
        yield running


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, upstream: SocketUpstream) -> Iterator[Running]:
    limits = {"SVC_BODY_LIMIT_BYTES": "2000000", "SVC_LOG_LEVEL": "debug", "SVC_DETECTION": "patterns"}
    with gateway(
        tmp_path_factory.mktemp("attacked"), "--upstream", f"{upstream.url}/v1", environment=limits
    ) as running:
        yield running
        assert "canary" not in running.output()
        assert not running.faults()


def frame(
    opcode: int,
    payload: str = "",
    *,
    fin: bool = True,
    rsv: int = 0,
    masked: bool = True,
    fill: int = 0,
    declares: int | None = None,
    times: int = 1,
    more: list[int] | None = None,
) -> bytes:
    """The bytes of a frame (RFC 6455 section 5.2)."""
    data = bytearray(payload.replace("CREATE", CREATE).encode() + bytearray(more or ())) or bytearray(b" " * fill)
    size = len(data) if declares is None else declares
    head = bytearray([fin << 7 | rsv << 4 | opcode])
    mark = masked << 7
    head += (
        struct.pack("!B", mark | size)
        if size < 126
        else struct.pack("!BH", mark | 126, size)
        if size < 65536
        else struct.pack("!BQ", mark | 127, size)
    )
    # A mask of zeros changes nothing.
    return bytes(head + (b"\0" * 4 if masked else b"") + data) * times


def reply(raw: sockets.socket) -> bytes:
    """All that the gateway says up to a close frame, or until it closes."""
    said = bytearray()
    raw.settimeout(30)
    while said[-4:-2] != b"\x88\x02" and (data := raw.recv(65536)):
        said += data
    return bytes(said)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack(served: Running, upstream: SocketUpstream, name: str) -> None:
    attack = ATTACKS[name]
    upstream.sockets.clear()
    sent = b"".join(frame(**each) for each in attack["frames"])
    with sockets.create_connection(("127.0.0.1", served.port), 30) as raw:
        raw.sendall(HEAD.encode() + (sent if attack.get("early") else b""))
        if not attack.get("early"):
            assert raw.recv(65536).startswith(b"HTTP/1.1 101 ")
            with suppress(OSError):
                # The gateway may close before it has read everything.
                raw.sendall(sent)
        said = reply(raw)
    assert said[-2:] == struct.pack("!H", attack["code"])
    assert attack.get("error", "").encode() in said
    assert CANARY not in upstream.seen
    messages = [message for each in upstream.sockets for message in each.messages]
    assert len(messages) <= attack.get("sent", 0)
    assert all(json.loads(message)["type"] == "response.create" for message in messages)
    wait_for(lambda: all(each.close_code for each in upstream.sockets))


def test_handshakes_that_break_the_rules(served: Running, upstream: SocketUpstream) -> None:
    marked = HEAD.replace("\r\n\r\n", "\r\nOpenAI-Beta: of-this-test\r\n\r\n")
    changes = [
        ("Version: 13", "Version: 8"),
        ("Sec-WebSocket-Key: ", "Sec-WebSocket-Key: canary"),
        ("keep-alive, Upgrade", "keep-alive"),
        ("HTTP/1.1", "HTTP/1.0"),
        ("Upgrade: websocket", "Upgrade: websocket, h2c"),
        ("GET ", "POST "),
        ("\r\n\r\n", "\r\nContent-Length: 2\r\n\r\n{}"),
        ("\r\n\r\n", "\r\nX-SVC-Key: svck_wrong\r\n\r\n"),
    ]
    for old, new in changes:
        with sockets.create_connection(("127.0.0.1", served.port), 30) as raw:
            raw.sendall(marked.replace(old, new).replace("keep-alive", "close").encode() + frame(1, "CREATE"))
            assert reply(raw).split(b" ")[1] in {b"400", b"401", b"426"}, (old, new)
    assert "of-this-test" not in upstream.seen


def raising(hook: str, error: type[BaseException]) -> None:
    """Has an addon of the gateway that starts next raise in a hook of every message."""
    from addons.patches.response_delivery import ResponseDelivery

    async def broken(self: object, flow: Any) -> None:
        if flow.request.method == "POST":
            raise error(CANARY)

    setattr(ResponseDelivery, hook, fail_closed(broken) if error is ValueError else broken)


@pytest.mark.parametrize("hook", ["request", "responseheaders", "response", "error"])
@pytest.mark.parametrize("error", [ValueError, KeyError])
def test_an_addon_that_raises(tmp_path: Path, upstream: SocketUpstream, hook: str, error: type[BaseException]) -> None:
    """In our wrapper, or without it: mitmproxy then continues, and nothing is sent that was not protected."""
    upstream.sockets.clear()
    prepare: Callable[[], object] = partial(raising, hook, error)
    patterns = {"SVC_DETECTION": "patterns"}
    given = ("--upstream", f"{upstream.url}/v1")
    with gateway(tmp_path, *given, environment=patterns, prepare=prepare) as running:
        with connected(running) as client:
            got = ask(client, SAID)
            if error is ValueError and hook in {"request", "responseheaders"}:
                assert (got[-1]["type"], got[-1]["status"]) == ("error", 500)
            else:
                assert got[-1]["type"] in {"response.completed", "error"}
        assert CANARY not in upstream.seen
        assert "canary" not in running.output()


def connected(running: Running) -> Any:
    key = {"Authorization": f"Bearer {OPERATOR_KEY}"}
    url = f"ws://127.0.0.1:{running.port}/v1/responses"
    return connect(url, additional_headers=key, proxy=None, open_timeout=60, max_size=None)


def broken_protection() -> None:
    """Has the addon that protects fail open: it leaves the flow as it is."""
    from addons.protect import Protect

    async def request(self: Protect, flow: Any) -> None:
        if flow.request.method != "POST":
            await sound(self, flow)

    sound = Protect.request
    Protect.request = request  # type: ignore[method-assign]


def test_protection_that_does_nothing(tmp_path: Path, upstream: SocketUpstream) -> None:
    upstream.sockets.clear()
    patterns = {"SVC_DETECTION": "patterns"}
    given = ("--upstream", f"{upstream.url}/v1")
    with gateway(tmp_path, *given, environment=patterns, prepare=broken_protection) as running:
        with connected(running) as client:
            client.send(CREATE)
            with pytest.raises(TimeoutError):
                client.recv(2)
        (socket,) = upstream.sockets
        assert not socket.messages


def test_a_flood_from_the_upstream_waits_for_the_client(served: Running, upstream: SocketUpstream) -> None:
    """The client reads nothing: the gateway stops reading, too."""
    piece = "x" * 100_000
    count = [0]

    def flood(*_: object) -> Iterator[str]:
        made = events("")
        yield from made[:3]
        for _number in range(2000):
            count[0] += 1
            yield json.dumps({"type": "response.odd", "n": piece})

    upstream.answer = flood
    before = resident_mb(served.process.pid)
    with sockets.create_connection(("127.0.0.1", served.port), 30) as raw:
        raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        raw.sendall(HEAD.encode() + frame(1, "CREATE"))
        last = -1
        while last != count[0] or not count[0]:
            last = count[0]
            time.sleep(1.5)
        assert count[0] < 1000
        assert resident_mb(served.process.pid) - before < 100
    upstream.answer = repeat


@pytest.mark.slow
def test_a_thousand_idle_sockets(tmp_path: Path, upstream: SocketUpstream) -> None:
    """They take little memory, and the gateway serves on; when they end, nothing of them is left."""
    limits = {"SVC_DETECTION": "patterns", "SVC_MAX_CONNECTIONS": "2048", "SVC_MAX_CONNECTIONS_PER_ADDRESS": "2048"}
    with gateway(tmp_path, "--upstream", f"{upstream.url}/v1", environment=limits) as running:
        pid = running.process.pid
        with connected(running) as client:
            ask(client, SAID)
        before, files = resident_mb(pid), open_files(pid)
        with ExitStack() as stack:
            for _ in range(1000):
                raw = stack.enter_context(closing(sockets.create_connection(("127.0.0.1", running.port), 30)))
                raw.sendall(HEAD.encode())
                assert raw.recv(65536).startswith(b"HTTP/1.1 101 ")
            used = resident_mb(pid) - before
            with connected(running) as client:
                assert text_of(ask(client, SAID)) == SAID
        assert used < 150
        wait_for(lambda: open_files(pid) <= files + 10, 60)
