"""SIGHUP stops nothing, also during the start, unless it comes because the terminal was closed."""

import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.e2e.mitmweb import wait_for
from tests.e2e.server import COMMAND, OPERATOR_KEY, PLAIN, ROOT, free_port, gateway
from tests.e2e.terminal import Terminal
from tests.e2e.upstream import Upstream, answer_when_told
from tests.processes import gone, is_gone

if not hasattr(signal, "SIGHUP"):
    pytest.skip("this system has no SIGHUP", allow_module_level=True)

STARTING, READY = "Starting the Privacy Gateway.", "Stop with Ctrl-C."
CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": "mail canary@acme.test"}]}
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}


def command(folder: Path, port: int = 0) -> list[str]:
    folders = ["--data-dir", str(folder / "data"), "--certs-dir", str(folder / "certs")]
    return [*COMMAND, "serve", "--no-web", *folders, "--gateway-port", str(port), "--proxy-port", "0"]


def environment(**more: str) -> dict[str, str]:
    return CLEAN | {"SVC_API_KEY": OPERATOR_KEY} | more


def family(parent: int) -> list[int]:
    """Returns a process and all that descend from it."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = [parent]
    for each in found:
        found += [pid for pid, other in pairs if other == each]
    return found


def alive(port: int) -> bool:
    return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=30, trust_env=False, verify=PLAIN).status_code == 200


def test_all_processes_write_to_the_new_file_after_a_rotation(tmp_path: Path) -> None:
    log, moved = tmp_path / "svc.log", tmp_path / "svc.log.1"
    with gateway(tmp_path, environment={"SVC_LOG_FILE": str(log)}, prepare=os.setsid) as running:
        process = running.process
        wait_for(lambda: "serving on" in log.read_text())
        assert log.stat().st_mode & 0o777 == 0o600
        processes = family(process.pid)
        assert len(processes) == 3, "listeners, gateway and one that searches texts"
        log.rename(moved)
        before = moved.read_text()
        os.killpg(process.pid, signal.SIGHUP)
        wait_for(lambda: log.exists() and "reopened the log" in log.read_text())
        assert alive(running.port)
        assert family(process.pid) == processes
        os.kill(processes[-1], signal.SIGKILL)
        assert gone(processes[-1])
        with running.client() as client:
            text = "Karla Muster called. " * 400
            assert client.post("/v1/protect", json={"text": text}, timeout=60).status_code == 200
        process.terminate()
        assert process.wait(60) == 0
        told = log.read_text()
        assert told.count("reopened the log") == 1
        assert "lost a detection worker process" in told, "the gateway's process writes to the new file"
        assert "stopped" in told
        assert moved.read_text() == before
        assert "INFO" not in running.output()


IMPORTS = """
import signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == "pydantic":
            sys.exit(signal.getsignal(signal.SIGHUP) is signal.SIG_DFL)
sys.meta_path.insert(0, Finder())
sys.argv = ["run_proxy.py", "serve"]
import run_proxy
sys.exit("run_proxy does not import pydantic")
"""


def test_it_is_handled_before_the_slow_imports() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_with_standard_error_as_the_log_nothing_stops_even_while_it_starts(tmp_path: Path) -> None:
    port, output = free_port(), tmp_path / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            command(tmp_path, port), cwd=tmp_path, env=environment(), stdout=file, stderr=file, start_new_session=True
        )
    try:
        wait_for(lambda: STARTING in output.read_text(), 120)
        while READY not in output.read_text():
            os.killpg(process.pid, signal.SIGHUP)
            assert process.poll() is None, output.read_text()
            time.sleep(0.01)
        processes = family(process.pid)
        for _ in range(3):
            os.killpg(process.pid, signal.SIGHUP)
            assert alive(port)
        assert family(process.pid) == processes
        process.terminate()
        assert process.wait(60) == 0
        said = [line.partition("addons.server: ")[2] for line in output.read_text().splitlines()]
        assert [line.split()[0] for line in said if line] == ["serving", "stopped"]
        assert " WARNING " not in output.read_text()
    finally:
        process.kill()
        process.wait()


def test_a_closed_terminal_stops_it_once_calls_have_their_answers(tmp_path: Path, upstream: Upstream) -> None:
    log, port = tmp_path / "svc.log", free_port()
    asked, answered = answer_when_told(upstream)
    variables = environment(SVC_LOG_FILE=str(log), SVC_UPSTREAM=f"{upstream.url}/v1", SVC_SHUTDOWN_SECONDS="3600")
    terminal = Terminal(command(tmp_path, port), tmp_path, variables)
    try:
        terminal.wait_for(READY)
        processes = family(terminal.process.pid)
        # The terminal is there: this one is a reload.
        os.killpg(terminal.process.pid, signal.SIGHUP)
        wait_for(lambda: "reopened the log" in log.read_text())
        with (
            ThreadPoolExecutor(1) as pool,
            httpx.Client(headers={"authorization": f"Bearer {OPERATOR_KEY}"}, trust_env=False, timeout=120) as client,
        ):
            call = pool.submit(client.post, f"http://127.0.0.1:{port}/v1/chat/completions", json=CHAT)
            try:
                assert asked.wait(60)
                terminal.close()
                wait_for(lambda: "shutting down" in log.read_text())
                os.killpg(terminal.process.pid, signal.SIGHUP)  # as a shell does
            finally:
                answered.set()
            assert call.result(60).json()["choices"][0]["message"]["content"] == "mail canary@acme.test"
        assert terminal.process.wait(60) == 0
        assert all(gone(each) for each in processes[1:])
        assert log.read_text().splitlines()[-1].endswith("stopped")
    finally:
        terminal.process.kill()
        terminal.process.wait()
        terminal.close()


def test_a_terminal_closed_during_the_start_stops_it(tmp_path: Path) -> None:
    terminal = Terminal(command(tmp_path), tmp_path, environment())
    try:
        terminal.wait_for(STARTING)
        wait_for((tmp_path / "data" / "gateway.db").exists)
        processes = family(terminal.process.pid)
        terminal.close()
        assert terminal.process.wait(60) in {0, 128 + signal.SIGHUP}
        assert all(gone(each) for each in processes[1:])
    finally:
        terminal.process.kill()
        terminal.process.wait()
        terminal.close()


@pytest.mark.skipif(shutil.which("nohup") is None, reason="nohup is not installed")
def test_nohup_keeps_it_running(tmp_path: Path) -> None:
    port, output = free_port(), tmp_path / "nohup.out"
    terminal = Terminal(["nohup", *command(tmp_path, port)], tmp_path, environment())
    try:
        wait_for(lambda: output.exists() and READY in output.read_text(), 120)
        terminal.close()
        os.killpg(terminal.process.pid, signal.SIGHUP)
        assert alive(port)
        assert not is_gone(terminal.process.pid)
        terminal.process.terminate()
        assert terminal.process.wait(60) == 0
    finally:
        terminal.process.kill()
        terminal.process.wait()
        terminal.close()
