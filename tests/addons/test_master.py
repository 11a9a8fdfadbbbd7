"""The chain of addons and the options that cannot be changed."""

from pathlib import Path
from typing import Any

import pytest
from mitmproxy import exceptions, http, master
from mitmproxy.test import tflow
from mitmproxy.tools.web.app import ClientConnection

from addons.master import build_master
from addons.options import COMMANDS, FREE
from gateway.config.loading import load_settings
from gateway.config.settings import Settings

pytestmark = pytest.mark.slow


class Ours:
    """An addon in place of the protection."""

    def request(self, flow: http.HTTPFlow) -> None:
        return None


# Each of these would act on what is not protected yet, replay it, keep it, or send it elsewhere.
HARMFUL = set(
    """
    blocklist clientplayback mapremote maplocal modifybody modifyheaders proxyauth script scriptloader serverplayback
    stickyauth stickycookie update_alt_svc upstreamauth readfile readfilestdin onboarding dumper termlog
    """.split()
)


FIXED = {*"stream_large_bodies connection_strategy ignore_hosts tcp_hosts udp_hosts allow_hosts mode confdir".split()}


def settings(folder: Path, **fields: Any) -> Settings:
    return load_settings(None, certs_dir=folder, gateway_port=18000, proxy_port=18001, **{"web": False, **fields})


def build(folder: Path, ours: Ours, *last: object, web: bool) -> master.Master:
    return build_master(settings(folder, web=web, web_port=0, intercept_hosts=["api.example:443"]), [ours], last)


def names(built: master.Master) -> list[str]:
    return [type(addon).__name__.lower() for addon in built.addons.chain]


@pytest.mark.parametrize("web", [True, False])
async def test_ours_come_before_everything_that_sees_flows_and_the_last_after_it(tmp_path: Path, web: bool) -> None:
    built = build(tmp_path, Ours(), Last(), web=web)
    chain = names(built)
    place = chain.index("ours")
    assert (chain[place - 1], chain[-1]) == ("optionguard", "last")
    seeing = [
        name
        for name, addon in zip(chain, built.addons.chain, strict=True)
        if any(hasattr(addon, hook) for hook in ("requestheaders", "request", "responseheaders", "response", "error"))
    ]
    # It takes upgrades to HTTP/2 out of a request, and neither keeps nor shows anything.
    assert [name for name in seeing if chain.index(name) < place] == ["disableh2c"]
    assert set(chain).isdisjoint(HARMFUL)
    assert [name for name in HARMFUL if built.addons.get(name) is not None] == []
    assert built.addons.get("proxyserver") is not None
    assert {"intercept", "view", "save"}.issubset(chain) is ("view" in chain) is web


class Last:
    """An addon in place of those that see a request after operators have released it."""


async def test_flows_are_described_only_to_browsers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = build(tmp_path, Ours(), web=True)
    told: list[str] = []
    monkeypatch.setattr(ClientConnection, "broadcast_flow", lambda kind, flow: told.append(kind))
    view = built.addons.get("view")
    flow = tflow.tflow()
    view.add([flow])
    view.update([flow])
    assert told == []
    monkeypatch.setattr(ClientConnection, "connections", {object()})
    view.update([flow])
    view.add([tflow.tflow()])
    assert told == ["flows/update", "flows/add"]


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return ["x"] if not isinstance(value, str | None) else "x"


async def test_operators_choose_how_flows_are_shown_and_held(tmp_path: Path) -> None:
    built = build(tmp_path, Ours(), web=True)
    wanted = {"intercept": "~q", "intercept_active": True, "view_filter": "~marked", "view_order": "size"}
    built.options.update(**wanted)
    assert {name: getattr(built.options, name) for name in wanted} == wanted


@pytest.mark.parametrize("web", [True, False])
async def test_no_other_option_can_be_changed_later(tmp_path: Path, web: bool) -> None:
    built = build(tmp_path, Ours(), web=web)
    for name, option in built.options.items():
        if name not in FREE:
            before = option.current()
            value = 7 if option.typespec in {int, int | None} else _other(before)
            with pytest.raises(exceptions.OptionsError, match=f"`{name}` is fixed"):
                built.options.update(**{name: value})
            assert getattr(built.options, name) == before
    # Missing options went with the addons that would have acted on them.
    assert built.options.keys() >= FIXED


@pytest.mark.parametrize("web", [True, False])
async def test_no_command_reaches_beyond_the_list(tmp_path: Path, web: bool) -> None:
    built = build(tmp_path, Ours(), web=web)
    assert built.commands.commands.keys() <= COMMANDS
    reaching = {"Path", "Sequence[Path]"}
    for name, command in built.commands.commands.items():
        assert reaching.isdisjoint(str(each.type) for each in command.parameters), name
    for gone in ("script.run", "options.load", "cut.save", "save.file", "view.flows.load", "browser.start"):
        with pytest.raises(exceptions.CommandError):
            built.commands.call_strings(gone, ["@all", str(tmp_path / "x")])


@pytest.mark.parametrize(
    ("answer", "tunnel", "kept"), [(1, 1, 600), (600, 1, 630), (3600.5, 600, 3631), (1, 3600, 3630)]
)
async def test_mitmproxy_waits_longer_than_we_do(tmp_path: Path, answer: float, tunnel: float, kept: int) -> None:
    limits = settings(tmp_path, upstream_timeout_seconds=answer, tunnel_timeout_seconds=tunnel)
    built = build_master(limits, [Ours()])
    assert built.options.tcp_timeout == kept


async def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(exceptions.OptionsError):
        build_master(settings(tmp_path, modes=["no-such-mode"]), [Ours()])
