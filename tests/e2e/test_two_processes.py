"""The listeners and the gateway are two processes: neither outlives the other, and alone neither serves anybody. Those
that search large texts for the gateway end with it, and it does without them.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.e2e.server import ROOT, gateway
from tests.e2e.upstream import Upstream

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")

SEARCHER = {"SVC_SEARCH_PROCESSES": "1"}
CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": "mail canary@acme.test"}]}
LONG = {"model": "configured-upstream", "messages": [{"role": "user", "content": "mail canary@acme.test, " * 400}]}


def child_of(parent: int) -> int:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    (child,) = [pid for pid, other in pairs if other == parent]
    return child


def gone(pid: int, seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        state = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False)
        if state.stdout.strip().startswith("Z"):
            return True
        time.sleep(0.05)
    return False


def test_without_the_gateways_process_nothing_crosses_and_the_program_ends(tmp_path: Path, upstream: Upstream) -> None:
    with gateway(tmp_path, "--upstream", f"{upstream.url}/v1") as running:
        child = child_of(running.process.pid)
        os.kill(child, signal.SIGSTOP)
        with running.client() as client, pytest.raises(httpx.TimeoutException):
            client.post("/v1/chat/completions", json=CHAT, timeout=0.5)
        os.kill(child, signal.SIGKILL)
        assert running.process.wait(60) == 1
        assert "the gateway process has ended" in running.output()
    assert not upstream.recorded


def test_the_gateways_process_ends_with_the_listeners_and_loses_nothing(tmp_path: Path, upstream: Upstream) -> None:
    with gateway(tmp_path, "--upstream", f"{upstream.url}/v1", environment=SEARCHER) as running:
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


def test_without_those_that_search_long_texts_they_are_searched_all_the_same(
    tmp_path: Path, upstream: Upstream
) -> None:
    with (
        gateway(tmp_path, "--upstream", f"{upstream.url}/v1", environment=SEARCHER) as running,
        running.client() as client,
    ):
        searcher = child_of(child_of(running.process.pid))
        os.kill(searcher, signal.SIGKILL)
        answer = client.post("/v1/chat/completions", json=LONG)
        assert answer.status_code == 200
        assert "lost a detection worker process" in running.output()
    (crossed,) = upstream.recorded
    assert b"canary" not in crossed.body


def test_a_signal_to_all_of_them_ends_both_in_order(tmp_path: Path) -> None:
    with gateway(tmp_path, environment=SEARCHER) as running:
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


@pytest.mark.skipif(sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="needs Linux and two cores")
@pytest.mark.parametrize("shares", [True, False])
def test_the_threads_of_the_gateways_process_share_one_core(tmp_path: Path, *, shares: bool) -> None:
    every = os.sched_getaffinity(0)

    def cores_of(pid: int) -> list[set[int]]:
        return [os.sched_getaffinity(int(task.name)) for task in Path(f"/proc/{pid}/task").iterdir()]

    with gateway(tmp_path, environment=SEARCHER | {"SVC_SHARE_ONE_CORE": str(shares).lower()}) as running:
        with running.client() as client:
            # Long enough for a job that leaves the shared core meanwhile.
            client.post("/v1/analyze", json={"text": "Karla Muster called. " * 2000}).raise_for_status()
        child = child_of(running.process.pid)
        ours = cores_of(child)
        assert all(cores == every for cores in cores_of(running.process.pid) + cores_of(child_of(child)))
    bound = [cores for cores in ours if cores != every]
    if not shares:
        assert not bound
        return
    assert len(ours) - len(bound) == 2  # the threads of the name model
    assert len(bound) >= 4
    assert all(cores == bound[0] and len(cores) == 1 for cores in bound)
