"""Every setting of the table `RELOADED` has its effect, and what fails before the end changes nothing."""

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trustme

from addons.certificate_files import CertificateFiles
from addons.connection_addresses import ConnectionAddresses
from addons.flow_state import FlowStates
from addons.master import build_master
from addons.outbound_proxying import OutboundProxying
from addons.patches.connection_limits import Clients
from addons.reload import Listeners, Reload
from addons.request_log import RequestLog
from addons.unprotected_tunnels import UnprotectedTunnels
from gateway.config.host_patterns import HostMatcher
from gateway.config.loading import load_settings
from gateway.config.locations import BUILTIN_POLICIES
from gateway.config.private_destinations import PermittedDestinations, address_of
from gateway.config.reloading import RELOADED
from gateway.config.settings import Settings, SettingsError
from gateway.config.unprotected_hosts import hosts_to_refuse
from gateway.container import Container
from gateway.errors import Unavailable
from gateway.surfaces.upstream import UpstreamSurface
from tests.certificates import write_certificate

URL = "http://127.0.0.1:9/v1"


@dataclass
class Gateway:
    """Both halves of a gateway, without listeners that are open. `given` is what the next reload loads."""

    folder: Path
    container: Container
    listeners: Listeners
    reload: Reload
    given: dict[str, Any]

    async def reloaded(self) -> None:
        self.reload()
        assert self.reload._task is not None
        await self.reload._task

    @property
    def upstream(self) -> UpstreamSurface:
        found, _ = self.container.surfaces.resolve("configured-upstream")
        assert isinstance(found, UpstreamSurface)
        return found

    @property
    def options(self) -> Any:
        return self.listeners.master.options

    @property
    def log(self) -> Any:
        return logging.getHandlerByName("privacy-gateway")


@pytest.fixture
def _log() -> Iterator[None]:
    """Puts the log of the tests back."""
    root = logging.getLogger()
    handlers, filters, level, factory = [*root.handlers], [*root.filters], root.level, logging.getLogRecordFactory()
    yield
    for each in {*root.handlers} - {*handlers}:
        each.close()
    root.handlers[:], root.filters[:] = handlers, filters
    root.setLevel(level)
    logging.setLogRecordFactory(factory)


@pytest.fixture
async def gateway(tmp_path: Path, _log: None) -> AsyncIterator[Gateway]:
    certificate, key = write_certificate(tmp_path / "tls")
    given: dict[str, Any] = {"data_dir": tmp_path / "data", "certs_dir": tmp_path / "certs", "detection": "patterns"}
    given |= {"upstream": URL, "upstream_model": "m", "tls_certificate": certificate, "tls_key": key, "web": False}
    given |= {"upstream_proxy": "http://proxy.test:3128"}
    settings = load_settings(**given)
    intercepts, log = HostMatcher(settings.intercept_regexes), RequestLog()
    unprotected = UnprotectedTunnels(hosts_to_refuse(settings.unprotected_hosts), intercepts, log)
    shutdown: Any = SimpleNamespace(seconds=25, has_begun=False)
    async with await Container.start(settings) as container:
        listeners = Listeners(
            build_master(settings, []),
            CertificateFiles.of(settings),
            intercepts,
            HostMatcher(()),
            log,
            OutboundProxying(settings.outbound_proxies, FlowStates(), log, Clients(1), unprotected.passes),
            unprotected,
            ConnectionAddresses((), PermittedDestinations(()), log),
            shutdown,
        )
        reload = Reload(lambda: load_settings(**given), settings, settings, listeners, container.reload)
        yield Gateway(tmp_path, container, listeners, reload, given)


def policies(folder: Path) -> Path:
    made = folder / "policies"
    shutil.copytree(BUILTIN_POLICIES, made, dirs_exist_ok=True)
    (made / "own.toml").write_text('id = "own"\ntitle = "t"\ndescription = "d"\nextends = "strict"\n')
    return made


class Pair(dict[str, Path]):
    """The files of a certificate, which are set together."""


def certified(folder: Path) -> Pair:
    certificate, key = write_certificate(folder / "other", ends=timedelta(days=99))
    return Pair(tls_certificate=certificate, tls_key=key)


def authority(folder: Path) -> Path:
    trustme.CA().cert_pem.write_to_path(folder / "ca.pem")
    return folder / "ca.pem"


def route(gateway: Gateway) -> object:
    return gateway.listeners.outbound.proxies.route("far.test", 443)


