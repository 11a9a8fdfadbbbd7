"""Runs `run_proxy.py serve`: all listeners on one event loop, from the start to the last record."""

import gc
import logging
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack

from mitmproxy import ctx, exceptions
from mitmproxy.tools.web.master import WebMaster

from addons.certificate_authority import ends_of
from addons.certificate_files import CertificateFiles
from addons.connection_addresses import ConnectionAddresses
from addons.contained_programs import ContainedPrograms, ContainedTunnels
from addons.fail_closed import Refusals
from addons.failed_handshakes import FailedHandshakes
from addons.flow_state import FlowStates
from addons.graceful_shutdown import GracefulShutdown
from addons.head_check import HeadCheck
from addons.listener_tls import ListenerTls
from addons.logs import failed_lines
from addons.master import build_master
from addons.mitmweb_address import shown_address
from addons.open_files import affordable_connections
from addons.operations import OperationsListener
from addons.operator_actions import NoReplay, OperatorHold
from addons.operator_view import Review
from addons.outbound_proxying import OutboundProxying
from addons.patches import warn_of_another_version
from addons.patches.connection_limits import Clients, ConnectionLimits
from addons.patches.error_pages import speak_json
from addons.patches.first_bytes import replace_searches
from addons.patches.flow_filters import bound_filters
from addons.patches.head_limits import MessageLimits, PrefaceLimit, bound_messages
from addons.patches.response_delivery import ResponseDelivery
from addons.patches.websocket_frames import open_sockets
from addons.preflight import authority, explained, prepared, refused_by_mitmproxy
from addons.protect import Protect
from addons.proxy_key import ProxyKey
from addons.reload import Listeners, Reload
from addons.request_log import RequestLog
from addons.unprotected_tunnels import UnprotectedTunnels
from addons.upstream_faults import UpstreamTimeouts
from addons.websockets import WebSockets
from addons.witness import Observer, Witness
from gateway.auth.credentials import KeySearch
from gateway.config.host_patterns import HostMatcher, host_regexes
from gateway.config.listener_urls import url_of
from gateway.config.locations import bundle_of, command_for
from gateway.config.private_destinations import PermittedDestinations
from gateway.config.settings import Settings
from gateway.config.unprotected_hosts import hosts_to_refuse
from gateway.errors import GatewayError
from gateway.http.metrics import resident_bytes
from gateway.server import service_manager
from gateway.server.gateway_process import running
from gateway.workers.memory import use_huge_pages

_log = logging.getLogger(__name__)


async def serve(
    loaded: Settings, end: socket.socket | None, load: Callable[[], Settings], observer: Observer | None = None
) -> int:
    """Serves until a stop signal, then until the calls under way have finished. A reload loads other settings.

    The gateway is at the other end of `end`, or in this process if that is None.

    Returns the exit status: 1 if the process of the gateway has ended. Raises SettingsError for unusable settings.
    """
    settings = prepared(loaded)
    certificate = authority(settings)
    files = CertificateFiles.of(settings)
    warn_of_another_version()
    speak_json()
    intercepts = HostMatcher(settings.intercept_regexes)
    log = RequestLog(settings.trusted_proxies, intercepts)
    clients = Clients(settings.body_room_bytes, log.unread)
    log.metrics.read("connections", "Open connections of clients.", lambda: len(clients))
    log.metrics.read("log_failures_total", "Lines that could not be written to `log_file`.", failed_lines)
    log.metrics.read("listeners_resident_memory_bytes", "Resident memory of the listeners' process.", resident_bytes)
    expires = ends_of(certificate)
    log.metrics.read(
        "certificate_expiry_timestamp_seconds", "When the proxy's certificate authority expires.", lambda: expires
    )
    if files is not None:
        log.metrics.read(
            "listener_certificate_expiry_timestamp_seconds",
            "When the certificate of the listeners expires.",
            lambda: files.expires,
        )
    bound_messages(
        MessageLimits(settings.head_limit_bytes, settings.head_fields_limit, settings.body_limit_bytes), clients
    )
    bound_filters()
    replace_searches()
    connections = affordable_connections(settings.max_connections)
    log.metrics.read("connections_limit", "Most connections at once (`max_connections`).", lambda: connections)
    try:
        async with running(settings, end) as (gateway, monitored, lost, reload_gateway):
            states = FlowStates()
            delivery = ResponseDelivery(states)
            delivery.install()
            keeps = observer is not None and observer.keeps_answers
            review = Review(settings.max_flows, intercepts, keeps_answers=keeps)
            log.metrics.read("held_requests", "Requests that wait for an operator.", lambda: review.held)
            refusals = Refusals(states, review, gateway, log)
            witness = Witness(observer, states, refusals.shape) if observer is not None else None
            log.watch = witness.ended if witness is not None else None
            contained = HostMatcher(host_regexes(settings.contained_hosts))
            unprotected = UnprotectedTunnels(hosts_to_refuse(settings.unprotected_hosts), intercepts, log)
            outbound = OutboundProxying(settings.outbound_proxies, states, log, clients, unprotected.passes)
            outbound.install()
            sockets = WebSockets(
                gateway,
                states,
                log,
                limit=settings.body_limit_bytes,
                seconds=settings.body_timeout_seconds,
                answer_limit=settings.response_limit_bytes,
            )
            open_sockets(sockets, clients)
            log.metrics.read("websockets", "Open WebSockets of clients.", lambda: len(sockets.live))
            protect = Protect(
                gateway,
                states,
                review,
                refusals,
                clients,
                HeadCheck(
                    gateway,
                    clients,
                    settings.body_limit_bytes,
                    min(settings.head_limit_bytes, settings.body_limit_bytes),
                ),
                log,
                intercepts=intercepts,
                check_host=unprotected.check,
                limit=settings.response_limit_bytes,
                key_search=KeySearch.of(settings.api_key),
                sockets=sockets,
            )
            proxy_tls = settings.speaks_tls("proxy")
            others = [(settings.web_host, settings.web_port)] if settings.web else []
            operations = OperationsListener(monitored, log.metrics, states, settings, files)
            others += [(settings.operations_host, port) for port in (settings.operations_port,) if port is not None]
            permitted = PermittedDestinations(settings.proxy_private_destinations)
            addresses = ConnectionAddresses(others, permitted, log, settings.contained_hosts)
            try:
                master = build_master(
                    settings,
                    [
                        PrefaceLimit(clients),
                        FailedHandshakes(),
                        *([ListenerTls(files, settings, clients)] if files else []),
                        ConnectionLimits(clients, settings, connections),
                        ContainedPrograms(contained, intercepts, clients, log),
                        *([ProxyKey(gateway, clients, log, tls=proxy_tls)] if settings.proxy_key else []),
                        addresses,
                        protect,
                        NoReplay(),
                    ],
                    [
                        ContainedTunnels(contained, log),
                        unprotected,
                        outbound,
                        OperatorHold(gateway, states, review, refusals, clients, settings.body_limit_bytes),
                        UpstreamTimeouts(states),
                        delivery,
                        log,
                        *([witness] if witness is not None else []),
                    ],
                    files,
                )
            except exceptions.OptionsError as error:
                raise refused_by_mitmproxy(error) from None
            ending = GracefulShutdown(master, states, settings.shutdown_seconds, sockets.live)
            master.addons.add(ending)
            parts = Listeners(master, files, intercepts, contained, log, outbound, unprotected, addresses, ending)
            reload = Reload(load, loaded, settings, parts, reload_gateway)
            lost.add_done_callback(lambda _: master.shutdown())
            # These objects live as long as the process: spare the garbage collector from traversing them.
            gc.collect()
            gc.freeze()
            use_huge_pages()
            with ending.on_signals(reload), operations.listening(), ExitStack() as shown:
                web_address = None
                if isinstance(master, WebMaster):
                    web_address = shown.enter_context(shown_address(master.web_url, settings.data_dir))
                master.addons.add(Welcome(settings, str(certificate.resolve()), web_address))
                await master.run()
                await reload.close()
            if lost.done():
                _log.error("the gateway process has ended unexpectedly; shutting down")
            status = int(lost.done())
    except GatewayError as error:
        raise explained(error) from None
    _log.info("stopped")
    return status


