"""What looks signed or encrypted crosses unchanged, but only in blocks of the provider, and no key of a vendor does."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.config.settings import load_settings
from gateway.container import Container
from gateway.errors import BadRequest
from gateway.wires import Body, Wire
from gateway.wires.anthropic_messages import WIRE as ANTHROPIC
from gateway.wires.gemini import WIRE as GEMINI
from gateway.wires.responses import WIRE as RESPONSES
from tests.gateway.wires.leaks import crossing

KEYS = {
    "provider key": "sk-proj-" + "Zk3Jx9QmV2bTz8LrWp5Ny7HdSc4Gf6AeUoX1qRt0",
    "code host token": "ghp_" + "k3Jx9QmV2bTz8LrWp5Ny7HdSc4Gf6AeUoX1q",
    "cloud key": "AKIA" + "QX7RJ2M4K5T6W3ZP",
}
SIGNED = "Made1Up2" * 8 + "=="


def claude(*content: Body, role: str = "user", **members: Any) -> tuple[Wire, Body]:
    said = {"role": "user", "content": "x"}
    return ANTHROPIC, {
        "model": "m",
        "max_tokens": 9,
        "messages": [said, {"role": role, "content": [*content]}],
        **members,
    }


def responses(*items: Body, **members: Any) -> tuple[Wire, Body]:
    return RESPONSES, {"model": "m", "input": [*items], **members}


def gemini(part: Body, role: str = "user") -> tuple[Wire, Body]:
    return GEMINI, {"contents": [{"role": role, "parts": [part]}]}


def places(value: str) -> dict[str, tuple[Wire, Body]]:
    schema = {"type": "object", "properties": {"s": {"default": {"type": "redacted_thinking", "data": value}}}}
    text = {"type": "text", "text": "x"}
    return {
        "signature of a text": claude({**text, "signature": value}),
        "encrypted text": claude({**text, "encrypted_content": value}),
        "index of a text": claude({**text, "encrypted_index": value}),
        "signature of a request": claude(text, signature=value),
        "signature of a user's thought": claude({"type": "thinking", "thinking": "x", "signature": value}),
        "redacted thought of a user": claude({"type": "redacted_thinking", "data": value}),
        "signature of a setting": claude(text, thinking={"type": "enabled", "budget_tokens": 9, "signature": value}),
        "schema": claude(text, tools=[{"name": "q", "input_schema": schema}]),
        "signature of a thought": claude({"type": "thinking", "thinking": "", "signature": value}, role="assistant"),
        "encrypted message": responses({"type": "message", "role": "user", "encrypted_content": value, "content": "x"}),
        "encrypted input": responses(
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "x", "encrypted_content": value}],
            }
        ),
        "encrypted request": responses({"role": "user", "content": "x"}, encrypted_content=value),
        "encrypted metadata": responses({"role": "user", "content": "x"}, metadata={"encrypted_content": value}),
        "encrypted reasoning": responses({"type": "reasoning", "id": "r", "summary": [], "encrypted_content": value}),
        "thought of a user": gemini({"text": "x", "thoughtSignature": value}),
        "thought of a user, in snake case": gemini({"text": "x", "thought_signature": value}),
        "thought of a model": gemini({"text": "x", "thoughtSignature": value}, role="model"),
    }


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("opaque"), detection="patterns")
    async with await Container.start(settings) as running:
        yield running


async def crossed(container: Container, wire: Wire, body: Body) -> str:
    path = "/v1beta/models/m:generateContent" if wire is GEMINI else ""
    return str(await crossing(container, wire, body, path))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("place", places(""))
async def test_no_key_of_a_vendor_crosses(container: Container, place: str, key: str) -> None:
    assert KEYS[key] not in await crossed(container, *places(KEYS[key])[place])


@pytest.mark.parametrize("place", ["signature of a thought", "encrypted reasoning", "thought of a model"])
async def test_what_a_provider_wrote_crosses(container: Container, place: str) -> None:
    assert SIGNED in await crossed(container, *places(SIGNED)[place])


@pytest.mark.parametrize("place", ["signature of a user's thought", "redacted thought of a user"])
async def test_what_only_looks_like_it_is_searched(container: Container, place: str) -> None:
    secret = "q8Zt5Rw2" + "Lm7Xc4Vb9Ns1"
    wire, body = places(secret)[place]
    body["messages"][0]["content"] = f"api_key = {secret}"
    assert secret not in await crossed(container, wire, body)


async def test_what_is_hidden_elsewhere_does_not_cross_in_it(container: Container) -> None:
    secret = "q8Zt5Rw2" + "Lm7Xc4Vb9Ns1"
    said = {"role": "user", "content": f"api_key = {secret}"}
    with pytest.raises(BadRequest, match="signature or encrypted") as refused:
        await crossed(
            container,
            *responses({"type": "reasoning", "id": "r", "summary": [], "encrypted_content": secret}, said),
        )
    assert secret not in str(refused.value)
