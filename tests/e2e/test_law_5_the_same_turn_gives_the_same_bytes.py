"""Law 5: protecting the same conversation prefix again, on any worker, gives the identical protected prefix."""

import itertools
from pathlib import Path

from tests.e2e.server import Running, gateway
from tests.e2e.upstream import Upstream

TURNS = (
    "Wilhelmina called about the contract.",
    "My name is Wilhelmina Oxenfoord, mail w.oxenfoord@acme.test, card 4111 1111 1111 1111.",
    "Copy hanno@acme.test, and again w.oxenfoord@acme.test.",
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
    environment = {"SVC_INSTALLATION_KEY": "the-same-installation-key-everywhere"}
    runs: list[list[bytes]] = []
    for folder in ("one", "two", "one"):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        with gateway(place, "--upstream", f"{upstream.url}/v1", environment=environment) as running:
            runs.append(_converse(running, upstream))
            runs.append(_converse(running, upstream))
    assert all(run == runs[0] for run in runs)
    prefixes = [body[: body.rindex(b"]")] for body in runs[0]]
    for earlier, later in itertools.pairwise(prefixes):
        assert later.startswith(earlier)
    assert b"acme.test" not in b"".join(runs[0])
