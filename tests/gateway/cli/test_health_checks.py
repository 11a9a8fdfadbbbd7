"""Checks of an installation: each problem is found and comes with a remedy."""

import asyncio
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.cli.health_checks import (
    check_certificate,
    check_corrections,
    check_ports,
    check_recognizers,
    check_store,
)
from gateway.cli.listeners import Answer, proxy_answers
from gateway.config.installation_key import FILE as INSTALLATION_KEY
from gateway.config.installation_key import installation_key
from gateway.config.loading import load_settings
from gateway.config.server_certificate import read_certificate
from gateway.corrections.stored import StoredCorrections
from gateway.detection import Detector, builtin_detector
from gateway.detection.recognizer import Example, PatternRecognizer
from gateway.store import open_store
from tests.certificates import write_certificate
from tests.e2e.outbound_proxy import ConnectProxy
from tests.e2e.raw import each_connection
from tests.gateway.cli.support import Command, free_port


def set_ahead(data: Path) -> None:
    """Sessions end by the time that the database remembers, however long ago the clock was set right."""
    with closing(open_store(data)) as store:
        store.submit(lambda stored: stored.sessions.note_time(time.time() + 86400)).result()


HARMS: dict[str, Callable[[Path], object]] = {
    "no key": lambda data: (data / "signing.key").unlink(),
    "an empty key": lambda data: (data / "signing.key").write_bytes(b""),
    "a key that others can read": lambda data: (data / "signing.key").chmod(0o644),
    "another key": lambda data: (data / "signing.key").write_bytes(bytes(range(32))),
    "a damaged checkpoint": lambda data: (data / "receipts.checkpoint").write_bytes(b"x"),
    "no database": lambda data: [file.unlink() for file in data.glob("gateway.db*")],
    "a clock that was ahead": set_ahead,
}


