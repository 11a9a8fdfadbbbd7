"""Law 5 on every wire: fifty turns of an agent with tools repeat their bytes, in any process with the same key."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from tests.gateway.wires.leaks import sent_for
from tests.gateway.wires.turns import AGENTS, SIGNED, THOUGHT, Agent, marks

TURNS = 50


async def started(folder: Path) -> Container:
    settings = load_settings(None, data_dir=folder, detection="patterns", installation_key="the-same-key-" * 3)
    return await Container.start(settings)


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    async with await started(tmp_path_factory.mktemp("one")) as running:
        yield running


@pytest.fixture(scope="module")
async def other(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    """Shares the installation's key and nothing else, and takes the conversation over now and then."""
    async with await started(tmp_path_factory.mktemp("two")) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
async def test_fifty_turns_repeat_their_bytes(container: Container, other: Container, agent: Agent) -> None:
    before, keys = b"", set()
    for turn in range(TURNS):
        sent = agent.request(turn)
        sent_body = await sent_for(container, agent.wire, agent.request(turn), agent.path)
        body = json.loads(sent_body)
        now = agent.prompt(body)
        assert now.startswith(before)
        assert b"acme.test" not in sent_body
        assert list(marks(body)) == list(marks(sent))
        for kept in (SIGNED, THOUGHT):
            assert sent_body.count(kept.encode()) == json.dumps(sent).count(kept)
        keys.add(body.get("prompt_cache_key"))
        before = now
        if turn % 7 == 6:
            assert await sent_for(other, agent.wire, agent.request(turn), agent.path) == sent_body
    assert len(keys) == 1


async def test_tokens_are_counted_for_the_text_that_is_sent(container: Container) -> None:
    agent = AGENTS["anthropic"]
    counted = {name: agent.request(1)[name] for name in ("model", "system", "messages", "tools")}
    sent_body = await sent_for(container, agent.wire, agent.request(1), agent.path)
    tokens_of = await sent_for(container, agent.wire, counted, f"{agent.path}/count_tokens")
    assert agent.prompt(json.loads(tokens_of)) == agent.prompt(json.loads(sent_body))
