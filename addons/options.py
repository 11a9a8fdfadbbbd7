"""The mitmproxy options the laws rest on, and their guard: none of them can be changed, at start or later.

mitmweb lets an operator edit options while the proxy runs. A change that would let bytes pass without our hooks, or
keep restored text in a flow, is refused the way mitmproxy refuses any bad option.
"""

from typing import Any

from mitmproxy import ctx, exceptions

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


class OptionGuard:
    """Keeps the required options, and those given at start (`fixed`), as they are."""

    def __init__(self, fixed: dict[str, Any]) -> None:
        self._required = {name: value for name, (value, _) in REQUIRED.items()} | fixed

    def configure(self, updated: set[str]) -> None:
        for name in updated & self._required.keys():
            value = getattr(ctx.options, name)
            wanted = self._required[name]
            if (list(value) if isinstance(wanted, list) else value) != wanted:
                reason = REQUIRED[name][1] if name in REQUIRED else "it is set by the gateway's settings"
                raise exceptions.OptionsError(f"`{name}` is fixed: {reason}.")
