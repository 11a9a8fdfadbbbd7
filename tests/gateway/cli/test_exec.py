"""`exec`: a program runs with the variables of the gateway, and with nothing else changed."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gateway.cli.exec import environment
from tests.conftest import ROOT
from tests.gateway.cli.support import Command, free_port


@pytest.fixture(scope="module")
def listener() -> Iterator[int]:
    """Answers like both listeners of a gateway."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            body = b'{"status": "ok", "version": "1"}'
            self.send_response(200)
            self.send_header("x-svc-request-id", "req_1")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def executed(installed: Command, port: int, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    program = [
        sys.executable,
        str(ROOT / "run_proxy.py"),
        "exec",
        *installed.folders,
        "--proxy-port",
        str(port),
        *words,
    ]
    environment = os.environ | variables
    return subprocess.run(program, capture_output=True, text=True, env=environment, check=False, start_new_session=True)


@pytest.mark.slow
def test_a_program_runs_with_its_variables_arguments_and_status(installed: Command, listener: int) -> None:
    code = "import os, sys; print(os.environ['HTTPS_PROXY'], *sys.argv[1:]); sys.exit(7)"
    done = executed(installed, listener, "--", sys.executable, "-c", code, "--json", "a b")
    assert (done.stdout.strip(), done.returncode) == (f"http://127.0.0.1:{listener} --json a b", 7)


@pytest.mark.slow
def test_a_program_gets_the_key_in_the_url_of_the_proxy(installed: Command, listener: int) -> None:
    code = "import os; print(os.environ['HTTPS_PROXY'], 'OPENAI_API_KEY' in os.environ)"
    words = ("--key-env", "MINE", "--", sys.executable, "-c", code)
    done = executed(installed, listener, *words, SVC_PROXY_KEY="true", MINE="svck_mine")
    assert done.stdout.strip() == f"http://key:svck_mine@127.0.0.1:{listener} False", done.stderr


@pytest.mark.slow
def test_a_signal_ends_the_program_as_it_would_without_the_gateway(installed: Command, listener: int) -> None:
    assert executed(installed, listener, "--", "sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM


def test_a_program_gets_the_gateways_key_and_none_of_its_secrets() -> None:
    inherited = {"SVC_API_KEY": "s", "SVC_UPSTREAM_KEY": "s", "MINE": "k", "ANTHROPIC_AUTH_TOKEN": "other", "PATH": "p"}
    found = environment(inherited, {"OPENAI_BASE_URL": "u"}, "MINE")
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "k")
    assert found == {"MINE": "k", "PATH": "p", "OPENAI_BASE_URL": "u", **keys}


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--proxy-port", "FREE", "true"), 1, "does not listen"),
        (("--proxy-port", "LISTENER", "no-such-program"), 127, "no such program"),
        (("--key-env", "PATH", "true"), 2, "the proxy needs the provider's key, not the gateway's"),
        (("--key-env", "NOT_SET", "--through", "gateway", "true"), 2, "the variable NOT_SET is not set"),
    ],
)
def test_failures_are_named(
    installed: Command, listener: int, words: tuple[str, ...], status: int, message: str
) -> None:
    ports = {"FREE": str(free_port()), "LISTENER": str(listener)}
    assert installed("exec", *(ports.get(word, word) for word in words)) == (status, "")
    assert message in installed.errors
