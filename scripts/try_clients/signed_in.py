"""The clients that sign in with their vendor, with made-up credentials."""

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .clients import CODEX_COMMAND, COPILOT_COMMAND, Api, Client
from .turns import repeats
from .upstream import Upstream
from .vendors import ACCOUNT


def _token(claims: Mapping[str, object]) -> str:
    """Returns a JWT of which clients read the claims alone."""
    parts = ({"alg": "RS256", "typ": "JWT"}, claims)
    coded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*coded, "c2lnbmF0dXJlLW1hZGUtdXA"])


_ACCESS = _token(
    {
        "exp": int(time.time()) + 864000,
        "email": "a@b.test",
        "https://api.openai.com/auth": {"chatgpt_account_id": ACCOUNT, "chatgpt_plan_type": "pro"},
    }
)
_CODEX_AUTH = json.dumps(
    {
        "auth_mode": "chatgpt",
        "OPENAI_API_KEY": None,
        "tokens": {"id_token": _ACCESS, "access_token": _ACCESS, "refresh_token": "made-up", "account_id": ACCOUNT},
        "last_refresh": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
)
_GOOGLE = "ya29.a0AfMadeUpMadeUpMadeUpMadeUp4711"
_GOOGLE_AUTH = json.dumps(
    {
        "access_token": _GOOGLE,
        "refresh_token": "1//made-up",
        "scope": "https://www.googleapis.com/auth/cloud-platform",
        "token_type": "Bearer",
        "expiry_date": int((time.time() + 3600) * 1000),
    }
)
_GEMINI = {"security": {"auth": {"selectedType": "oauth-personal"}}, "general": {"enableAutoUpdate": False}}
_GITHUB = "gho_" + "MadeUp4711" * 3 + "abcdef"
_CLAUDE = "sk-ant-oat01-" + "MadeUp4711" * 8 + "-AA"
_CLAUDE_COMMAND = ("claude", "-p", "{prompt}", "--allowedTools", "Bash")
_COPILOT_WIRES: dict[str, tuple[Api, str]] = {
    "chat completions": ("openai", "/chat/completions"),
    "Responses": ("openai", "/responses"),
    "Responses over a WebSocket": ("openai", "/responses ws:/responses"),
    "Messages": ("anthropic", "/v1/messages"),
}


def _braces(text: str) -> str:
    """Returns a text that `format` leaves as it is."""
    return text.replace("{", "{{").replace("}", "}}")


@dataclass(frozen=True)
class SignedIn(Client):
    """A client that has signed in. `sends` are headers that its host requires, with how their values begin.

    `base` are the variables for the gateway's base URL, if it has a way there. `wire` is the call that its host offers,
    where the client asks for that.
    """

    sends: dict[str, str] = field(default_factory=dict)
    base: dict[str, str] = field(default_factory=dict)
    wire: str = ""
    modes: tuple[bool, ...] = (True,)


def signed_in_problem(client: SignedIn, upstream: Upstream, folder: Path) -> str | None:
    """Returns what is wrong with the headers and turns that reached the upstream, or with what the gateway kept."""
    for name, value in client.sends.items():
        if not all(name in head and head[name].startswith(value) for head in upstream.heads):
            return f"`{name}` did not arrive"
    kept = b"".join(file.read_bytes() for file in (folder / "log", *(folder / "data").glob("*")) if file.is_file())
    secrets = [value.removeprefix("Bearer ").encode() for value in client.sends.values() if len(value) > 20]
    if any(secret in kept for secret in secrets):
        return "the gateway kept a credential"
    return None if repeats(upstream.bodies) else "a turn differs from the one before"


SIGNED_IN = (
    *(
        SignedIn(
            f"codex with a ChatGPT account, over {'a WebSocket' if socket else 'HTTP'}",
            "agent",
            ("@openai/codex",),
            "openai",
            command=CODEX_COMMAND,
            files={".codex/auth.json": _braces(_CODEX_AUTH), ".codex/config.toml": 'model = "{model}"\n'},
            sends={
                "authorization": f"Bearer {_ACCESS}",
                "chatgpt-account-id": ACCOUNT,
                "originator": "codex_",
                "session-id": "",
                "thread-id": "",
            },
            socket=socket,
        )
        for socket in (False, True)
    ),
    SignedIn(
        "gemini-cli with a Google account",
        "agent",
        ("@google/gemini-cli",),
        "gemini",
        command=("gemini", "--yolo", "--skip-trust", "-m", "{model}", "-p", "{prompt}"),
        files={
            ".gemini/oauth_creds.json": _braces(_GOOGLE_AUTH),
            ".gemini/settings.json": _braces(json.dumps(_GEMINI)),
        },
        sends={"authorization": f"Bearer {_GOOGLE}"},
    ),
    SignedIn(
        "Claude Code with a subscription",
        "agent",
        ("@anthropic-ai/claude-code",),
        "anthropic",
        command=_CLAUDE_COMMAND,
        variables={"CLAUDE_CODE_OAUTH_TOKEN": _CLAUDE},
        base={"ANTHROPIC_BASE_URL": "{base}", "ANTHROPIC_CUSTOM_HEADERS": "X-SVC-Key: {key}"},
        sends={"authorization": f"Bearer {_CLAUDE}", "anthropic-beta": "", "x-app": "cli"},
    ),
    *(
        SignedIn(
            f"GitHub Copilot's command line, {name}",
            "agent",
            ("@github/copilot",),
            api,
            command=COPILOT_COMMAND,
            variables={"COPILOT_GITHUB_TOKEN": _GITHUB, "COPILOT_AUTO_UPDATE": "false"},
            sends={"authorization": f"Bearer {_GITHUB}", "copilot-integration-id": "", "x-initiator": ""},
            wire=wire,
            socket="ws:" in wire,
            may_fall_back="ws:" in wire,
        )
        for name, (api, wire) in _COPILOT_WIRES.items()
    ),
)
