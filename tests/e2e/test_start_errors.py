"""Starting the gateway with an impossible setting exits with status 2 and one line that says what to do."""

import json
import os
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.config.settings import Settings
from gateway.store import open_store
from tests.e2e import preloaded
from tests.e2e.server import COMMAND, OPERATOR_KEY, PLAIN, ROOT, free_port, gateway

type Done = subprocess.CompletedProcess[str]

# Arguments of the command, the beginning of the line that it prints, and other text in it. `places` fills in {…}.
CASES = [json.loads(line) for line in (ROOT / "tests" / "vectors" / "start_errors.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Makes the files that the cases need: files of nonsense, empty folders, a port that is taken."""
    folder = tmp_path_factory.mktemp("start")
    (folder / "file").write_text("this is = not = what it should be\n")
    (folder / "empty").mkdir()
    (folder / "damaged").mkdir(mode=0o700)
    (folder / "open").mkdir()
    (folder / "open").chmod(0o755)
    for name in ("damaged", "open"):
        (folder / name / "mitmproxy-ca.pem").write_text("damaged\n")
        (folder / name / "mitmproxy-ca.pem").chmod(0o600 if name == "damaged" else 0o644)
    (folder / "damaged" / "gateway.db").write_bytes(b"no database at all\n" * 64)
    (folder / "unsound").mkdir()
    (folder / "unsound" / "unsound.toml").write_text("rules = what\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        names = {name: str(folder / name) for name in ("file", "empty", "none", "damaged", "unsound", "open")}
        yield names | {"taken": str(taken.getsockname()[1]), "proxy": str(free_port()), "folder": str(folder)}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a gateway ran."""
    folder = tmp_path_factory.mktemp("ran")
    open_store(Settings(data_dir=folder / "data").make_data_dir()).close()
    return folder


def start(
    arguments: str, variables: dict[str, str], folder: Path, *command: str, by: Callable[..., Done] = preloaded.run
) -> Done:
    """Starts it on free ports with folders of its own, but for what the case names (the last one counts)."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    given = [] if command else ["--no-web", "--gateway-port", "0", "--proxy-port", "0"]
    folders = ["--data-dir", str(folder / "data"), "--certs-dir", str(folder / "certs")]
    whole = [*command, *given, *folders, *arguments.split()]
    return by(whole, clean | {"SVC_API_KEY": OPERATOR_KEY} | variables, folder)


STARTING = "Starting the Privacy Gateway. Its addresses follow when it is ready.\n"


def typed(arguments: list[str], environment: dict[str, str], folder: Path) -> Done:
    """Runs the command as it is typed, in an interpreter of its own."""
    command = [*COMMAND, *arguments]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_one_line_says_what_is_wrong_and_what_to_do(case: Any, places: dict[str, str], tmp_path: Path) -> None:
    variables = {name: value.format(**places) for name, value in case["variables"].items()}
    done = start(case["arguments"].format(**places), variables, tmp_path)
    first, *problems = done.stderr.splitlines()
    assert (done.returncode, first) == (2, "Cannot run:"), done.stderr
    assert done.stdout in {"", STARTING}
    assert [line.startswith(case["begins"].format(**places)) for line in problems] == [True], done.stderr
    assert case["says"] in problems[0]


def test_a_signing_key_that_is_missing_beside_receipts_is_not_made_anew(tmp_path: Path) -> None:
    with gateway(tmp_path, environment={"SVC_DETECTION": "patterns"}) as running, running.client() as client:
        assert client.post("/v1/protect", json={"text": "Write to anna@acme.test"}).status_code == 200
    (tmp_path / "data" / "signing.key").unlink()
    done = start("", {}, tmp_path)
    assert (done.returncode, done.stdout) == (2, STARTING), done.stderr
    first, problem = done.stderr.splitlines()
    assert first == "Cannot run:"
    assert problem.startswith("signing.key is missing from data_dir")
    assert "restore it from the backup, or start with another `--data-dir DIR`" in problem
    assert not (tmp_path / "data" / "signing.key").exists()


def test_all_that_is_wrong_is_said_at_once(places: dict[str, str], tmp_path: Path) -> None:
    arguments = "--data-dir {file} --certs-dir {file} --mode bogus".format(**places)
    done = start(arguments, {}, tmp_path, by=typed)
    assert (done.returncode, done.stdout) == (2, STARTING)
    problems = done.stderr.splitlines()[1:]
    assert [line.partition(":")[0] for line in problems] == ["data_dir", "certs_dir", "modes"]


def test_no_line_repeats_what_may_be_secret(tmp_path: Path) -> None:
    """The address of a mode may hold a password."""
    done = start("--mode upstreams:https://someone:open-sesame@proxy.example", {}, tmp_path)
    assert done.returncode == 2
    assert "open-sesame" not in done.stdout + done.stderr


@pytest.mark.parametrize("command", ["keys list", "policies list", "receipts list", "usage", "ca"])
def test_the_other_commands_say_it_in_a_line_too(command: str, places: dict[str, str], tmp_path: Path) -> None:
    arguments = "--data-dir {file} --certs-dir {file}".format(**places)
    done = start(arguments, {}, tmp_path, *command.split())
    assert "Traceback" not in done.stderr
    if command == "policies list":  # It needs no folder: without a database there are the built-in ones.
        assert done.returncode == 0
    else:
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) <= 2


@pytest.mark.parametrize("command", ["keys list", "policies list", "receipts list", "usage", "ca"])
def test_the_other_commands_need_no_upstream(command: str, data: Path) -> None:
    """Variables of a shell that starts the gateway with `--upstream URL` are there for the other commands, too."""
    variables = {
        "SVC_DEFAULT_UPSTREAM": "configured-upstream",
        "SVC_UPSTREAMS__HOUSE__BASE_URL": "http://localhost:1/v1",
        "SVC_UPSTREAMS__HOUSE__API_KEY_ENV": "NO_SUCH_KEY",
    }
    done = start("", variables, data, *command.split())
    assert (done.returncode, done.stderr) == (0, "")


def test_zero_is_any_free_port_for_all_of_them_at_once(tmp_path: Path) -> None:
    arguments = ("--gateway-port", "0", "--proxy-port", "0", "--web", "--web-port", "0", "--mode", "socks5@127.0.0.1:0")
    command = ["serve", *arguments, "--data-dir", str(tmp_path / "data"), "--certs-dir", str(tmp_path / "certs")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    output = tmp_path / "output"
    process = preloaded.Program(command, environment, tmp_path, output, output)
    try:
        process.wait_for("Stop with", output)
        told = output.read_text()
        assert told.startswith(STARTING)
        listening = re.findall(r"(?:listens on|a proxy, on|mitmweb:) +http://127\.0\.0\.1:(\d+)", told)
        assert len(set(listening)) == 3, told
        assert "0" not in listening
        for port in map(int, listening[::2]):
            answer = httpx.get(f"http://127.0.0.1:{port}/", timeout=30, trust_env=False, verify=PLAIN)
            assert answer.status_code in {200, 401, 403}, "it listens where it says"
        process.terminate()
        assert process.wait(30) == 0
    finally:
        process.kill()
