"""The program gets signals, and its status is passed through."""

import os
import signal
import sys
import threading
import time

import pytest

from gateway.cli.inspection import program
from gateway.cli.inspection.program import Program

HANDLES = "import signal, sys; signal.signal({0}, lambda *_: sys.exit(9)); print(flush=True); signal.pause()"


def started(code: str) -> Program:
    return Program(sys.executable, ["a name", "-c", code], os.environ)


@pytest.mark.parametrize(
    ("code", "status"), [("import sys; sys.exit(7)", 7), ("import os; os.kill(os.getpid(), 9)", 137)]
)
def test_the_status_is_the_programs(code: str, status: int) -> None:
    assert started(code).wait() == status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_reaches_the_program(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "_in_foreground", lambda: False)
    # Shells have jobs in the background ignore SIGINT.
    inherited = signal.signal(number, lambda *_: None)
    before = signal.getsignal(number)

    def send() -> None:
        while not capfd.readouterr().out:
            time.sleep(0.05)
        os.kill(os.getpid(), number)

    running = started(HANDLES.format(int(number)))
    thread = threading.Timer(0.3, send)
    thread.start()
    assert running.wait() == 9
    thread.join()
    assert signal.getsignal(number) is before
    signal.signal(number, inherited)


def test_the_terminals_signals_are_not_sent_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_in_foreground", lambda: True)
    running = started("import signal, sys, time; signal.signal(2, lambda *_: sys.exit(9)); time.sleep(0.6)")
    thread = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    thread.start()
    assert running.wait() == 0


def test_a_program_that_does_not_end_is_ended(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "_PATIENCE_SECONDS", 0.5)
    running = started("import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)")
    while not capfd.readouterr().out:
        time.sleep(0.05)
    running.end()
    assert running.wait() == 137


def test_without_a_terminal_no_process_is_in_its_foreground(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> int:
        raise OSError

    monkeypatch.setattr("os.open", missing)
    assert not program._in_foreground()
