"""Tells the service manager what the gateway is doing: systemd's sd_notify, for a unit with `Type=notify`.

The protocol is a datagram of lines to the socket that NOTIFY_SOCKET names. Without that variable, nothing is sent.
"""

import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

_log = logging.getLogger(__name__)


def ready() -> None:
    """Says that all listeners are open."""
    _notify("READY=1")


def stopping() -> None:
    """Says that the shutdown has begun."""
    _notify("STOPPING=1")


@contextmanager
def reloading() -> Iterator[None]:
    """Says that a reload has begun, and on exit that it has ended. The time is for `Type=notify-reload`."""
    _notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")
    try:
        yield
    finally:
        ready()


def _notify(*lines: str) -> None:
    address = os.environ.get("NOTIFY_SOCKET", "")
    # systemd writes the zero byte of an abstract address as `@`.
    if not address.startswith(("/", "@")) or not hasattr(socket, "AF_UNIX"):
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | getattr(socket, "SOCK_CLOEXEC", 0)) as notified:
            # A manager that does not read must not hold up the event loop.
            notified.setblocking(False)
            notified.sendto("\n".join(lines).encode(), "\0" + address[1:] if address[0] == "@" else address)
    except OSError as error:
        _log.warning("the service manager could not be notified: %s", error.strerror)
