"""The clients of cloud providers, each at the host that it calls by default, with made-up credentials."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from .signed_in import SignedIn, signed_in_problem
from .upstream import Upstream

# Put together, so that no scanner of this repository takes one for a live one.
AWS = {"OF_GATEWAY_ID": "AKIA" + "GATEWAYSOWNKEY12", "OF_GATEWAY_SECRET": "gateway" * 6}
_CLIENT_ID = "AKIA" + "CLIENTSOWNKEY123"
_GOOGLE = "ya29." + "MadeUp4711" * 4
_BEDROCK = "bedrock-runtime.us-east-1.amazonaws.com"
_VERTEX, _VERTEX_CLAUDE = "us-central1-aiplatform.googleapis.com", "us-east5-aiplatform.googleapis.com"
_AZURE, _FOUNDRY = "made-up.openai.azure.com", "made-up.services.ai.azure.com"
_AZURE_KEY = 'api_key_env = "UPSTREAM"\nkey_header = "api-key"'
_CLAUDE = "anthropic.claude-sonnet-5-v1:0"
# Name, API, base URL, models and other settings of each upstream.
_UPSTREAMS = (
    ("bedrock", "bedrock", f"https://{_BEDROCK}", _CLAUDE, 'api_key_env = "UPSTREAM"'),
    (
        "aws",
        "bedrock",
        f"https://{_BEDROCK}",
        f"us.{_CLAUDE}",
        'aws_access_key_id = "env:OF_GATEWAY_ID"\naws_secret_access_key = "env:OF_GATEWAY_SECRET"',
    ),
    ("vertex", "gemini", f"https://{_VERTEX}", "gemini-cloud", ""),
    ("vertex-claude", "anthropic", f"https://{_VERTEX_CLAUDE}", "claude-cloud@*", ""),
    ("azure", "openai", f"https://{_AZURE}/openai/deployments/azure-cloud", "azure-cloud", _AZURE_KEY),
    ("azure-models", "openai", f"https://{_FOUNDRY}/models", "model-cloud", _AZURE_KEY),
    ("azure-claude", "anthropic", f"https://{_FOUNDRY}/anthropic", "claude-cloud", _AZURE_KEY),
    ("cohere", "cohere", "https://api.cohere.com", "*", 'api_key_env = "UPSTREAM"'),
    ("ollama", "ollama", "https://ollama.com", "*", 'api_key_env = "UPSTREAM"'),
    ("mistral", "openai", "https://api.mistral.ai/v1", "mistral-*", 'api_key_env = "UPSTREAM"'),
)
# The upstream that the granted key may sign for.
GRANT = "aws"


def configuration() -> str:
    """The upstreams of the clouds, as TOML."""
    return "\n".join(
        f'[upstreams.{name}]\nwire = "{wire}"\nbase_url = "{base}"\nmodels = ["{model}"]\n{more}'
        for name, wire, base, model, more in _UPSTREAMS
    )


@dataclass(frozen=True)
class Cloud(SignedIn):
    """A client of `host`, through the proxy with its own key and at the gateway with that of the upstream.

    The key arrives in the header `credential`; `sends` has what arrives at both entrances instead. In `variables`,
    `{granted}` is a gateway key that was granted the upstream with AWS credentials.
    """

    host: str = ""
    model: str = ""
    credential: str = "authorization"
    modes: tuple[bool, ...] = (False, True)


def cloud_problem(
    client: Cloud, entrance: str, upstream: Upstream, folder: Path, secrets: Collection[str]
) -> str | None:
    """Returns what is wrong with the credentials and turns that reached the upstream. No secret may be there."""
    if any(secret.encode() in upstream.seen for secret in (*secrets, _CLIENT_ID)):
        return "a key for the gateway alone reached the upstream"
    key = "key-of-the-provider" if entrance == "proxy" else "key-of-the-upstream"
    sends = client.sends or {client.credential: f"Bearer {key}" if client.credential == "authorization" else key}
    return signed_in_problem(replace(client, sends=sends), upstream, folder)


def _bedrock(package: str, call: str, program: str) -> tuple[Cloud, ...]:
    own = {"AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}
    aws = {"AWS_ACCESS_KEY_ID": _CLIENT_ID, "AWS_SECRET_ACCESS_KEY": "client" * 6, "GRANTED": "{granted}"}
    return tuple(
        Cloud(
            f"{package.replace('[bedrock]', ' (Python)')}, {call}, {'signed' if signed else 'with an API key'}",
            "python",
            (package,),
            "anthropic",
            program,
            variables={"CLIENT": call, **own, **(aws if signed else {})},
            host=_BEDROCK,
            model=f"us.{_CLAUDE}" if signed else _CLAUDE,
            sends={"authorization": f"AWS4-HMAC-SHA256 Credential={AWS['OF_GATEWAY_ID']}/"} if signed else {},
        )
        for signed in (False, True)
    )


CLOUDS = (
    *_bedrock("boto3", "Converse", "bedrock.py"),
    *_bedrock("boto3", "InvokeModel", "bedrock.py"),
    *_bedrock("anthropic[bedrock]", "AnthropicBedrock", "anthropic_messages.py"),
    Cloud(
        "google-genai on Vertex AI",
        "python",
        ("google-genai",),
        "gemini",
        "google_genai.py",
        variables={"TOKEN": _GOOGLE},
        host=_VERTEX,
        model="gemini-cloud",
        sends={"authorization": f"Bearer {_GOOGLE}"},
    ),
    Cloud(
        "anthropic (Python), AnthropicVertex",
        "python",
        ("anthropic[vertex]",),
        "anthropic",
        "anthropic_messages.py",
        variables={
            "CLIENT": "AnthropicVertex",
            "TOKEN": _GOOGLE,
            "ANTHROPIC_VERTEX_PROJECT_ID": "made-up-project",
            "CLOUD_ML_REGION": "us-east5",
        },
        host=_VERTEX_CLAUDE,
        model="claude-cloud@20250514",
        sends={"authorization": f"Bearer {_GOOGLE}"},
    ),
    Cloud(
        "anthropic (Python), AnthropicFoundry",
        "python",
        ("anthropic",),
        "anthropic",
        "anthropic_messages.py",
        variables={"CLIENT": "AnthropicFoundry", "ANTHROPIC_FOUNDRY_RESOURCE": "made-up"},
        host=_FOUNDRY,
        model="claude-cloud",
        credential="api-key",
    ),
    Cloud(
        "openai (Python), AzureOpenAI",
        "python",
        ("openai",),
        "openai",
        "openai_chat.py",
        variables={"CLIENT": "AzureOpenAI"},
        host=_AZURE,
        model="azure-cloud",
        credential="api-key",
    ),
    Cloud(
        "azure-ai-inference",
        "python",
        ("azure-ai-inference",),
        "openai",
        "azure_inference.py",
        host=_FOUNDRY,
        model="model-cloud",
        credential="api-key",
    ),
    *(
        Cloud(name, "python", ("cohere",), "openai", program, host="api.cohere.com", model="command-a")
        for name, program in (("cohere", "cohere_chat.py"), ("cohere, first version", "cohere_generation.py"))
    ),
    Cloud("ollama", "python", ("ollama",), "openai", "ollama_chat.py", host="ollama.com", model="qwen3"),
    *(
        Cloud(
            f"mistralai, {name}",
            "python",
            ("mistralai",),
            "openai",
            "mistral_conversation.py" if method == "conversations" else "mistral_chat.py",
            variables={"METHOD": method},
            has_tools=not name.endswith("without tools"),
            host="api.mistral.ai",
            model=f"mistral-{method}",
        )
        for name, method in (
            ("chat", "chat"),
            ("agents", "agents"),
            ("code, without tools", "fim"),
            ("conversations, without tools", "conversations"),
        )
    ),
)
