"""Notifications for a service manager, over a real datagram socket."""

import logging
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gateway.server.service_manager import ready, reloading, stopping


@pytest.fixture(params=["/path", "@abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    name = f"{request.param[0]}{tmp_path.name}" if request.param == "@abstract" else str(tmp_path / "notify")
    if request.param == "@abstract" and sys.platform != "linux":
        pytest.skip("abstract addresses are Linux's")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind(name.replace("@", "\0"))
        bound.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        yield bound


def test_ready_and_stopping_are_one_datagram_each(manager: socket.socket) -> None:
    ready()
    stopping()
    assert [manager.recv(100), manager.recv(100)] == [b"READY=1", b"STOPPING=1"]


def test_a_reload_begins_with_its_time_and_ends_ready_even_if_it_fails(manager: socket.socket) -> None:
    with suppress(ValueError), reloading():
        assert re.fullmatch(rb"RELOADING=1\nMONOTONIC_USEC=[1-9]\d{5,}", manager.recv(100))
        raise ValueError
    assert manager.recv(100) == b"READY=1"


@pytest.mark.parametrize(("address", "warnings"), [("", 0), ("vsock:2:1", 0), ("/nonexistent/notify", 1)])
def test_a_manager_that_is_not_there_stops_nothing(
    address: str, warnings: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    with caplog.at_level(logging.WARNING), reloading():
        pass
    assert len(caplog.messages) == 2 * warnings
    assert address not in caplog.text or not address


def test_a_manager_that_does_not_read_holds_nothing_up(manager: socket.socket) -> None:
    for _ in range(2000):
        ready()
    assert manager.recv(100) == b"READY=1"
