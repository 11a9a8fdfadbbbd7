"""Builds the mitmproxy master: which addons run, in which order, and with which options.

Safety depends on the order: our addons run before those that save, show or intercept a flow. It also depends on the
selection: addons that would read, replay or redirect unprotected requests are removed.
"""

from collections.abc import Sequence
from math import ceil
from typing import Any

from mitmproxy import master
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.tools.dump import DumpMaster

from addons.certificate_authority import upstream_authorities
from addons.certificate_files import CertificateFiles
from addons.options import COMMANDS, REQUIRED, OptionGuard, SealedOptions
from addons.patches.hook_dispatch import dispatch_directly
from addons.patches.quiet_web_master import QuietWebMaster, use_own_views
from gateway.config.settings import Settings

# The upstream of the reverse listener: a name that never resolves (RFC 2606), so that nothing leaves by default.
NOWHERE = "http://gateway.invalid:1"
_NOWHERE_PATTERN = r"^gateway\.invalid:1$"
# Seconds without data after which mitmproxy closes a connection: its default, or more than the longest timeout.
_SILENCE_SECONDS, _MORE_SECONDS = 600, 30
# mitmproxy aborts a connection in the middle of a body over its own limit. With a higher one, our limits come first
# and the client gets a proper response.
_HARD_LIMIT = 4

# The addons that the listeners need, and those that operators use in mitmweb. All others are removed.
_LISTENERS = frozenset({"core", "block", "disableh2c", "proxyserver", "dnsresolver", "nextlayer", "tlsconfig"})
_OPERATORS = frozenset(
    {"comment", "cut", "export", "save", "savehar", "webaddon", "webauth", "intercept", "staticviewer", "view"}
    | {"eventstore", "commandhistory"}
)
_COLUMNS = ["timestamp", "status", "comment", "method", "path", "size", "time"]
_KEPT = _LISTENERS | _OPERATORS | {"errorcheck"}


def build_master(
    settings: Settings,
    ours: Sequence[object],
    last: Sequence[object] = (),
    certificates: CertificateFiles | None = None,
) -> master.Master:
    """Builds a master that runs `ours` before, and `last` after, every addon that sees flows. Needs an event loop.

    mitmweb uses the `certificates`; `ours` have to, too.

    Raises OptionsError for an unknown mode.
    """
    listeners = [f"reverse:{NOWHERE}@{settings.host}:{settings.gateway_port}"]
    if settings.proxy:
        listeners.append(f"regular@{settings.proxy_host}:{settings.proxy_port}")
    fixed: dict[str, Any] = {
        "mode": [*listeners, *settings.modes],
        "body_size_limit": str(max(_HARD_LIMIT * settings.body_limit_bytes, settings.response_limit_bytes)),
        # Has SOCKS5 ask for a password, which `ProxyKey` checks. mitmproxy's own addon would not accept this value.
        "proxyauth": "gateway key" if settings.proxy_key else None,
        "confdir": str(settings.certs_dir),
        **changing_options(settings),
    }
    opts = SealedOptions()
    result: master.Master = (
        QuietWebMaster(opts, settings, certificates)
        if settings.web
        else DumpMaster(opts, with_termlog=False, with_dumper=False)
    )
    _insert(result, [OptionGuard(fixed), *ours], last)
    opts.update(**{name: value for name, (value, _) in REQUIRED.items() if name in opts}, **fixed)
    if settings.web:
        opts.update(
            web_host=settings.web_host, web_port=settings.web_port, web_open_browser=False, web_columns=_COLUMNS
        )
        use_own_views()
    opts.seal()
    for name in result.commands.commands.keys() - COMMANDS:
        del result.commands.commands[name]
    return result


def changing_options(settings: Settings) -> dict[str, Any]:
    """Returns the options that a reload changes, with `OptionGuard.change`. Raises OSError."""
    upstream_ca = upstream_authorities(settings.certs_dir, settings.upstream_ca_files)
    longest = max(settings.longest_timeout, settings.tunnel_timeout_seconds)
    return {
        "allow_hosts": [_NOWHERE_PATTERN, *settings.intercept_regexes],
        # It also closes the client connection, so no error could be sent.
        "tcp_timeout": max(_SILENCE_SECONDS, ceil(longest) + _MORE_SECONDS),
        "ssl_verify_upstream_trusted_ca": str(upstream_ca) if upstream_ca else None,
    }


def _insert(result: master.Master, ours: Sequence[object], last: Sequence[object]) -> None:
    """Removes the addons that are not kept, and puts ours around those that see flows."""
    manager = result.addons
    theirs = [addon for addon in manager.chain if type(addon).__name__.lower() in _KEPT]
    manager.add(*ours, *last)
    # Not `remove`, which calls the `done` hook of an addon that never ran.
    manager.lookup = {name: addon for name, addon in manager.lookup.items() if addon in (*theirs, *ours, *last)}
    place = 1 + next(index for index, addon in enumerate(theirs) if isinstance(addon, Proxyserver))
    manager.chain = [*theirs[:place], *ours, *theirs[place:], *last]
    dispatch_directly(manager)
