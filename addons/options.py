"""The options and commands of mitmproxy that operators may use in mitmweb: those that change what they see.

mitmweb lets an operator edit every option and call every command while the proxy runs. Those that would let bytes
bypass our hooks, keep restored text in a flow, trust another upstream, run a program or access a file are refused, as
mitmproxy refuses any invalid option, or removed.
"""

from typing import Any

from mitmproxy import ctx, exceptions
from mitmproxy.options import Options

# Each with the reason that an operator reads on trying to change it.
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


# Options that control which flows are intercepted and shown, and how.
FREE = frozenset(
    {"intercept", "intercept_active", "view_filter", "view_order", "view_order_reversed", "web_columns", "showhost"}
    | {"content_view_lines_cutoff", "console_focus_follow", "command_history", "export_preserve_original_ip"}
)

# Commands that read or change the list of flows, and `set`, which `SealedOptions` checks. All others are removed, among
# them those that run a script, open a browser, load options, inject messages, or access a file by its path.
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
    """mitmproxy's options. Once sealed, only those in `FREE` can be changed.

    Refuses a change before it is made: mitmproxy would make it, call the addons and roll it back, and some addons act
    on both steps (mitmweb's creates a new token).
    """

    def __init__(self) -> None:
        # Must be set first: afterwards, mitmproxy treats every attribute as an option.
        self._sealed = False
        super().__init__()

    def seal(self) -> None:
        """Makes all options but those in `FREE` immutable."""
        self.__dict__["_sealed"] = True

    def update_known(self, **wanted: Any) -> dict[str, Any]:
        if self._sealed:
            for name in wanted.keys() & self.keys() - FREE:
                if not _same(wanted[name], getattr(self, name)):
                    raise _fixed(name)
        unknown: dict[str, Any] = super().update_known(**wanted)
        return unknown


class OptionGuard:
    """Refuses changes to the required options and to those set at the start (`fixed`)."""

    def __init__(self, fixed: dict[str, Any]) -> None:
        self._required = {name: value for name, (value, _) in REQUIRED.items()} | fixed

    def configure(self, updated: set[str]) -> None:
        for name in updated & self._required.keys():
            if not _same(getattr(ctx.options, name), self._required[name]):
                raise _fixed(name)


def _same(value: Any, wanted: Any) -> bool:
    return bool((list(value) if isinstance(wanted, list | tuple) and value is not None else value) == wanted)


def _fixed(name: str) -> exceptions.OptionsError:
    reason = REQUIRED[name][1] if name in REQUIRED else "set it in the gateway's settings"
    return exceptions.OptionsError(f"`{name}` is fixed: {reason}.")