class Welcome:
    """Logs the addresses, and prints them with a first example, once all listeners are up."""

    def __init__(self, settings: Settings, certificate: str, web_address: str | None) -> None:
        self._settings = settings
        self._certificate = certificate
        self._web_address = web_address

    def running(self) -> None:
        ports = [
            address[1] for server in ctx.master.addons.get("proxyserver").servers for address in server.listen_addrs[:1]
        ]
        settings = self._settings
        gateway = url_of(settings, "gateway", ports[0])
        proxy = url_of(settings, "proxy", ports[1]) if settings.proxy else None
        _log.info("serving on %s%s", gateway, f", and as a proxy on {proxy}" if proxy else "")
        service_manager.ready()
        bundle = bundle_of(self._settings.certs_dir).resolve()
        key = "$KEY" if self._settings.api_key is None else "$SVC_API_KEY"
        trust = f"--cacert {bundle} " if settings.speaks_tls("gateway") else ""
        lines = [
            "",
            f"Privacy Gateway listens on {gateway} (base URL {gateway}/v1)"
            + (f" and, as a proxy, on {proxy}" if proxy else ""),
            "",
        ]
        if self._settings.api_key is None:
            create = command_for("keys create LABEL", "data", settings.data_dir)
            lines += [f"$KEY is your key. `{create}` makes another.", ""]
        lines += [
            "Try this:",
            f'  curl -s {trust}{gateway}/v1/chat/completions -H "Authorization: Bearer {key}" \\',
            '    -H \'Content-Type: application/json\' -d \'{"model": "svc-demo", "messages": [{"role": "user",',
            '    "content": "Draft a reply: my name is Anna Schmidt, anna@acme.test, IBAN DE89370400440532013000"}]}\'',
            "",
            f"An SDK:          OPENAI_BASE_URL={gateway}/v1 OPENAI_API_KEY={key}"
            + (f" SSL_CERT_FILE={bundle}" if trust else ""),
        ]
        if proxy:
            used = url_of(settings, "proxy", ports[1], key if settings.proxy_key else "")
            guide = command_for("ca", "certs", settings.certs_dir)
            lines += [
                f"No code change:  HTTPS_PROXY={used} SSL_CERT_FILE={bundle}",
                f"                 (the authority alone: {self._certificate}; how to trust it: {guide})",
            ]
        if self._web_address is not None:
            lines.append(f"mitmweb:         {self._web_address}")
        if settings.operations_port is not None:
            lines.append(f"Metrics:         {url_of(settings, 'operations', settings.operations_port)}/metrics")
        lines += [f"Interface:       {gateway}/docs", "Stop with Ctrl-C.", ""]
        print("\n".join(lines), file=sys.stderr if settings.log_json else sys.stdout, flush=True)
