"""Wires the gateway into mitmproxy: which addons run, in which order, under which options.

Order is part of the safety: ours come before everything that saves, shows or intercepts a flow. So is the selection:
addons that would act on what is not protected yet, replay it or send it elsewhere are taken out of the chain.
"""

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

from mitmproxy import addons, contentviews, flow, master, options
from mitmproxy.addons import errorcheck
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.tools.web.app import ClientConnection
from mitmproxy.tools.web.master import WebMaster

from addons.content_view import ProtectedView
from addons.options import COMMANDS, REQUIRED, OptionGuard, SealedOptions

# The reverse listener's own upstream: it leads nowhere, so that nothing reaches anybody by default (RFC 2606).
NOWHERE = "http://gateway.invalid:1"
_NOWHERE_PATTERN = r"^gateway\.invalid:1$"
# For how long mitmproxy keeps a connection without a byte: as it does by itself, but longer than we wait.
_SILENCE_SECONDS, _MORE_SECONDS = 600, 30


# What the listeners need, and what operators use in mitmweb. Everything else mitmproxy brings stays out.
_LISTENERS = frozenset({"core", "block", "disableh2c", "proxyserver", "dnsresolver", "nextlayer", "tlsconfig"})
_OPERATORS = frozenset(
    {"comment", "cut", "export", "save", "savehar", "webaddon", "webauth", "intercept", "staticviewer", "view"}
    | {"eventstore", "commandhistory"}
)
_COLUMNS = ["icon", "method", "path", "status", "comment", "size", "time"]
_KEPT = _LISTENERS | _OPERATORS | {"errorcheck"}


class HeadlessMaster(master.Master):
    """mitmproxy without a user interface."""

    def __init__(self, opts: options.Options) -> None:
        super().__init__(opts)
        self.addons.add(*addons.default_addons(), errorcheck.ErrorCheck())


class QuietWebMaster(WebMaster):
    """mitmweb that describes a flow only while a browser listens: describing takes longer than protecting it."""

    def _sig_view_add(self, flow: flow.Flow) -> None:
        if ClientConnection.connections:
            super()._sig_view_add(flow)

    def _sig_view_update(self, flow: flow.Flow) -> None:
        if ClientConnection.connections:
            super()._sig_view_update(flow)


def build_master(
    ours: Sequence[object],
    last: Sequence[object] = (),
    *,
    host: str,
    gateway_port: int,
    proxy_port: int,
    modes: Sequence[str],
    intercept_patterns: Sequence[str],
    confdir: Path,
    body_limit: int,
    upstream_ca: Path | None,
    longest_wait: float = 0,
    web: tuple[str, int] | None,
) -> master.Master:
    """A mitmproxy master that runs `ours` before, and `last` after, all that sees flows. Needs a running event loop.

    `intercept_patterns` are the regular expressions (on `host:port`) of what the proxy may decrypt; `web` is host and
    port of mitmweb, `longest_wait` how many seconds an upstream may take at most. Raises OptionsError for modes
    mitmproxy does not know.
    """
    fixed: dict[str, Any] = {
        "mode": [f"reverse:{NOWHERE}@{host}:{gateway_port}", f"regular@{host}:{proxy_port}", *modes],
        "allow_hosts": [_NOWHERE_PATTERN, *intercept_patterns],
        "body_size_limit": str(body_limit),
        "confdir": str(confdir),
        # It cuts the client off, too, so that nobody could be told why.
        "tcp_timeout": max(_SILENCE_SECONDS, ceil(longest_wait) + _MORE_SECONDS),
        "ssl_verify_upstream_trusted_ca": str(upstream_ca) if upstream_ca else None,
    }
    opts = SealedOptions()
    result: master.Master = QuietWebMaster(opts, with_termlog=False) if web else HeadlessMaster(opts)
    _insert(result, [OptionGuard(fixed), *ours], last)
    opts.update(**{name: value for name, (value, _) in REQUIRED.items() if name in opts}, **fixed)
    if web:
        opts.update(web_host=web[0], web_port=web[1], web_open_browser=False, web_columns=_COLUMNS)
        contentviews.add(ProtectedView())
    opts.seal()
    for name in result.commands.commands.keys() - COMMANDS:
        del result.commands.commands[name]
    return result


def _insert(result: master.Master, ours: Sequence[object], last: Sequence[object]) -> None:
    """Takes out what is not kept, and puts our addons around all that sees flows."""
    manager = result.addons
    theirs = [addon for addon in manager.chain if type(addon).__name__.lower() in _KEPT]
    manager.add(*ours, *last)
    # Not `remove`, which tells an addon that everything ends; these are to be as if they had never been there.
    manager.lookup = {name: addon for name, addon in manager.lookup.items() if addon in (*theirs, *ours, *last)}
    place = 1 + next(index for index, addon in enumerate(theirs) if isinstance(addon, Proxyserver))
    manager.chain = [*theirs[:place], *ours, *theirs[place:], *last]