@pytest.fixture
def no_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks of the recognizers take a second each time, and do not depend on the installation."""
    monkeypatch.setattr(Detector, "check", lambda _: None)


def checks(command: Command, *words: object) -> dict[str, dict[str, str]]:
    """Returns the checks by name, on ports that are free unless `words` give others."""
    ports = ("--gateway-port", free_port(), "--proxy-port", free_port())
    status, report = command.json("doctor", *ports, *words)
    assert report["ok"] is (status == 0) is all(check["ok"] for check in report["checks"])
    assert all(check["ok"] or check["remedy"] for check in report["checks"])
    return {check["name"]: check for check in report["checks"]}


@pytest.mark.slow
def test_an_installation_in_order(installed: Command) -> None:
    found = checks(installed)
    assert [check for check in found.values() if not check["ok"]] == []
    assert "valid until" in found["certificate authority"]["detail"]


@pytest.mark.usefixtures("no_examples")
def test_each_problem_is_found(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    command.data_dir.chmod(0o755)
    monkeypatch.setenv("SVC_UPSTREAMS__ONE__BASE_URL", f"http://127.0.0.1:{free_port()}/v1")
    wrong = {name for name, check in checks(command).items() if not check["ok"]}
    assert wrong == {"certificate authority", "store", "upstream one"}


def test_a_recognizer_that_misses_its_own_example(monkeypatch: pytest.MonkeyPatch) -> None:
    recognizer = next(one for one in builtin_detector().recognizers if isinstance(one, PatternRecognizer))
    broken = replace(recognizer, examples=(Example("nothing", "nothing"),))
    monkeypatch.setattr("gateway.detection.builtin_detector", lambda: Detector([broken], check=False))
    found = check_recognizers()
    assert not found.ok
    assert "example 0" in found.detail


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands for fontconfig")
@pytest.mark.usefixtures("no_examples")
@pytest.mark.parametrize(("fonts", "told"), [("Some Emoji Font", "a font of this machine"), ("", "install one")])
def test_fonts_are_looked_for(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fonts: str, told: str
) -> None:
    program = tmp_path / "fc-list"
    program.write_text(f'#!/bin/sh\n[ "$1" = :charset=1f512 ] && echo "{fonts}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert told in checks(command)["fonts"]["detail"]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert "fonts" not in checks(command)


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
@pytest.mark.usefixtures("no_examples")
@pytest.mark.parametrize("harm", HARMS)
def test_a_data_folder_that_a_start_would_refuse(harm: str, command: Command, ids: list[str]) -> None:
    check = "clock" if harm == "a clock that was ahead" else "store"
    assert checks(command)[check]["ok"]
    HARMS[harm](command.data_dir)
    found = checks(command)[check]
    assert not found["ok"]
    assert check == "store" or "behind the latest record" in found["detail"]


@pytest.mark.usefixtures("no_examples")
def test_a_port_that_another_program_has(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        threading.Thread(target=hang_up, args=(other,), daemon=True).start()
        port = str(other.getsockname()[1])
        found = checks(command, "--proxy-port", port)
    assert found[f"port {port} (proxy)"]["detail"] == "another program listens"
    # The remedies name these options.
    ports = [part for name in ("gateway", "proxy", "web", "operations") for part in (f"--{name}-port", "0")]
    assert {"port (gateway)", "port (proxy)", "port (web)", "port (operations)"} <= checks(command, *ports).keys()


@pytest.mark.usefixtures("no_examples")
def test_a_full_disk_is_found_by_writing(command: Command, ids: list[str]) -> None:
    resource = pytest.importorskip("resource")
    assert checks(command)["store"]["ok"]
    # Reading the database makes its own two files.
    left = {file.name for file in command.data_dir.iterdir() if not file.name.startswith("gateway.db")}
    assert left == {"receipts.checkpoint", "signing.key"}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file may be longer, as if the disk had no more room.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        full = check_store(load_settings(None, data_dir=command.data_dir))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not full.ok
    assert full.detail == f"{command.data_dir} cannot be written to: File too large"


def hang_up(server: socket.socket) -> None:
    server.accept()[0].close()


def test_upstreams_are_reached_through_the_outbound_proxy_which_is_checked_too(
    command: Command, monkeypatch: pytest.MonkeyPatch, no_examples: None
) -> None:
    monkeypatch.setenv("SVC_UPSTREAM", "http://acme.test/v1")
    with ConnectProxy(answer=b"HTTP/1.1 407 canary\r\n\r\n").running() as proxy:
        monkeypatch.setenv("SVC_UPSTREAM_PROXY", f"http://localhost:{proxy.port}")
        found = checks(command)
    assert found["outbound proxy"]["ok"]
    assert "requires other credentials" in found["upstream configured-upstream"]["detail"]
    monkeypatch.setenv("SVC_UPSTREAM_PROXY_CREDENTIALS", "user:pw")
    monkeypatch.delenv("SVC_UPSTREAM_PROXY")
    assert checks(command)["settings"]["detail"].startswith("upstream_proxy_credentials: set `upstream_proxy`")


@pytest.mark.parametrize(
    ("ends", "harm", "detail"),
    [
        (30, lambda _: None, "valid until"),
        (-1, lambda _: None, "expired on"),
        (30, lambda key: key.chmod(0o644), "other users can open"),
    ],
)
def test_the_certificate_of_the_listeners_is_checked(
    ends: int, harm: Callable[[Path], object], detail: str, tmp_path: Path
) -> None:
    certificate, key = write_certificate(tmp_path, ends=timedelta(days=ends))
    harm(key)
    found = check_certificate(certificate, key)
    assert found.ok is (detail == "valid until")
    assert detail in found.detail


@pytest.mark.parametrize("case", ["ours", "another certificate", "expired", "plain"])
def test_the_command_line_accepts_the_certificate_in_the_settings(case: str, tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path, ends=timedelta(days=-1 if case == "expired" else 1))
    context = read_certificate(certificate, key).context

    def answer(sock: socket.socket) -> None:
        if case != "plain":
            sock = context.wrap_socket(sock, server_side=True)
        sock.recv(65536)
        sock.sendall(b"HTTP/1.1 403 Forbidden\r\nX-SVC-Request-Id: req_1\r\nContent-Length: 0\r\n\r\n")
        sock.close()

    if case == "another certificate":
        certificate, key = write_certificate(tmp_path / "other")
    with each_connection(answer) as port:
        settings = load_settings(None, proxy_port=port, tls_certificate=certificate, tls_key=key)
        expected = {"ours": Answer.OURS, "plain": Answer.OTHERS}.get(case, Answer.UNTRUSTED)
        assert proxy_answers(settings) is expected
    if expected is Answer.UNTRUSTED:
        with each_connection(answer) as port:
            given = settings.model_copy(update={"proxy_port": port, "gateway_port": 0, "web": False})
            _, check = check_ports(given)
            assert "certificate" in check.detail


@pytest.mark.parametrize("harm", ["", "another key", "a damaged key", "no key"])
def test_lists_that_do_not_verify(harm: str, data_dir: Path) -> None:
    settings = load_settings(None, data_dir=data_dir)
    assert [*check_corrections(settings)] == []
    with closing(open_store(data_dir)) as store:
        assert [check.ok for check in check_corrections(settings)] == [True]
        lists = StoredCorrections(store, installation_key(settings))
        asyncio.run(lists.add("", "deny", ["canary"], "PROJECT"))
    if harm == "no key":
        (data_dir / INSTALLATION_KEY).unlink()
    elif harm:
        (data_dir / INSTALLATION_KEY).write_bytes(b"k" * (32 if harm == "another key" else 5))
    (found,) = check_corrections(settings)
    assert found.ok is not bool(harm)
    assert ("1 entries" in found.detail) is not bool(harm)
    assert "canary" not in found.detail
