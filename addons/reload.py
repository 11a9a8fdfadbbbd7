"""Reloads the settings on SIGHUP: both processes apply what was loaded, or nothing changes and the log says why."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from mitmproxy.master import Master

from addons.certificate_files import CertificateFiles, read_files
from addons.connection_addresses import ConnectionAddresses
from addons.graceful_shutdown import GracefulShutdown
from addons.logs import reopen_log, use_log
from addons.master import changing_options
from addons.outbound_proxying import OutboundProxying
from addons.preflight import authority, check_reload, explained
from addons.request_log import RequestLog
from addons.unprotected_tunnels import UnprotectedTunnels
from gateway.config.host_patterns import HostMatcher, host_regexes
from gateway.config.private_destinations import PermittedDestinations
from gateway.config.reloading import change
from gateway.config.settings import Settings, SettingsError
from gateway.config.unprotected_hosts import hosts_to_refuse
from gateway.errors import GatewayError
from gateway.server.gateway_process import Reload as ReloadGateway
from gateway.server.service_manager import reloading

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Listeners:
    """The parts of the listeners' process that a reload changes."""

    master: Master
    files: CertificateFiles | None
    intercepts: HostMatcher
    contained: HostMatcher
    log: RequestLog
    outbound: OutboundProxying
    unprotected: UnprotectedTunnels
    addresses: ConnectionAddresses
    shutdown: GracefulShutdown

    def prepare(self, settings: Settings) -> Callable[[], None]:
        """Reads what may be unusable. Returns what puts the settings in force. Raises SettingsError and OSError."""
        files, certificate, key = self.files, settings.tls_certificate, settings.tls_key
        read = read_files(certificate, key) if files and certificate and key else None
        options, proxies = changing_options(settings), settings.outbound_proxies
        refused = hosts_to_refuse(settings.unprotected_hosts)
        permitted = PermittedDestinations(settings.proxy_private_destinations)

        def apply() -> None:
            use_log(settings)
            self.master.addons.get("optionguard").change(**options)
            if files and read:
                files.use(read)
            self.intercepts.use(settings.intercept_regexes)
            self.contained.use(host_regexes(settings.contained_hosts))
            self.log.trusted = settings.trusted_proxies
            self.outbound.proxies = proxies
            self.unprotected.hosts = refused
            self.addresses.use(permitted, settings.contained_hosts)
            self.shutdown.seconds = settings.shutdown_seconds

        return apply


class Reload:
    """Starts a reload when it is called. A call during one has it done once more afterwards.

    `running` are the settings in force, `started` those that were loaded at the start. `reload_gateway` has the gateway
    apply settings and returns its number of policies.
    """

    def __init__(
        self,
        load: Callable[[], Settings],
        started: Settings,
        running: Settings,
        listeners: Listeners,
        reload_gateway: ReloadGateway,
    ) -> None:
        self._load = load
        self._started = started
        self._running = running
        self._listeners = listeners
        self._reload_gateway = reload_gateway
        self._again = False
        self._task: asyncio.Task[None] | None = None
        self._done = self._failed = 0
        metrics = listeners.log.metrics
        metrics.read("reloads_total", "Reloads that were applied.", lambda: self._done)
        metrics.read("reload_failures_total", "Reloads that failed and changed nothing.", lambda: self._failed)

    def __call__(self) -> None:
        reopen_log()
        if self._listeners.shutdown.has_begun:
            return
        self._again = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._reload_all())

    async def close(self) -> None:
        """Ends a reload in progress, before the gateway stops."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _reload_all(self) -> None:
        while self._again and not self._listeners.shutdown.has_begun:
            self._again = False
            with reloading():
                try:
                    await self._reload()
                    self._done += 1
                except SettingsError as error:
                    self._fail("; ".join(error.problems))
                except GatewayError as error:
                    self._fail(str(explained(error)))
                except OSError as error:
                    self._fail(f"{error.filename} ({error.strerror})")

    def _fail(self, why: str) -> None:
        self._failed += 1
        _log.error("not reloaded, nothing has changed: %s", why)

    async def _reload(self) -> None:
        """Raises SettingsError, GatewayError and OSError before anything has changed."""
        loaded = await asyncio.to_thread(self._load)
        settings, applied, waiting = change(self._running, self._started, loaded)
        await asyncio.to_thread(check_reload, loaded, settings)
        apply = await asyncio.to_thread(self._listeners.prepare, settings)
        policies = await self._reload_gateway(settings)
        apply()
        self._running = settings
        files = self._listeners.files
        expires = datetime.fromtimestamp(files.expires, UTC) if files is not None else None
        expiry = f"; the certificate expires on {expires:%F}" if expires is not None else ""
        _log.info("reloaded %d policies; changed settings: %s%s", policies, ", ".join(applied) or "none", expiry)
        if waiting:
            _log.warning("needs a restart: %s", ", ".join(waiting))
        if files is not None:
            self._bundle(settings)

    def _bundle(self, settings: Settings) -> None:
        """Puts the certificate into the file of authorities for clients."""
        try:
            authority(settings)
        except (SettingsError, OSError) as error:
            _log.error("the certificate is in use, but not in the bundle for clients: %s", error)
