"""The clients, what they are installed from, and how each is run."""

from dataclasses import dataclass, field
from typing import Literal

PROGRAMS = "programs"
type Api = Literal["openai", "anthropic", "gemini"]


@dataclass(frozen=True)
class Client:
    """A client. `api` decides the model and the upstream; `variables` are set besides those that all programs get.

    In `variables` and `command`, `{base}`, `{key}`, `{model}` and `{prompt}` are filled in. A client without `modes`
    for both always streams, or never does. `socket` is whether it keeps a WebSocket, and `may_fall_back`
    whether it may continue over HTTP when it loses one.
    """

    name: str
    kind: Literal["python", "node", "agent", "curl"]
    packages: tuple[str, ...]
    api: Api
    program: str = ""
    command: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    modes: tuple[bool, ...] = (False, True)
    files: dict[str, str] = field(default_factory=dict)
    has_tools: bool = True
    socket: bool = False
    may_fall_back: bool = False


CODEX = """\
model = "{model}"
model_provider = "gateway"
[model_providers.gateway]
name = "gateway"
base_url = "{base}/v1"
env_key = "KEY"
wire_api = "responses"
"""
CODEX_COMMAND = (
    *("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
    "{prompt}",
)
COPILOT_COMMAND = (
    *("copilot", "-p", "{prompt}", "--allow-all-tools", "--no-color", "--no-auto-update"),
    *("--model", "{model}"),
)
OPENCODE = """\
{{"provider": {{"gateway": {{"npm": "@ai-sdk/openai-compatible",
"options": {{"baseURL": "{base}/v1", "apiKey": "{key}"}}, "models": {{"{model}": {{}}}}}}}},
"model": "gateway/{model}", "autoupdate": false, "share": "disabled"}}
"""
GEMINI = """\
{{"security": {{"auth": {{"selectedType": "gemini-api-key"}}}},
"privacy": {{"usageStatisticsEnabled": false}}, "general": {{"enableAutoUpdate": false}}}}
"""
_QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
_CURL = (
    "curl -sS --fail-with-body {base}/v1/chat/completions -H 'authorization: Bearer {key}'"
    " -H 'content-type: application/json'"
    ' -d \'{{"model": "{model}", "messages": [{{"role": "user", "content": "{prompt}"}}]}}\''
)

CLIENTS = (
    Client("curl, without tools", "curl", (), "openai", command=("sh", "-c", _CURL), modes=(False,), has_tools=False),
    Client("openai (Python), chat completions", "python", ("openai",), "openai", "openai_chat.py"),
    Client("openai (Python), Responses", "python", ("openai",), "openai", "openai_responses.py"),
    Client(
        "openai (Python), Responses over a WebSocket",
        "python",
        ("openai[realtime]",),
        "openai",
        "openai_socket.py",
        modes=(True,),
        socket=True,
    ),
    Client("anthropic (Python)", "python", ("anthropic",), "anthropic", "anthropic_messages.py"),
    Client("openai (Python), files and batches", "python", ("openai",), "openai", "openai_batch.py", modes=(False,)),
    Client(
        "anthropic (Python), message batches",
        "python",
        ("anthropic",),
        "anthropic",
        "anthropic_batch.py",
        modes=(False,),
    ),
    Client("google-genai (Python)", "python", ("google-genai",), "gemini", "google_genai.py"),
    Client("langchain-openai", "python", ("langchain-openai",), "openai", "langchain_openai.py"),
    Client("litellm", "python", ("litellm", "mcp"), "openai", "litellm_chat.py"),
    Client("llm", "python", ("llm",), "openai", "llm_chain.py"),
    Client("pydantic-ai", "python", ("pydantic-ai-slim[openai]",), "openai", "pydantic_ai.py"),
    Client(
        "openai-agents",
        "python",
        ("openai-agents",),
        "openai",
        "openai_agents.py",
        variables={"OPENAI_API_KEY": "{key}", "OPENAI_AGENTS_DISABLE_TRACING": "1"},
    ),
    Client("openai (Node.js)", "node", ("openai",), "openai", "openai.mjs"),
    Client("@anthropic-ai/sdk", "node", ("@anthropic-ai/sdk",), "anthropic", "anthropic.mjs"),
    Client("@google/genai", "node", ("@google/genai",), "gemini", "genai.mjs"),
    Client("ai with @ai-sdk/openai", "node", ("ai", "@ai-sdk/openai", "zod"), "openai", "ai_sdk.mjs"),
    Client(
        "@langchain/openai",
        "node",
        ("@langchain/openai", "@langchain/core", "zod"),
        "openai",
        "langchain.mjs",
    ),
    Client(
        "Claude Code",
        "agent",
        ("@anthropic-ai/claude-code",),
        "anthropic",
        command=("claude", "-p", "{prompt}", "--allowedTools", "Bash"),
        variables={"ANTHROPIC_BASE_URL": "{base}", "ANTHROPIC_API_KEY": "{key}", **_QUIET},
        modes=(True,),
    ),
    Client(
        "codex",
        "agent",
        ("@openai/codex",),
        "openai",
        command=CODEX_COMMAND,
        files={".codex/config.toml": CODEX},
        modes=(True,),
    ),
    Client(
        "codex over a WebSocket",
        "agent",
        ("@openai/codex",),
        "openai",
        command=CODEX_COMMAND,
        files={".codex/config.toml": CODEX + "supports_websockets = true\n"},
        modes=(True,),
        socket=True,
    ),
    *(
        Client(
            f"GitHub Copilot's command line with an API key{', over a WebSocket' if socket else ''}",
            "agent",
            ("@github/copilot",),
            "openai",
            command=COPILOT_COMMAND,
            variables={
                "COPILOT_PROVIDER_TYPE": "openai",
                "COPILOT_PROVIDER_BASE_URL": "{base}/v1",
                "COPILOT_PROVIDER_API_KEY": "{key}",
                **(
                    {"COPILOT_PROVIDER_WIRE_API": "responses", "COPILOT_PROVIDER_TRANSPORT": "websockets"}
                    if socket
                    else {}
                ),
                "COPILOT_AUTO_UPDATE": "false",
            },
            modes=(True,),
            socket=socket,
            may_fall_back=socket,
        )
        for socket in (False, True)
    ),
    Client(
        "qwen-code",
        "agent",
        ("@qwen-code/qwen-code",),
        "openai",
        command=("qwen", "--auth-type", "openai", "--yolo", "-p", "{prompt}"),
        variables={"OPENAI_BASE_URL": "{base}/v1", "OPENAI_API_KEY": "{key}", "OPENAI_MODEL": "{model}"},
        modes=(True,),
    ),
    Client(
        "gemini-cli",
        "agent",
        ("@google/gemini-cli",),
        "gemini",
        command=("gemini", "--yolo", "--skip-trust", "-m", "{model}", "-p", "{prompt}"),
        variables={"GOOGLE_GEMINI_BASE_URL": "{base}", "GEMINI_API_KEY": "{key}"},
        files={".gemini/settings.json": GEMINI},
        modes=(True,),
    ),
    Client(
        "opencode",
        "agent",
        ("opencode-ai",),
        "openai",
        command=("opencode", "run", "{prompt}"),
        files={".config/opencode/opencode.json": OPENCODE},
        modes=(True,),
    ),
)
MODELS = {"openai": "gpt-5", "anthropic": "claude-sonnet-5", "gemini": "gemini-3-pro"}
