"""`run_proxy.py serve`: one process, one event loop, all listeners; from the start to the last written record."""

import asyncio
import gc
import signal

from mitmproxy import ctx, exceptions
from mitmproxy.tools.web.master import WebMaster

from addons.authority import bundle_of, upstream_authorities
from addons.house import build_master
from addons.interception import Interception
from addons.mitm_errors import speak_json
from addons.protect import Protect
from addons.refusing import Refusals
from addons.replay import NoReplay
from addons.review import Review
from addons.starting import authority, explained, prepared, refused_by_mitmproxy
from addons.state import Visits
from gateway.amendment import Amendments
from gateway.app import create_app
from gateway.errors import GatewayError
from gateway.service import Service
from gateway.settings import Settings

# mitmproxy breaks a connection off in the middle of a body over its own limit; up to here the client is read to the
# end and gets a clean answer from our hooks.
_HARD_LIMIT = 4


async def serve(settings: Settings) -> int:
    """Runs until SIGINT or SIGTERM. Returns the exit status. Raises SettingsError for what nothing can run with."""
    settings = prepared(settings)
    certificate = authority(settings.certs_dir)
    speak_json()
    async with await _started(settings) as service:
        visits = Visits()
        review = Review(settings.max_flows, service.intercepts)
        refusals = Refusals(visits, review, service.pipeline.fail)
        amendments = Amendments(service.protector, service.workers, service.receipts)
        try:
            master = build_master(
                [Protect(service, create_app(service), visits, review, refusals), NoReplay()],
                [Interception(amendments, visits, review, refusals)],
                host=settings.host,
                gateway_port=settings.gateway_port,
                proxy_port=settings.proxy_port,
                modes=settings.modes,
                intercept_patterns=settings.intercept_regexes,
                confdir=settings.certs_dir,
                body_limit=_HARD_LIMIT * settings.body_limit_bytes,
                upstream_ca=upstream_authorities(settings.certs_dir, settings.upstream_ca_files),
                web=(settings.web_host, settings.web_port) if settings.web else None,
            )
        except exceptions.OptionsError as error:
            raise refused_by_mitmproxy(error) from None
        new_key = await service.first_key()
        master.addons.add(Welcome(settings, str(certificate.resolve()), new_key))
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, master.shutdown)
        # What was built until here lives as long as the process; the collector need not walk it again and again.
        gc.collect()
        gc.freeze()
        await master.run()
    return 0


async def _started(settings: Settings) -> Service:
    try:
        return await Service.start(settings)
    except GatewayError as error:
        raise explained(error) from None


class Welcome:
    """Says, once everything listens, where it listens and what to try first."""

    def __init__(self, settings: Settings, certificate: str, new_key: str | None) -> None:
        self._settings = settings
        self._certificate = certificate
        self._new_key = new_key

    def running(self) -> None:
        ports = [
            address[1] for server in ctx.master.addons.get("proxyserver").servers for address in server.listen_addrs[:1]
        ]
        gateway, proxy = (f"http://{self._settings.host}:{port}" for port in ports[:2])
        bundle = bundle_of(self._settings.certs_dir).resolve()
        key = self._new_key or ("$KEY" if self._settings.api_key is None else "$SVC_API_KEY")
        lines = [
            "",
            f"Privacy Gateway listens on {gateway} (base URL {gateway}/v1) and, as a proxy, on {proxy}",
            "",
        ]
        if self._new_key:
            lines += [f"Your operator key, shown this once:  {self._new_key}", ""]
        elif self._settings.api_key is None:
            lines += [
                "Keys were made before; `.venv/bin/python run_proxy.py keys create` makes another. Here one is $KEY.",
                "",
            ]
        lines += [
            "Try this:",
            f'  curl -s {gateway}/v1/chat/completions -H "Authorization: Bearer {key}" \\',
            '    -H \'Content-Type: application/json\' -d \'{"model": "svc-demo", "messages": [{"role": "user",',
            '    "content": "Draft a reply: my name is Anna Schmidt, anna@acme.test, IBAN DE89370400440532013000"}]}\'',
            "",
            f"An SDK:          OPENAI_BASE_URL={gateway}/v1 OPENAI_API_KEY={key}",
            f"Without change:  HTTPS_PROXY={proxy} SSL_CERT_FILE={bundle}",
            f"                 (the authority alone: {self._certificate}; how to trust it: run_proxy.py ca)",
        ]
        if isinstance(ctx.master, WebMaster):
            lines.append(f"What crossed:    {ctx.master.web_url}")
        lines += [f"Interface:       {gateway}/docs", "Stop with Ctrl-C.", ""]
        print("\n".join(lines), flush=True)
