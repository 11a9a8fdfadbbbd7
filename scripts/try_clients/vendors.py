"""Plays the hosts of vendors to clients that have signed in: the outbound proxy of the gateway leads to it.

It answers CONNECT for any name, with a certificate of its own authority, and gives each call of a sign-in an answer
that lets the client go on. Models answer as `upstream.py` has them.
"""

import ssl
import threading
from collections.abc import Mapping

import trustme

from .upstream import TURNS, Handler, Json, Upstream

ACCOUNT = "0b9c3c1e-6d9a-4f4e-8f27-2f3f6f0d9a51"
_TIER = {"id": "standard-tier", "name": "Standard", "isDefault": True}
_COPILOT = "individual.githubcopilot.com"
_MODEL = {
    "object": "model",
    "vendor": "OpenAI",
    "model_picker_enabled": True,
    "preview": False,
    "policy": {"state": "enabled", "terms": ""},
    "capabilities": {
        "family": "gpt-5",
        "object": "model_capabilities",
        "type": "chat",
        "tokenizer": "o200k_base",
        "limits": {"max_prompt_tokens": 128000, "max_output_tokens": 64000, "max_context_window_tokens": 200000},
        "supports": {"tool_calls": True, "streaming": True, "parallel_tool_calls": True},
    },
}
# Answers by host and path. Any other call gets an empty object.
_ANSWERS: Mapping[tuple[str, str], Json] = {
    ("chatgpt.com", "/backend-api/wham/accounts/check"): {
        "accounts": [
            {
                "id": ACCOUNT,
                "plan_type": "pro",
                "structure": "personal",
                "workspace_backend_origin": "https://chatgpt.com",
                "account_routing_override": "NO_CONSTRAINT",
            }
        ],
        "default_account_id": ACCOUNT,
        "account_ordering": [ACCOUNT],
    },
    ("oauth2.googleapis.com", "/token"): {"access_token": "ya29.made-up", "expires_in": 3600, "token_type": "Bearer"},
    ("oauth2.googleapis.com", "/tokeninfo"): {"expires_in": "3600", "scope": "cloud-platform", "email": "a@b.test"},
    ("www.googleapis.com", "/oauth2/v2/userinfo"): {"id": "1", "email": "a@b.test"},
    ("cloudcode-pa.googleapis.com", "/v1internal:loadCodeAssist"): {
        "currentTier": _TIER,
        "allowedTiers": [_TIER],
        "cloudaicompanionProject": "made-up-project",
    },
    ("cloudcode-pa.googleapis.com", "/v1internal:listExperiments"): {"experimentIds": [], "flags": []},
    ("cloudcode-pa.googleapis.com", "/v1internal:retrieveUserQuota"): {"buckets": []},
    ("api.github.com", "/copilot_internal/user"): {
        "login": "made-up",
        "access_type_sku": "plus_monthly_subscriber_quota",
        "copilot_plan": "individual_pro",
        "chat_enabled": True,
        "endpoints": {
            "api": f"https://api.{_COPILOT}",
            "telemetry": f"https://telemetry.{_COPILOT}",
            "proxy": f"https://proxy.{_COPILOT}",
            "origin-tracker": f"https://origin-tracker.{_COPILOT}",
        },
    },
}


class Vendors(Upstream):
    """The hosts. `hosts` has all names that were asked for."""

    def __init__(self, authority: trustme.CA) -> None:
        super().__init__(handler=_VendorHandler)
        self.calls = TURNS
        self.hosts: list[str] = []
        self.wire = self.model = ""
        # Other clients find no network.
        self.is_open = False
        self._authority = authority
        self._lock = threading.Lock()
        self._contexts: dict[str, ssl.SSLContext] = {}

    def clear(self) -> None:
        super().clear()
        self.hosts.clear()

    def context(self, host: str) -> ssl.SSLContext:
        with self._lock:
            if host not in self._contexts:
                self._contexts[host] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                self._authority.issue_cert(host).configure_cert(self._contexts[host])
            return self._contexts[host]


class _VendorHandler(Handler):
    upstream: Vendors
    host = ""

    def do_CONNECT(self) -> None:  # noqa: N802
        if not self.upstream.is_open:
            self.send_error(502)
            return
        self.host = self.path.rpartition(":")[0]
        self.upstream.hosts.append(self.host)
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            self.connection = self.upstream.context(self.host).wrap_socket(self.connection, server_side=True)
        except (ssl.SSLError, OSError):
            self.close_connection = True
            return
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.close_connection = False

    def simple(self) -> Json | None:
        place = self.host, self.path.partition("?")[0]
        if place == (f"api.{_COPILOT}", "/models"):
            named = dict.fromkeys(("id", "name", "version"), self.upstream.model)
            return {"object": "list", "data": [{**_MODEL, **named, "supported_endpoints": self.upstream.wire.split()}]}
        return _ANSWERS.get(place)
