"""mitmweb without the work that no browser needs, and with only the content views that model traffic needs.

Upstream would have to serialize flows only for connected browsers, and offer a way to remove content views.
"""

from collections.abc import Sequence

from mitmproxy import contentviews, flow, options
from mitmproxy.master import Master
from mitmproxy.tools.web.app import ClientConnection
from mitmproxy.tools.web.master import WebMaster

from addons.certificate_files import CertificateFiles
from addons.content_view import ProtectedView
from addons.options import FREE
from addons.patches.mitmweb_access import BoundedApplication
from addons.patches.mitmweb_operators import Editors, Operators, mark_cookies
from addons.patches.tornado_server import make_server
from gateway.config.listener_urls import name_of, url_of
from gateway.config.settings import Settings

CHECKED_WITH = "12.2.3"

# The content views of mitmweb for what model providers send. Those for binary protocols take up to 0.2 s to fail where
# `RUST_BACKTRACE` is set, in the thread that serves clients, and show the paths of this machine.
_VIEWS = frozenset(
    {"hex dump", "hex stream", "image", "json", "multipart form", "query", "raw", "url-encoded", "xml/html"}
)

# Browsers open six; those that show the list of flows are not counted.
_CONNECTIONS = 256


class QuietWebMaster(WebMaster):
    """mitmweb that serializes flows only while a browser is connected: that takes longer than protecting them."""

    def __init__(self, opts: options.Options, settings: Settings, certificates: CertificateFiles | None) -> None:
        super().__init__(opts, with_termlog=False)
        self._settings = settings
        self._certificates = certificates if settings.speaks_tls("web") else None
        names = (settings.web_host, name_of(settings, "web", settings.web_host), *settings.web_names)
        self.app = BoundedApplication(self, names, settings.body_limit_bytes)
        tokens = {name: token.get_secret_value() for name, token in settings.web_tokens.items()}
        Operators(tokens, self.app.settings["is_valid_password"]).install(self.app.settings)
        self._editors = Editors()
        self._update = self.view.update
        self.view.update = self._update_noted  # type: ignore[method-assign]
        self._add = self.view.add
        self.view.add = self._add_released  # type: ignore[method-assign]

    @property
    def web_url(self) -> str:
        """Returns the address of mitmweb, with the token unless operators have their own."""
        token = "" if self._settings.web_tokens else super().web_url.rpartition("/")[2]
        return f"{url_of(self._settings, 'web', self._settings.web_port)}/{token}"

    async def running(self) -> None:
        settings = self._settings
        mark_cookies()
        server = make_server(
            self.app,
            self._certificates,
            name="mitmweb",
            most_connections=_CONNECTIONS,
            head_seconds=settings.head_timeout_seconds,
            idle_seconds=settings.idle_timeout_seconds,
        )
        server.listen(settings.web_port, settings.web_host)
        await Master.running(self)

    def _add_released(self, flows: Sequence[flow.Flow]) -> None:
        """Adds flows to the list. None is held yet: a duplicate of one that is held has no client that waits for it."""
        for each in flows:
            each.intercepted = False
        self._add(flows)

    def _update_noted(self, flows: Sequence[flow.Flow]) -> None:
        for each in flows:
            self._editors.note(each)
        self._update(flows)

    def _sig_view_add(self, flow: flow.Flow) -> None:
        if ClientConnection.connections:
            super()._sig_view_add(flow)

    def _sig_view_update(self, flow: flow.Flow) -> None:
        if ClientConnection.connections:
            super()._sig_view_update(flow)

    def _sig_options_update(self, updated: set[str]) -> None:
        if updated & FREE:
            super()._sig_options_update(updated & FREE)

    def _sig_servers_changed(self) -> None:
        """Leaves out the listeners, which are set in the gateway's settings."""


def use_own_views() -> None:
    """Leaves the content views that show model traffic, and adds the gateway's, in this process."""
    for view in contentviews.registry.keys() - _VIEWS:
        del contentviews.registry._by_name[view]
    contentviews.add(ProtectedView())
