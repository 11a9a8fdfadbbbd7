"""What of mitmproxy operators may change or call in mitmweb: what they see, and nothing else.

mitmweb lets an operator edit every option and call every command while the proxy runs. One that would let bytes pass
without our hooks, keep restored text in a flow, trust another upstream, run a program or reach a file of the machine is
refused the way mitmproxy refuses any bad option, or is not there.
"""

from typing import Any

from mitmproxy import ctx, exceptions
from mitmproxy.options import Options

# Each with the reason, which is what an operator reads when he tries to change it.
REQUIRED: dict[str, tuple[Any, str]] = {
    "stream_large_bodies": (None, "bodies would be forwarded before they are protected"),
    "store_streamed_bodies": (False, "restored text would be kept in flows"),
    "connection_strategy": ("lazy", "a connection may only be opened once the request is protected"),
    "websocket": (False, "WebSocket messages cannot be protected"),
    "rawtcp": (False, "raw TCP cannot be protected"),
    "http2": (False, "credentials are kept out of flows for HTTP/1.1 only"),
    "http3": (False, "credentials are kept out of flows for HTTP/1.1 only"),
    "keep_host_header": (False, "the upstream decides by its own host name"),
    "show_ignored_hosts": (False, "traffic that is passed through untouched is not ours to show"),
    "validate_inbound_headers": (True, "malformed headers allow request smuggling"),
    "ignore_hosts": ([], "hosts are chosen by intercept_hosts in the gateway's settings"),
    "map_remote": ([], "requests go where the gateway's settings say"),
    "map_local": ([], "answers come from the upstream"),
    "modify_body": ([], "bodies are changed after they were protected"),
    "modify_headers": ([], "headers are changed after they were protected"),
    "scripts": ([], "a script could see what is not protected yet"),
    "server_replay": ([], "a replayed answer has no exchange to belong to"),
    "client_replay": ([], "a replayed request has no caller"),
    "stickyauth": (None, "credentials would be kept in flows"),
    "stickycookie": (None, "credentials would be kept in flows"),
    "tcp_hosts": ([], "raw TCP cannot be protected"),
    "udp_hosts": ([], "raw UDP cannot be protected"),
}


# Which flows are held and shown, and how.
FREE = frozenset(
    {"intercept", "intercept_active", "view_filter", "view_order", "view_order_reversed", "web_columns", "showhost"}
    | {"content_view_lines_cutoff", "console_focus_follow", "command_history", "export_preserve_original_ip"}
)

# Commands that look at the list or change it, and `set`, which the guard of the options hears of. All others go, with
# them those that run a script, open a browser, load options, inject messages, or write and read any file by its path.
COMMANDS = frozenset(
    {"set", "cut", "export", "export.formats", "eventstore.clear", "replay.client", "proxyserver.active_connections"}
    | {f"commands.history.{name}" for name in ("add", "clear", "filter", "get", "next", "prev")}
    | {f"flow.{name}" for name in ("comment", "mark", "mark.toggle", "kill", "resume", "revert", "set", "set.options")}
    | {f"flow.{name}" for name in ("decode", "encode", "encode.options", "encode.toggle")}
    | {f"view.{name}" for name in ("clear", "clear_unmarked", "filter.set", "flows.duplicate", "flows.remove")}
    | {f"view.{name}" for name in ("flows.resolve", "focus.go", "focus.next", "focus.prev", "order", "order.options")}
    | {f"view.{name}" for name in ("order.reverse", "order.set", "settings.getval", "settings.setval")}
    | {f"view.properties.{name}" for name in ("inbounds", "length", "marked", "marked.toggle")}
    | {"view.settings.setval.toggle"}
)


class SealedOptions(Options):
    """mitmproxy's options; once sealed, only the free ones can be changed.

    A change is refused before it is made: mitmproxy would make it, ask the addons and take it back, and some addons act
    on both (mitmweb's gets a new token).
    """

    def __init__(self) -> None:
        # Before all else: later, mitmproxy takes every attribute for an option.
        self._sealed = False
        super().__init__()

    def seal(self) -> None:
        """From now on the options stay as they are."""
        self.__dict__["_sealed"] = True

    def update_known(self, **wanted: Any) -> dict[str, Any]:
        if self._sealed:
            for name in wanted.keys() & self.keys() - FREE:
                if not _same(wanted[name], getattr(self, name)):
                    raise _fixed(name)
        unknown: dict[str, Any] = super().update_known(**wanted)
        return unknown


class OptionGuard:
    """Keeps the required options, and those given at start (`fixed`), as they are."""

    def __init__(self, fixed: dict[str, Any]) -> None:
        self._required = {name: value for name, (value, _) in REQUIRED.items()} | fixed

    def configure(self, updated: set[str]) -> None:
        for name in updated & self._required.keys():
            if not _same(getattr(ctx.options, name), self._required[name]):
                raise _fixed(name)


def _same(value: Any, wanted: Any) -> bool:
    return bool((list(value) if isinstance(wanted, list | tuple) and value is not None else value) == wanted)


def _fixed(name: str) -> exceptions.OptionsError:
    reason = REQUIRED[name][1] if name in REQUIRED else "the gateway's settings say what it is"
    return exceptions.OptionsError(f"`{name}` is fixed: {reason}.")
