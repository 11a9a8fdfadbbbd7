"""A call of the gateway's process that gets no reply is refused, and the log says why."""

import asyncio
import logging
import socket

import pytest

from gateway.config.settings import SettingsError
from gateway.errors import BadRequest, InternalError, Unavailable
from gateway.server import gateway_process
from gateway.server.gateway_process import RemoteGateway
from gateway.workers import rpc
from gateway.workers.rpc import Link, answer


async def refused(gateway: RemoteGateway) -> str:
    with pytest.raises(Unavailable) as raised:
        await gateway.check_proxy_key("key")
    assert (raised.value.code, raised.value.retry_after) == ("gateway_unavailable", 5)
    return raised.value.message


async def test_a_process_that_is_silent_or_gone_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(rpc, "_PING_SECONDS", 0.01)
    monkeypatch.setattr(gateway_process, "SILENCE_SECONDS", 0.2)
    near, far = socket.socketpair()
    gateway = RemoteGateway(await Link.open(near))
    watching = asyncio.create_task(gateway.watch())
    assert "does not answer" in await refused(gateway)
    assert "does not answer" in await refused(gateway)
    answering = asyncio.create_task(answer(far, {"check_proxy_key": str}, gateway_process._told))
    while "answers again" not in caplog.text:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await gateway.check_proxy_key("key")
    gateway._link.close()
    await asyncio.gather(answering, watching)
    assert "has stopped" in await refused(gateway)
    gateway.fail("req_1", "cancelled")
    assert len(caplog.records) == 2


def test_only_refusals_keep_their_message(caplog: pytest.LogCaptureFixture) -> None:
    for error in (BadRequest("No."), SettingsError("No.")):
        assert gateway_process._told(error) is error
    with caplog.at_level(logging.DEBUG):
        told = gateway_process._told(ValueError("canary-4711"))
    assert isinstance(told, InternalError)
    assert "canary" not in str(told) + caplog.text
    assert "ValueError" in caplog.text