type Probe = Callable[[Gateway], object]
# The value to set, and where the effect is seen.
EFFECTS: dict[str, tuple[Any, Probe]] = {
    "log_level": ("error", lambda it: logging.getLogger().level),
    "log_json": (True, lambda it: it.log and type(it.log.formatter)),
    "log_file": (lambda folder: folder / "svc.log", lambda it: it.log and it.log.baseFilename),
    "tls_certificate": (certified, lambda it: it.listeners.files and it.listeners.files.expires),
    "tls_key": (certified, lambda it: it.listeners.files and it.listeners.files.context),
    "accept_risks": (("plain_http",), lambda it: it.reload._running.accept_risks),
    "shutdown_seconds": (3, lambda it: it.listeners.shutdown.seconds),
    "policies_dir": (policies, lambda it: len(it.container.policies.list())),
    "default_policy": ("strict", lambda it: it.container.protection.policy(None).hash),
    "streaming": (True, lambda it: (it.container.chat.streaming, it.container.admission._settings.streaming)),
    "batch_retention_hours": (7, lambda it: it.container.admission._settings.batch_retention_hours),
    "playground": (False, lambda it: it.container.settings.playground),
    "telemetry": ("protect", lambda it: it.container.admission._settings.telemetry),
    "forward_headers": (("x-session-id",), lambda it: it.container.admission._forward),
    "rate_limit_per_minute": (7, lambda it: it.container._limits._interval),
    "upstream": ("http://127.0.0.1:10/v1", lambda it: it.upstream.endpoint()),
    "upstream_model": ("n", lambda it: it.upstream.model_for("configured-upstream")),
    "upstream_key": ("a-key", lambda it: it.upstream.credential),
    "upstream_ca": (authority, lambda it: it.options.ssl_verify_upstream_trusted_ca),
    "upstreams": ({"lab": {"base_url": URL}}, lambda it: len(it.container.surfaces.surfaces)),
    "default_upstream": ("configured-upstream", lambda it: it.container.surfaces._default),
    "upstream_timeout_seconds": (1200, lambda it: (it.upstream.seconds, it.options.tcp_timeout)),
    "upstream_proxy": ("http://proxy.test:3129", route),
    "upstream_proxy_credentials": ("user:password", route),
    "no_proxy": (("far.test",), route),
    "intercept_hosts": (("a.test",), lambda it: (it.listeners.intercepts("a.test", 443), it.options.allow_hosts)),
    "intercept_also": (("a.test",), lambda it: (it.listeners.intercepts("a.test", 443), it.options.allow_hosts)),
    "contained_hosts": (("a.test",), lambda it: it.listeners.contained("a.test", 443)),
    "unprotected_hosts": ("tunnel", lambda it: len(it.listeners.unprotected.hosts._entries)),
    "proxy_private_destinations": (
        ("10.0.0.1",),
        lambda it: it.listeners.addresses.permitted.has("10.0.0.1", 443, address_of("10.0.0.1")),
    ),
    "trusted_proxies": (("10.0.0.0/8",), lambda it: it.listeners.log.trusted),
    "session_ttl_seconds": (61, lambda it: it.container.operations._bounds),
    "session_max_ttl_seconds": (62, lambda it: it.container.operations._bounds),
    "session_max_values": (63, lambda it: it.container.operations._bounds),
    "receipts_keep": ("400d", lambda it: it.container._retention),
}


@pytest.mark.parametrize("name", sorted(RELOADED))
async def test_a_reloaded_setting_has_its_effect(name: str, gateway: Gateway, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    value, probe = EFFECTS[name]
    before = probe(gateway)
    value = value(gateway.folder) if callable(value) else value
    gateway.given |= value if isinstance(value, Pair) else {name: value}
    await gateway.reloaded()
    assert probe(gateway) != before
    assert "not reloaded" not in caplog.text


@pytest.mark.parametrize("error", [SettingsError("a: b"), Unavailable("The store is full."), OSError(28, "full", "f")])
async def test_what_fails_in_the_gateway_changes_nothing_in_the_listeners(
    error: Exception, gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: Settings) -> int:
        raise error

    before = gateway.options.allow_hosts, gateway.reload._running
    gateway.reload._reload_gateway = fail
    gateway.given |= {"intercept_hosts": ("a.test",), "log_level": "error", "shutdown_seconds": 3}
    await gateway.reloaded()
    assert (gateway.options.allow_hosts, gateway.reload._running) == before
    assert not gateway.listeners.intercepts("a.test", 443)
    assert gateway.listeners.shutdown.seconds == 25
    assert [line for line in caplog.messages if line.startswith("not reloaded, nothing has changed: ")]


async def test_calls_during_a_reload_have_it_done_once_more_and_during_a_shutdown_none(gateway: Gateway) -> None:
    loaded: list[int] = []
    load = gateway.reload._load

    def counted() -> Settings:
        loaded.append(1)
        return load()

    gateway.reload._load = counted
    gateway.reload()
    await asyncio.sleep(0)
    for _ in range(5):
        gateway.reload()
    assert gateway.reload._task is not None
    await gateway.reload._task
    assert len(loaded) == 2
    gateway.listeners.shutdown.has_begun = True
    gateway.reload()
    assert gateway.reload._task.done()


async def test_one_that_is_in_progress_at_the_end_is_given_up(
    gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    await gateway.reload.close()
    begun = asyncio.Event()

    async def hang(_: Settings) -> int:
        begun.set()
        await asyncio.Event().wait()
        return 0

    gateway.reload._reload_gateway = hang
    gateway.reload()
    await begun.wait()
    gateway.reload()
    await gateway.reload.close()
    assert gateway.reload._task is not None
    assert gateway.reload._task.cancelled()
    assert "reloaded" not in caplog.text
