"""Law 5: protecting the same conversation prefix again, on any worker, gives the identical protected prefix."""

import itertools
from pathlib import Path

from tests.e2e.server import Running, gateway
from tests.e2e.upstream import Reply, Upstream
from tests.gateway.wires.turns import AGENTS, Agent

KEY = {"SVC_INSTALLATION_KEY": "the-same-installation-key-everywhere"}
TURNS = (
    "Wilhelmina called about the contract Zebra81cat.",
    "My name is Wilhelmina Oxenfoord, mail w.oxenfoord@acme.test, card 4111 1111 1111 1111.",
    "Copy hanno@acme.test, and again w.oxenfoord@acme.test. My password is Zebra81cat.",
    "What is [EMAIL_ADDRESS_7KQ2M]?",
)


def _converse(running: Running, upstream: Upstream) -> list[bytes]:
    upstream.recorded.clear()
    tools = [{"type": "function", "function": {"name": "f", "description": "asks boss@acme.test"}}]
    messages: list[dict[str, object]] = [{"role": "system", "content": "You work for boss@acme.test."}]
    with running.client() as client:
        for turn in TURNS:
            messages.append({"role": "user", "content": turn})
            body = {"model": "configured-upstream", "tools": tools, "messages": messages}
            answer = client.post("/v1/chat/completions", json=body).json()
            messages.append(answer["choices"][0]["message"])
    return [recorded.body for recorded in upstream.recorded]


def test_turns_and_workers_agree(tmp_path: Path, upstream: Upstream) -> None:
    """Two gateways that share the installation's key and nothing else, and one of them restarted."""
    runs: list[list[bytes]] = []
    for folder in ("one", "two", "one"):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        with gateway(place, "--upstream", f"{upstream.url}/v1", environment=KEY) as running:
            runs.append(_converse(running, upstream))
            runs.append(_converse(running, upstream))
    assert all(run == runs[0] for run in runs)
    prefixes = [body[: body.rindex(b"]")] for body in runs[0]]
    changed = [not later.startswith(earlier) for earlier, later in itertools.pairwise(prefixes)]
    # The third turn reveals the password.
    assert changed == [False, True, False]
    assert [b"Zebra81cat" in body for body in runs[0]] == [True, True, False, False]
    assert b"acme.test" not in b"".join(runs[0])


def test_agents_may_take_turns_between_processes(tmp_path: Path, upstream: Upstream) -> None:
    """Every wire: one gateway that serves all turns, and others that serve a turn each."""
    settings = tmp_path / "gateway.toml"
    settings.write_text(
        f'[upstreams.o]\nbase_url = "{upstream.url}/v1"\nmodels = ["m"]\n'
        f'[upstreams.a]\nwire = "anthropic"\nbase_url = "{upstream.url}"\nmodels = ["claude-*"]\n'
        f'[upstreams.g]\nwire = "gemini"\nbase_url = "{upstream.url}"\nmodels = ["gemini-*"]\n'
    )
    upstream.answer = lambda _: Reply(b"{}", status=429)
    crossed: list[list[bytes]] = []
    for name, turns in (("all", range(4)), ("one", range(1, 2)), ("two", range(2, 4))):
        (tmp_path / name).mkdir()
        with gateway(tmp_path / name, "--config", str(settings), environment=KEY) as running:
            crossed.append([body for agent in AGENTS.values() for body in _sent(running, upstream, agent, turns)])
    every, one, rest = crossed
    assert every[1::4] == one
    assert [body for at, body in enumerate(every) if at % 4 > 1] == rest
    assert b"acme.test" not in b"".join(every)


def _sent(running: Running, upstream: Upstream, agent: Agent, turns: range) -> list[bytes]:
    upstream.recorded.clear()
    with running.client() as client:
        for turn in turns:
            client.post(agent.path, json={**agent.request(turn), "stream": False})
    found = [agent.prompt(recorded.json) for recorded in upstream.recorded]
    assert len(found) == len(turns)
    return found
