"""SIGHUP stops only the gateway whose terminal was closed."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from gateway.workers import stop_signals
from gateway.workers.stop_signals import STOP_SIGNALS, ignore_stop_signals, on_hangup, on_stop

if not hasattr(signal, "SIGHUP"):
    pytest.skip("this system has no SIGHUP", allow_module_level=True)


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Puts the handlers of this process back."""
    numbers = (*STOP_SIGNALS, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def called(numbers: tuple[int, ...]) -> list[object]:
    """Returns what signals call, in order."""
    calls: list[object] = []
    on_stop(calls.append, lambda: calls.append("reopen"))
    for number in numbers:
        os.kill(os.getpid(), number)
    return calls


@pytest.mark.parametrize(
    ("at_start", "now", "hangup"),
    [(True, False, signal.SIGHUP), (True, True, "reopen"), (False, False, "reopen"), (False, True, "reopen")],
)
def test_only_a_terminal_that_was_closed_stops_it(
    at_start: bool, now: bool, hangup: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stop_signals, "_started_on_terminal", lambda: at_start)
    monkeypatch.setattr(stop_signals, "_has_terminal", lambda: now)
    assert called((signal.SIGHUP, signal.SIGTERM, signal.SIGINT)) == [hangup, signal.SIGTERM, signal.SIGINT]


def test_a_hangup_that_nohup_has_ignored_stays_ignored_and_all_are_in_other_processes() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    calls = called((signal.SIGHUP,))
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    ignore_stop_signals()
    for number in (*STOP_SIGNALS, signal.SIGHUP):
        os.kill(os.getpid(), number)
    assert calls == []


def test_a_hangup_alone_can_be_handled(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(stop_signals, "_started_on_terminal", lambda: True)
    monkeypatch.setattr(stop_signals, "_has_terminal", lambda: False)
    on_hangup(calls.append)
    os.kill(os.getpid(), signal.SIGHUP)
    assert calls == [signal.SIGHUP]
    assert signal.getsignal(signal.SIGTERM) is before


def test_no_terminal_is_found_if_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError

    monkeypatch.setattr(os, "open", fail)
    assert stop_signals._has_terminal() is False
