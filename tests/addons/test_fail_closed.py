"""An addon that raises, in any hook, ends the flow at the dead end with an answer, and no later addon sees it.

Driven through mitmproxy's own `AddonManager.trigger_event`, since it is what would otherwise go on.
"""

import asyncio
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import exceptions, hooks, http
from mitmproxy.proxy.layers.http import (
    HttpRequestHeadersHook,
    HttpRequestHook,
    HttpResponseHeadersHook,
    HttpResponseHook,
)
from mitmproxy.test import taddons, tflow

from addons.fail_closed import DEAD_END, Refusals, fail_closed
from gateway.errors import Forbidden, GatewayError, InternalError, Unavailable

HOOKS: dict[str, Callable[[http.HTTPFlow], hooks.Hook]] = {
    "requestheaders": HttpRequestHeadersHook,
    "request": HttpRequestHook,
    "responseheaders": HttpResponseHeadersHook,
    "response": HttpResponseHook,
}


class Later:
    """An addon in place of mitmweb, savehar and others that run after ours."""

    def __init__(self) -> None:
        self.saw: list[str] = []
        for hook in HOOKS:
            setattr(self, hook, lambda _, hook=hook: self.saw.append(hook))


class Faulty:
    """Fails in every hook, at once or after it has waited."""

    def __init__(self, error: BaseException, *, waits: bool = False, shaping: BaseException | None = None) -> None:
        self._error = error
        self._waits = waits
        self._shaping = shaping
        self.refusals: list[GatewayError] = []

    async def _later(self) -> None:
        await asyncio.sleep(0)
        raise self._error

    def _fail(self, flow: http.HTTPFlow) -> Any:
        if self._waits:
            return self._later()
        raise self._error

    requestheaders = request = responseheaders = response = fail_closed(_fail)

    def refused(self, flow: http.HTTPFlow, error: GatewayError) -> None:
        self.refusals.append(error)
        if self._shaping is not None:
            raise self._shaping


def flow_of(hook: str) -> http.HTTPFlow:
    flow = tflow.tflow(resp=hook.startswith("response"))
    flow.request.content = b"canary-4711"
    flow.request.authority = "api.example:443"
    return flow


async def trigger(hook: str, flow: http.HTTPFlow, faulty: Faulty) -> Later:
    later = Later()
    with taddons.context(faulty, later, loadcore=False) as context:
        await context.master.addons.trigger_event(HOOKS[hook](flow))
    return later


def assert_ended(flow: http.HTTPFlow, status: int, code: str) -> None:
    assert (flow.request.host, flow.request.port) == DEAD_END
    assert flow.request.scheme == "http"
    assert flow.request.authority == ""
    assert flow.request.raw_content == b""
    assert flow.response is not None
    assert flow.response.status_code == status
    assert flow.response.json()["error"]["code"] == code
    assert flow.response.headers["x-svc-request-id"] == flow.response.json()["request_id"]
    assert b"canary" not in (flow.response.raw_content or b"")


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "later"])
@pytest.mark.parametrize("hook", HOOKS)
async def test_an_unexpected_exception(hook: str, waits: bool, caplog: pytest.LogCaptureFixture) -> None:
    flow = flow_of(hook)
    faulty = Faulty(ValueError("canary-4711"), waits=waits)
    with caplog.at_level(logging.DEBUG):
        later = await trigger(hook, flow, faulty)
    assert later.saw == []
    assert_ended(flow, 500, "internal_error")
    assert [error.code for error in faulty.refusals] == ["internal_error"]
    assert "ValueError at test_fail_closed.py" in caplog.text
    assert "canary" not in caplog.text


@pytest.mark.parametrize("shaping", [None, RuntimeError("canary-4711")], ids=["shaped", "not shaped"])
@pytest.mark.parametrize("hook", HOOKS)
async def test_a_refusal_is_answered_as_it_is(hook: str, shaping: Exception | None) -> None:
    """A wire that fails to word the error must not give the flow back to mitmproxy."""
    flow = flow_of(hook)
    later = await trigger(hook, flow, Faulty(Unavailable("Busy.", code="overloaded", retry_after=7), shaping=shaping))
    assert later.saw == []
    assert_ended(flow, 503, "overloaded")
    assert flow.response is not None
    assert flow.response.headers["retry-after"] == "7"


@pytest.mark.parametrize("hook", HOOKS)
async def test_a_cancellation_ends_the_flow_and_propagates(hook: str) -> None:
    flow = flow_of(hook)
    with pytest.raises(asyncio.CancelledError):
        await trigger(hook, flow, Faulty(asyncio.CancelledError()))
    assert_ended(flow, 503, "stopping")


@pytest.mark.parametrize("hook", HOOKS)
async def test_halting_on_purpose_changes_nothing(hook: str) -> None:
    flow = flow_of(hook)
    later = await trigger(hook, flow, Faulty(exceptions.AddonHalt()))
    assert later.saw == []
    assert flow.request.content == b"canary-4711"
    assert flow.request.host != DEAD_END[0]


@pytest.mark.parametrize("hook", HOOKS)
async def test_without_a_fault_the_chain_continues(hook: str) -> None:
    class Sound(Faulty):
        def _pass(self, flow: http.HTTPFlow) -> None:
            return None

        requestheaders = request = responseheaders = response = fail_closed(_pass)

    assert (await trigger(hook, flow_of(hook), Sound(ValueError()))).saw == [hook]


@pytest.mark.parametrize(
    ("error", "lines"), [(InternalError("It failed."), ["It failed. req_1"]), (Forbidden("No."), [])]
)
def test_a_failure_inside_is_logged_under_the_id_that_the_client_has(
    error: GatewayError, lines: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    states: Any = SimpleNamespace(of=lambda _: SimpleNamespace(request_id="req_1", family="openai", noted=True))
    review: Any = SimpleNamespace(refused=lambda *_: None)
    gateway: Any = SimpleNamespace(fail=lambda *_: None)
    log: Any = SimpleNamespace(ended=lambda *_: None)
    Refusals(states, review, gateway, log).shape(flow_of("request"), error)
    assert caplog.messages == lines
