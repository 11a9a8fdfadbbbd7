"""The listeners and the gateway are two processes: neither outlives the other, and alone neither serves anybody. Those
that search texts for the gateway end with it, and are replaced if they are lost.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from gateway.server import gateway_process
from gateway.workers import rpc
from tests.e2e.server import COMMAND, ROOT, gateway
from tests.e2e.upstream import Upstream
from tests.processes import gone

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")

DETECTIONS = ["full", "patterns"]
CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": "mail canary@acme.test"}]}
LONG = {
    "model": "configured-upstream",
    "messages": [{"role": "user", "content": "Karla Muster has the mail canary@acme.test, " * 400}],
}


def child_of(parent: int) -> int:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    (child,) = [pid for pid, other in pairs if other == parent]
    return child


def test_without_the_gateways_process_nothing_is_sent_and_both_end(tmp_path: Path, upstream: Upstream) -> None:
    with gateway(tmp_path, "--upstream", f"{upstream.url}/v1") as running:
        child = child_of(running.process.pid)
        os.kill(child, signal.SIGSTOP)
        with running.client() as client, pytest.raises(httpx.TimeoutException):
            client.post("/v1/chat/completions", json=CHAT, timeout=0.5)
        os.kill(child, signal.SIGKILL)
        assert running.process.wait(60) == 1
        assert "the gateway process has ended" in running.output()
    assert not upstream.recorded


def impatient() -> None:
    """Has the listeners notice within a second that the gateway's process does not answer."""
    rpc._PING_SECONDS = 0.1
    vars(gateway_process)["SILENCE_SECONDS"] = 0.5


def test_a_gateway_process_that_hangs_is_unavailable_until_it_answers(tmp_path: Path, upstream: Upstream) -> None:
    with (
        gateway(tmp_path, "--upstream", f"{upstream.url}/v1", prepare=impatient) as running,
        running.client() as client,
    ):
        child = child_of(running.process.pid)
        os.kill(child, signal.SIGSTOP)
        try:
            refused = [client.post("/v1/chat/completions", json=CHAT), client.get("/healthz")]
        finally:
            os.kill(child, signal.SIGCONT)
        for answer in refused:
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "gateway_unavailable")
            assert answer.headers["retry-after"] == "5"
        while "answers again" not in running.output():
            assert running.process.poll() is None
            time.sleep(0.05)
        assert client.post("/v1/chat/completions", json=CHAT).status_code == 200
    assert len(upstream.recorded) == 1


def test_a_request_that_loses_the_gateways_process_gets_an_error(tmp_path: Path, upstream: Upstream) -> None:
    with (
        gateway(tmp_path, "--upstream", f"{upstream.url}/v1") as running,
        running.client() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        child = child_of(running.process.pid)
        os.kill(child, signal.SIGSTOP)
        call = pool.submit(client.post, "/v1/chat/completions", json=CHAT)
        with running.client() as other, pytest.raises(httpx.TimeoutException):
            other.get("/healthz", timeout=0.5)
        os.kill(child, signal.SIGKILL)
        answer = call.result(60)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "gateway_unavailable")
        assert running.process.wait(60) == 1
    assert not upstream.recorded


@pytest.mark.parametrize("detection", DETECTIONS)
def test_the_gateways_process_ends_with_the_listeners_and_loses_nothing(
    detection: str, tmp_path: Path, upstream: Upstream
) -> None:
    environment = {"SVC_DETECTION": detection}
    with gateway(tmp_path, "--upstream", f"{upstream.url}/v1", environment=environment) as running:
        with running.client() as client:
            assert client.post("/v1/chat/completions", json=CHAT).status_code == 200
        child = child_of(running.process.pid)
        searcher = child_of(child)
        running.process.kill()
        assert gone(child)
        assert gone(searcher)
    with closing(sqlite3.connect(running.data / "gateway.db")) as db:
        kinds = [kind for (kind,) in db.execute("SELECT kind FROM receipts ORDER BY sequence")]
    assert kinds == ["receipt", "outcome"]


@pytest.mark.parametrize("detection", DETECTIONS)
def test_when_those_that_search_texts_are_lost_others_do(detection: str, tmp_path: Path, upstream: Upstream) -> None:
    environment = {"SVC_DETECTION": detection}
    with (
        gateway(tmp_path, "--upstream", f"{upstream.url}/v1", environment=environment) as running,
        running.client() as client,
    ):
        child = child_of(running.process.pid)
        searcher = child_of(child)
        os.kill(searcher, signal.SIGKILL)
        assert gone(searcher)
        for _ in range(2):
            answer = client.post("/v1/chat/completions", json=LONG)
            assert answer.status_code == 200
        assert child_of(child) != searcher
        assert "lost a detection worker process" in running.output()
    assert len(upstream.recorded) == 2
    for crossed in upstream.recorded:
        assert b"canary" not in crossed.body
        assert detection == "patterns" or b"Muster" not in crossed.body


