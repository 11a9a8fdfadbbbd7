"""TLS on each listener with the certificate of the settings, and only there."""

import json
import re
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import trustme

from tests.certificates import write_certificate
from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import token_of, wait_for
from tests.e2e.raw import answer_to, connection, status_of, until_closed
from tests.e2e.server import COMMAND, OPERATOR_KEY, Running
from tests.e2e.upstream import Upstream

LISTENERS = ["port", "proxy_port", "web_port"]
PRIVATE = "anna.schmidt@acme.test"
CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": f"Write to {PRIVATE}"}]}


@pytest.fixture(scope="module")
def files(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_certificate(tmp_path_factory.mktemp("tls"), authority=authority)


@pytest.fixture(scope="module")
def server(gateways: Gateways, files: tuple[Path, Path]) -> Iterator[Running]:
    certificate, key = files
    running = gateways(
        *gateways.with_upstream,
        web=True,
        tls_certificate=str(certificate),
        tls_key=str(key),
        upstream_key="upstream-key-of-the-tests",
        detection="patterns",
        head_timeout_seconds="2",
        idle_timeout_seconds="3",
    )
    yield running
    assert "reports a problem" not in running.output()


@pytest.fixture
def trust(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def proxied(server: Running, trust: ssl.SSLContext, verify: ssl.SSLContext, host: str = "127.0.0.1") -> httpx.Client:
    """A client of the proxy by TLS, which trusts `verify` within its tunnels."""
    proxy = httpx.Proxy(f"https://{host}:{server.proxy_port}", ssl_context=trust)
    return httpx.Client(proxy=proxy, verify=verify, trust_env=False, timeout=30)


def test_a_client_of_the_gateway_is_protected(server: Running, trust: ssl.SSLContext, upstream: Upstream) -> None:
    headers = {"Authorization": f"Bearer {OPERATOR_KEY}"}
    with httpx.Client(base_url=server.url, headers=headers, verify=trust, trust_env=False, timeout=30) as client:
        answer = client.post("/v1/chat/completions", json=CHAT)
        assert PRIVATE in answer.json()["choices"][0]["message"]["content"]
        assert PRIVATE.encode() not in upstream.seen
        receipt = client.get(f"/v1/receipts/{answer.headers['x-svc-request-id']}")
        assert receipt.status_code == 200


def test_a_refusal_is_read_by_a_client_that_is_still_sending(server: Running, trust: ssl.SSLContext) -> None:
    with httpx.Client(base_url=server.url, verify=trust, trust_env=False, timeout=30) as client:
        answer = client.post("/v1/chat/completions", content=b" " * 2_000_000)
        assert answer.status_code == 401
        assert client.get("/healthz").status_code == 200


def test_a_client_of_the_proxy_is_protected_inside_its_tunnel(
    server: Running, trust: ssl.SSLContext, tls_upstream: Upstream
) -> None:
    with proxied(server, trust, server.trust) as client:
        answer = client.post(
            f"{tls_upstream.url}/v1/chat/completions", json=CHAT, headers={"Authorization": "Bearer k"}
        )
    assert PRIVATE in answer.json()["choices"][0]["message"]["content"]
    assert PRIVATE.encode() not in tls_upstream.seen


def test_other_hosts_pass_through_the_proxy_untouched(
    server: Running, trust: ssl.SSLContext, upstream: Upstream, tls_upstream: Upstream
) -> None:
    """The name in the outer handshake, `localhost`, is that of an intercepted host and must not count."""
    other = tls_upstream.url.replace("localhost", "127.0.0.1")
    with proxied(server, trust, trust, host="localhost") as client:
        for url, reached in ((other, tls_upstream), (upstream.url, upstream)):
            client.post(f"{url}/v1/chat/completions", json=CHAT)
            assert PRIVATE.encode() in reached.seen


def test_mitmweb_sets_its_cookies_for_tls_alone(server: Running, trust: ssl.SSLContext) -> None:
    address = (server.data / "mitmweb.url").read_text()
    assert address.startswith(f"{server.web}/?token=")
    with httpx.Client(base_url=server.web, verify=trust, trust_env=False) as client:
        assert client.get("/").status_code == 403
        page = client.get("/", params={"token": token_of(server)})
        assert page.status_code == 200
        assert client.get("/flows").status_code == 200
    assert [bool(re.search("; Secure", cookie)) for cookie in page.headers.get_list("set-cookie")] == [True]


@pytest.mark.parametrize("listener", LISTENERS)
def test_plain_http_is_refused_before_the_request_is_read(server: Running, listener: str) -> None:
    head = b"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000000\r\n\r\n"
    answer = answer_to(getattr(server, listener), head)
    assert status_of(answer) == 400
    error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
    assert error["code"] == "tls_required"
    assert "https://" in error["message"]
    if listener != "web_port":
        wait_for(lambda: 'status=400 code="tls_required"' in server.output())


@pytest.mark.parametrize("listener", LISTENERS)
def test_only_http_1_over_tls_1_2_or_newer_is_agreed_on(
    server: Running, authority: trustme.CA, trust: ssl.SSLContext, listener: str
) -> None:
    trust.set_alpn_protocols(["h2", "http/1.1"])
    with connection(getattr(server, listener)) as sock, trust.wrap_socket(sock, server_hostname="localhost") as secured:
        assert secured.version() == "TLSv1.3"
        assert secured.selected_alpn_protocol() == "http/1.1"
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority.configure_trust(old)
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning):
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with connection(getattr(server, listener)) as sock, pytest.raises((ssl.SSLError, ConnectionError)):
        old.wrap_socket(sock, server_hostname="localhost")


@pytest.mark.parametrize(
    ("listener", "words"),
    [
        ("port", "gateway: Client TLS handshake failed. The client does not trust the proxy's certificate: "),
        ("proxy_port", "proxy: Client TLS handshake failed. The client does not trust the proxy's certificate: "),
        (
            "web_port",
            "mitmweb: closed connections whose TLS failed, because the client does not trust the certificate: ",
        ),
    ],
)
def test_clients_without_trust_are_one_line_a_minute(server: Running, listener: str, words: str) -> None:
    for _ in range(4):
        with connection(getattr(server, listener)) as sock, pytest.raises(ssl.SSLCertVerificationError):
            ssl.create_default_context().wrap_socket(sock, server_hostname="localhost")
    wait_for(lambda: words in server.output())
    assert server.output().count(words) == 1


def client_hello() -> bytes:
    received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(received, sent, server_hostname="localhost").do_handshake()
    return sent.read()


@pytest.mark.parametrize("listener", LISTENERS)
@pytest.mark.parametrize("part", ["one byte", "half of a ClientHello", "a ClientHello", "nothing"])
def test_an_unfinished_handshake_is_closed_in_time(server: Running, listener: str, part: str) -> None:
    hello = client_hello()
    begun = {"one byte": hello[:1], "half of a ClientHello": hello[: len(hello) // 2], "a ClientHello": hello}
    with connection(getattr(server, listener)) as sock:
        started = time.monotonic()
        sock.sendall(begun.get(part, b""))
        until_closed(sock)
        assert time.monotonic() - started < 8


@pytest.mark.parametrize("listener", ["port", "proxy_port"])
def test_a_client_hello_without_end_is_cut_off(server: Running, listener: str) -> None:
    """Its length would let a client have megabytes kept for it."""
    record = b"\x16\x03\x01\x40\x00"
    with connection(getattr(server, listener)) as sock:
        started = time.monotonic()
        sock.sendall(record + b"\x01\xff\xff\xff" + b"a" * (0x4000 - 4))
        with pytest.raises(ConnectionError):
            for _ in range(2000):
                sock.sendall(record + b"a" * 0x4000)
        assert time.monotonic() - started < 8


def test_a_program_finds_and_trusts_the_listeners(
    server: Running, files: tuple[Path, Path], tls_upstream: Upstream
) -> None:
    """`exec` asks both listeners, and the program's own client trusts the certificate and what the proxy signs."""
    program = (
        "import httpx, os\n"
        "print(httpx.get(os.environ['OPENAI_BASE_URL'].removesuffix('/v1') + '/healthz').status_code)\n"
        "os.environ['NO_PROXY'] = os.environ['no_proxy'] = ''\n"
        f"print(httpx.post('{tls_upstream.url}/v1/chat/completions', json={CHAT}).status_code)\n"
    )
    folder = Path(server.data).parent
    certificate, key = files
    environment = {"PATH": "/usr/bin:/bin", "SVC_TLS_CERTIFICATE": str(certificate), "SVC_TLS_KEY": str(key)}
    places = ("--data-dir", str(server.data), "--certs-dir", str(server.certs))
    ports = ("--gateway-port", str(server.port), "--proxy-port", str(server.proxy_port), "--through", "both")
    done = subprocess.run(
        [*COMMAND, "exec", *places, *ports, "--", sys.executable, "-c", program],
        env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, ["200", "200"]), done.stderr
