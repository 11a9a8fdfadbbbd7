"""`env`, `exec` and `doctor`: the variables that lead a client to the gateway, and what an installation lacks."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import run_proxy
from addons.certificate_authority import make_authority
from gateway.cli.exec import environment
from gateway.detection import Detector, builtin_detector
from gateway.detection.recognizer import Example, PatternRecognizer

ROOT = Path(run_proxy.__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installation of 'ours'")
    make_authority(folder / "certs")
    (folder / "data").mkdir(mode=0o700)
    return folder


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


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def command(name: str, folder: Path, *arguments: str) -> list[str]:
    return [name, "--data-dir", str(folder / "data"), "--certs-dir", str(folder / "certs"), *arguments]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run_proxy.main(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("through", ["proxy", "gateway", "both"])
def test_a_shell_gets_what_is_printed(folder: Path, capsys: pytest.CaptureFixture[str], through: str) -> None:
    said = printed(capsys, *command("env", folder, "shell", "--through", through))
    given = json.loads(printed(capsys, *command("env", folder, "--json", "--through", through)))
    script = said + f"\n{shlex.quote(sys.executable)} -c 'import json, os; print(json.dumps(dict(os.environ)))'"
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, env={"PATH": os.environ["PATH"]}, check=True)
    assert given.items() <= json.loads(done.stdout).items()
    assert ("HTTPS_PROXY" in given) is (through != "gateway")
    assert ("ANTHROPIC_BASE_URL" in given) is (through != "proxy")
    if through == "proxy":
        assert Path(given["SSL_CERT_FILE"]).read_bytes().count(b"BEGIN CERTIFICATE") > 10


@pytest.mark.parametrize("form", ["docker", "node", "powershell"])
def test_each_form_names_the_proxy(folder: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    said = printed(capsys, *command("env", folder, form))
    assert "HTTPS_PROXY" in said
    assert ":8080" in said


def test_python_sets_its_own_environment(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = printed(capsys, *command("env", folder, "python"))
    done = subprocess.run(
        [sys.executable, "-c", f"{said}\nprint(os.environ['HTTPS_PROXY'])"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "http://127.0.0.1:8080"


def test_curl_has_no_base_url(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 'proxy = "http://127.0.0.1:8080"' in printed(capsys, *command("env", folder, "curl"))
    assert run_proxy.main(command("env", folder, "curl", "--through", "gateway")) == 2
    assert "curl reads no base URL" in capsys.readouterr().err


def test_without_an_authority_the_command_to_make_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_proxy.main(command("env", tmp_path)) == 2
    assert "run_proxy.py ca" in capsys.readouterr().err


def test_any_free_port_has_to_be_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_proxy.main(command("env", folder, "--proxy-port", "0")) == 2
    assert "--proxy-port PORT" in capsys.readouterr().err


FORMS = ["shell", "docker", "node", "python", "curl", "powershell"]


@pytest.mark.parametrize("form", [*FORMS, "--json"])
def test_a_proxy_that_asks_for_a_key_gets_it_in_its_url(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setenv("SVC_PROXY_KEY", "true")
    monkeypatch.setenv("MINE", "a/b@c")
    assert "http://key:a%2Fb%40c@127.0.0.1:8080" in printed(capsys, *command("env", folder, form, "--key-env", "MINE"))
    for words in ((), ("--key-env", "NOT_SET")):
        assert run_proxy.main(command("env", folder, form, *words)) == 2
        assert "--key-env VARIABLE" in "".join(capsys.readouterr())


@pytest.mark.parametrize("name", ["env", "exec"])
def test_a_proxy_that_asks_for_no_key_gets_none(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    words = () if name == "env" else ("--", "true")
    assert run_proxy.main(command(name, folder, "--key-env", "PATH", *words)) == 2
    assert "--key-env" in capsys.readouterr().err


def test_a_proxy_that_is_switched_off_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_PROXY", "false")
    assert run_proxy.main(command("env", folder)) == 2
    assert "proxy: it is switched off" in capsys.readouterr().err
    assert "HTTPS_PROXY" not in printed(capsys, *command("env", folder, "--through", "gateway"))
    assert "export HTTPS_PROXY" not in printed(capsys, "ca", "--certs-dir", str(folder / "certs"))


def test_each_listener_is_reached_at_its_own_address(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--host", "192.0.2.1", "--proxy-host", "0.0.0.0", "--through", "both", "--json")
    given = json.loads(printed(capsys, *command("env", folder, *words)))
    assert given["HTTPS_PROXY"] == "http://127.0.0.1:8080"
    assert given["ANTHROPIC_BASE_URL"] == "http://192.0.2.1:8000"
    assert given["NO_PROXY"] == "localhost,127.0.0.1,::1,192.0.2.1"


@pytest.mark.parametrize(("host", "option"), [("172.17.0.1", "--add-host="), ("127.0.0.1", "--network=host")])
def test_a_container_reaches_the_address_of_the_proxy(
    folder: Path, capsys: pytest.CaptureFixture[str], host: str, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    assert printed(capsys, *command("env", folder, "docker", "--proxy-host", host)).startswith(option)


def executed(folder: Path, port: int, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    words = command("exec", folder, "--proxy-port", str(port), *arguments)
    return subprocess.run(
        [sys.executable, str(ROOT / "run_proxy.py"), *words],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        check=False,
    )


@pytest.mark.slow
def test_a_program_runs_with_its_variables_arguments_and_status(folder: Path, listener: int) -> None:
    code = "import os, sys; print(os.environ['HTTPS_PROXY'], *sys.argv[1:]); sys.exit(7)"
    done = executed(folder, listener, "--", sys.executable, "-c", code, "--json", "a b")
    assert (done.stdout.strip(), done.returncode) == (f"http://127.0.0.1:{listener} --json a b", 7)


@pytest.mark.slow
def test_a_program_gets_the_key_in_the_url_of_the_proxy(folder: Path, listener: int) -> None:
    code = "import os; print(os.environ['HTTPS_PROXY'], 'OPENAI_API_KEY' in os.environ)"
    words = ("--key-env", "MINE", "--", sys.executable, "-c", code)
    done = executed(folder, listener, *words, SVC_PROXY_KEY="true", MINE="svck_mine")
    assert done.stdout.strip() == f"http://key:svck_mine@127.0.0.1:{listener} False", done.stderr


@pytest.mark.slow
def test_a_signal_ends_the_program_as_it_would_without_the_gateway(folder: Path, listener: int) -> None:
    assert executed(folder, listener, "--", "sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM


def test_a_program_gets_the_gateways_key_and_none_of_its_secrets() -> None:
    inherited = {"SVC_API_KEY": "s", "SVC_UPSTREAM_KEY": "s", "MINE": "k", "ANTHROPIC_AUTH_TOKEN": "other", "PATH": "p"}
    found = environment(inherited, {"OPENAI_BASE_URL": "u"}, "MINE")
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "k")
    assert found == {"MINE": "k", "PATH": "p", "OPENAI_BASE_URL": "u", **keys}


@pytest.mark.slow
def test_a_gateway_that_does_not_listen_is_told(folder: Path) -> None:
    done = executed(folder, free_port(), "--", "true")
    assert done.returncode == 1
    assert "does not listen" in done.stderr


@pytest.mark.slow
def test_a_program_that_is_not_there(folder: Path, listener: int) -> None:
    done = executed(folder, listener, "--", "no-such-program")
    assert (done.returncode, "no such program" in done.stderr) == (127, True)


def doctor(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
    ports = ("--gateway-port", str(free_port()), "--proxy-port", str(free_port()))
    status = run_proxy.main(command("doctor", folder, *ports, "--json", *arguments))
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is (status == 0)
    return status, {check["name"]: check for check in report["checks"]}


@pytest.mark.slow
def test_an_installation_in_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, checks = doctor(capsys, folder)
    assert status == 0, checks
    assert "valid until" in checks["certificate authority"]["detail"]
    assert run_proxy.main(command("doctor", folder)) == 0
    shown = capsys.readouterr().out
    assert "chatgpt.com" in shown
    assert "No problems" in shown


@pytest.mark.slow
def test_one_problem_is_counted_as_one(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ports = ("--gateway-port", str(free_port()), "--proxy-port", str(free_port()))
    options = command("doctor", tmp_path, *ports, "--certs-dir", str(folder / "certs"))
    (tmp_path / "data").mkdir(mode=0o755)
    (tmp_path / "data").chmod(0o755)
    assert run_proxy.main(options) == 1
    shown = capsys.readouterr().out
    assert shown.rstrip().endswith("\n1 problem")
    assert "the gateway is not running" not in shown


def test_what_is_wrong_is_told_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    (tmp_path / "data").chmod(0o755)
    monkeypatch.setenv("SVC_UPSTREAMS__ONE__BASE_URL", f"http://127.0.0.1:{free_port()}/v1")
    status, checks = doctor(capsys, tmp_path)
    assert status == 1
    wrong = {name for name, check in checks.items() if not check["ok"]}
    assert {"certificate authority", "store"} <= wrong
    assert any("one" in name for name in wrong)
    assert all(checks[name]["remedy"] for name in wrong)


@pytest.mark.slow
def test_a_recognizer_that_misses_its_own_example(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor(capsys, folder)[1]["recognizers"]["ok"]
    recognizer = next(one for one in builtin_detector().recognizers if isinstance(one, PatternRecognizer))
    broken = replace(recognizer, examples=(Example("nothing", "nothing"),))
    monkeypatch.setattr("gateway.detection.builtin_detector", lambda: Detector([broken], check=False))
    status, checks = doctor(capsys, folder)
    assert status == 1
    assert "example 0" in checks["recognizers"]["detail"]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a shell script stands for fontconfig")
@pytest.mark.parametrize(("fonts", "told"), [("Some Emoji Font", "a font of this machine"), ("", "install one")])
def test_fonts_are_looked_for(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    fonts: str,
    told: str,
) -> None:
    program = tmp_path / "fc-list"
    program.write_text(f'#!/bin/sh\n[ "$1" = :charset=1f512 ] && echo "{fonts}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    _, checks = doctor(capsys, folder)
    assert told in checks["fonts"]["detail"]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert "fonts" not in doctor(capsys, folder)[1]


def hang_up(server: socket.socket) -> None:
    server.accept()[0].close()


@pytest.mark.slow
def test_a_port_that_another_program_has(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        threading.Thread(target=hang_up, args=(other,), daemon=True).start()
        port = str(other.getsockname()[1])
        status, checks = doctor(capsys, folder, "--proxy-port", port)
    assert status == 1
    assert checks[f"port {port} (proxy)"]["detail"] == "another program listens"


@pytest.mark.slow
def test_commands_load_no_store_that_they_do_not_read_and_no_numpy_with_it() -> None:
    """Loading it takes longer than all that they do."""
    program = "import sys, run_proxy\nfor each in ('--version', 'ca', 'env', 'exec'): run_proxy._parser(each)\n"
    program += "print({'gateway.store', 'gateway.detection', 'numpy'} & sys.modules.keys())\n"
    program += "run_proxy._parser('--help'); print({'gateway.store', 'numpy'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n{'gateway.store'}\n"
