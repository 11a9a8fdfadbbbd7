"""A supervised program is run as if it had taken the place of the command."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.e2e.terminal import Terminal
from tests.gateway.programs.running import python, ran, supervised

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")]


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 7", 7), ("kill -TERM $$", -signal.SIGTERM), ("kill -KILL $$", -signal.SIGKILL), ("kill -USR1 $PPID", 0)],
)
def test_the_status_is_the_programs_own(script: str, status: int) -> None:
    assert ran("sh", "-c", script).returncode == status


def test_a_file_that_cannot_be_run_is_told() -> None:
    assert ran("/").stderr == "not started: 13\n"


def test_signals_and_their_defaults_are_passed_on() -> None:
    code = "import os, signal; signal.signal(signal.SIGUSR1, lambda *_: os._exit(9)); print('ready', flush=True)"
    code += "; print(signal.getsignal(signal.SIGPIPE), flush=True); signal.pause()"
    with subprocess.Popen(
        supervised(*python(f"import signal; {code}")), stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGUSR1)
        assert process.wait(30) == 9


def test_a_killed_command_takes_the_program_with_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        supervised("sh", "-c", "echo $$; exec sleep 100"), stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        program = int(process.stdout.readline())
        process.kill()
        process.wait()
        deadline = time.monotonic() + 30
        while Path(f"/proc/{program}").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_no_end_of_a_program_hangs_up_on_the_callers_group() -> None:
    """The kernel hangs up on a group that is orphaned while a process in it is stopped."""
    script = 'sleep 60 & kill -STOP $!; "$@"; echo "alive $?"; kill -KILL $!'
    words = ["sh", "-c", script, "sh", *supervised("sh", "-c", "exit 7")]
    done = subprocess.run(words, start_new_session=True, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.returncode) == ("alive 7\n", 0), done.stderr


def test_a_process_that_outlives_the_program_connects_and_is_reported(tmp_path: Path) -> None:
    late = tmp_path / "late.py"
    late.write_text("""
import socket, time
time.sleep(0.5)
with socket.socket() as sock:
    sock.settimeout(0.2)
    try:
        sock.connect(("192.0.2.9", 443))
    except OSError as error:
        print(error.errno == 38, flush=True)
""")
    done = ran("sh", "-c", f"{sys.executable} {late} & echo ended")
    assert done.stdout == "ended\nFalse\n"
    assert ") connects to 192.0.2.9:443, past the gateway\n" in done.stderr


def test_the_terminal_is_the_programs(tmp_path: Path) -> None:
    """Ctrl-C arrives once; Ctrl-Z stops the job, and `fg` continues it."""
    counting = tmp_path / "counting.py"
    counting.write_text("""
import signal, sys, time
count = 0
def interrupted(*_):
    global count
    count += 1
    print("interrupted", count, flush=True)
signal.signal(signal.SIGINT, interrupted)
signal.signal(signal.SIGQUIT, lambda *_: sys.exit(40 + count))
print("is ready", flush=True)
while True:
    time.sleep(0.1)
""")
    runs = tmp_path / "run.sh"
    words = supervised(sys.executable, str(counting))
    runs.write_text("exec " + " ".join(f"'{word}'" for word in words).replace("\\n", "\n"))
    variables = {**os.environ, "PS1": "$ ", "RUN": str(runs), "PYTHONPATH": str(ROOT)}
    terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], tmp_path, variables)
    try:
        terminal.type(b"bash $RUN\n")
        terminal.wait_for("is ready")
        terminal.type(b"\x03")
        terminal.wait_for("interrupted 1")
        terminal.type(b"\x1a")
        terminal.wait_for("Stopped", 30)
        terminal.type(b"fg\n")
        time.sleep(0.5)
        terminal.type(b"\x03")
        terminal.wait_for("interrupted 2", 30)
        terminal.type(b"\x1c")
        time.sleep(0.5)
        terminal.type(b"echo status=$?\n")
        terminal.wait_for("status=42", 30)
        terminal.type(b"exit\n")
        terminal.process.wait(30)
    finally:
        terminal.process.kill()
        terminal.process.wait()
        terminal.close()
