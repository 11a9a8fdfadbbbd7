"""The signals that stop the gateway. SIGHUP does so only when the terminal was closed; otherwise it is a reload."""

import os
import signal
from collections.abc import Callable
from functools import cache

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Windows does not have it.
_HANGUP = getattr(signal, "SIGHUP", None)


def on_stop(stop: Callable[[int], object], reload: Callable[[], object] = lambda: None) -> None:
    """Calls `stop` with the number of each signal that stops the gateway, and `reload` on any other SIGHUP."""
    for each in STOP_SIGNALS:
        signal.signal(each, lambda number, _: stop(number))
    on_hangup(stop, reload)


def on_hangup(stop: Callable[[int], object], reload: Callable[[], object] = lambda: None) -> None:
    """Does on SIGHUP alone what `on_stop` does. If it is ignored, which `nohup` arranges, it stays ignored."""
    had_terminal = _started_on_terminal()
    if _HANGUP is not None and signal.getsignal(_HANGUP) is not signal.SIG_IGN:
        signal.signal(_HANGUP, lambda number, _: stop(number) if had_terminal and not _has_terminal() else reload())


def ignore_stop_signals() -> None:
    """Ignores all of them, for processes that end when another one does: terminals signal every process of a group."""
    for number in (*STOP_SIGNALS, *([] if _HANGUP is None else [_HANGUP])):
        signal.signal(number, signal.SIG_IGN)


@cache
def _started_on_terminal() -> bool:
    return _has_terminal()


def _has_terminal() -> bool:
    """Tells whether this session has a terminal. The kernel takes it away before it sends SIGHUP."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | getattr(os, "O_NOCTTY", 0)))
    except OSError:
        return False
    return True
