"""Events reach the addons that mitmproxy itself would call, in the same order."""

from pathlib import Path
from typing import Any

import pytest
from mitmproxy import addons, exceptions, hooks, master, options
from mitmproxy.addonmanager import AddonManager
from mitmproxy.proxy.layers.http import HttpRequestHook, HttpResponseHook
from mitmproxy.test import tflow

from addons.patches.hook_dispatch import HookDispatch, dispatch_directly


class Recorder:
    """Notes the events that it gets, and raises `error` at each."""

    def __init__(self, name: str, seen: list[str], error: Exception | None = None) -> None:
        self.name = name
        self._seen = seen
        self._error = error

    def request(self, flow: Any) -> None:
        self._seen.append(self.name)
        if self._error is not None:
            raise self._error


class Waiting(Recorder):
    async def request(self, flow: Any) -> None:  # type: ignore[override]
        super().request(flow)


class Group:
    """An addon that consists of others."""

    def __init__(self, *parts: object) -> None:
        self.addons = parts


def manager(*chain: object) -> HookDispatch:
    made = AddonManager(master.Master(options.Options()))
    made.add(*chain)
    dispatch_directly(made)
    assert isinstance(made, HookDispatch)
    return made


async def request(to: AddonManager) -> None:
    await to.trigger_event(HttpRequestHook(tflow.tflow()))


async def test_addons_are_called_in_order_wherever_they_are() -> None:
    seen: list[str] = []
    made = manager(Recorder("a", seen), Group(Waiting("b", seen)), object(), Recorder("c", seen))
    await request(made)
    assert seen == ["a", "b", "c"]
    await made.trigger_event(HttpResponseHook(tflow.tflow(resp=True)))
    assert seen == ["a", "b", "c"]


@pytest.mark.parametrize(("error", "called"), [(exceptions.AddonHalt(), ["a"]), (ValueError("no"), ["a", "b"])])
async def test_an_addon_that_halts_is_the_last_one_and_one_that_fails_is_not(
    error: Exception, called: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []
    await request(manager(Recorder("a", seen, error), Recorder("b", seen)))
    assert seen == called
    assert ("Addon error" in caplog.text) is (len(called) > 1)


async def test_a_chain_that_changes_is_followed() -> None:
    seen: list[str] = []
    first, second = Recorder("a", seen), Recorder("b", seen)
    made = manager(first)
    await request(made)
    made.add(second)
    await request(made)
    made.remove(first)
    await request(made)
    made.chain = [first, second]
    await request(made)
    made.chain.reverse()
    await request(made)
    assert seen == ["a", "a", "b", "b", "a", "b", "b", "a"]


async def test_mitmproxys_own_addons_get_every_event_that_they_have_a_hook_for(tmp_path: Path) -> None:
    own = master.Master(options.Options(confdir=str(tmp_path)))
    own.addons.add(*addons.default_addons())
    dispatch_directly(own.addons)
    assert isinstance(own.addons, HookDispatch)
    called: list[object] = []

    class Asked(AddonManager):
        async def invoke_addon(self, addon: object, event: hooks.Hook) -> None:
            called.extend([addon] if any(True for _ in self._iter_hooks(addon, event)) else [])

    for kind in hooks.all_hooks.values():
        event = object.__new__(kind)
        called.clear()
        plain = object.__new__(Asked)
        plain.chain = own.addons.chain
        await plain.trigger_event(event)
        assert own.addons.having(event.name) == called