def test_a_name_model_that_takes_too_long_is_a_refusal(tmp_path: Path, upstream: Upstream) -> None:
    environment = {"SVC_DETECTION": "full", "SVC_DETECTION_TIMEOUT_SECONDS": "2"}
    with (
        gateway(tmp_path, "--upstream", f"{upstream.url}/v1", environment=environment) as running,
        running.client() as client,
    ):
        searcher = child_of(child_of(running.process.pid))
        os.kill(searcher, signal.SIGSTOP)
        refused = client.post("/v1/chat/completions", json=LONG)
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "detection_timeout"
        assert "Muster" not in refused.text
        assert not upstream.recorded
        os.kill(searcher, signal.SIGCONT)
        assert client.post("/v1/chat/completions", json=LONG).status_code == 200
        assert "Muster" not in running.output()
    (crossed,) = upstream.recorded
    assert b"Muster" not in crossed.body


@pytest.mark.parametrize("detection", DETECTIONS)
def test_a_signal_to_all_of_them_ends_both_in_order(detection: str, tmp_path: Path) -> None:
    with gateway(tmp_path, environment={"SVC_DETECTION": detection}) as running:
        child = child_of(running.process.pid)
        searcher = child_of(child)
        for pid in (searcher, child, running.process.pid):
            os.kill(pid, signal.SIGINT)
        assert running.process.wait(60) == 0
        assert gone(child)
        assert gone(searcher)
        assert "killed" not in running.output()


def test_what_is_forked_has_one_thread_and_no_library_that_starts_others(tmp_path: Path) -> None:
    """A thread that holds a lock while another forks leaves it locked in the child for ever."""
    told = (
        "import os, sys, threading\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "import run_proxy\n"
        "def fork():\n"
        "    threads = len(os.listdir('/proc/self/task')) if sys.platform == 'linux' else threading.active_count()\n"
        "    print(threads, *sorted({'numpy', 'onnxruntime', 'tokenizers', 'mitmproxy'} & sys.modules.keys()))\n"
        "    sys.stdout.flush()\n"
        "    os._exit(0)\n"
        "os.fork = fork\n"
        "run_proxy.main(['--no-web'])\n"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    done = subprocess.run(
        [sys.executable, "-c", told], env=clean, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout.splitlines()[1:], done.stderr) == (["1"], "")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("processes", [0, 1])
def test_the_name_model_is_in_one_process_and_that_one_has_all_cores(tmp_path: Path, processes: int) -> None:
    every = os.sched_getaffinity(0)

    def cores_of(pid: int) -> list[set[int]]:
        return [os.sched_getaffinity(int(task.name)) for task in Path(f"/proc/{pid}/task").iterdir()]

    def files(pid: int) -> str:
        return Path(f"/proc/{pid}/maps").read_text()

    # Started by its command: in one that is forked for tests, the model's library is loaded already.
    with gateway(
        tmp_path, command=COMMAND, environment={"SVC_DETECTION": "full", "SVC_SEARCH_PROCESSES": str(processes)}
    ) as running:
        with running.client() as client:
            found = client.post("/v1/analyze", json={"text": "Karla Muster called. " * 2000}).raise_for_status()
        assert "PERSON" in found.text
        child = child_of(running.process.pid)
        others = [running.process.pid]
        if processes:
            searcher = child_of(child)
            others.append(searcher)
            assert "onnxruntime" in files(searcher)
        assert ("onnxruntime" in files(child)) == (not processes)
        assert all(cores == every for pid in others for cores in cores_of(pid))
        ours = cores_of(child)
    if processes and len(every) > 1:
        assert len(ours) >= 4
        assert all(cores == ours[0] and len(cores) == 1 for cores in ours)
    else:
        assert all(cores == every for cores in ours)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_gateways_process_may_use_all_cores(tmp_path: Path) -> None:
    with gateway(tmp_path, environment={"SVC_SHARE_ONE_CORE": "false"}) as running:
        tasks = Path(f"/proc/{child_of(running.process.pid)}/task")
        assert {len(os.sched_getaffinity(int(task.name))) for task in tasks.iterdir()} == {len(os.sched_getaffinity(0))}
