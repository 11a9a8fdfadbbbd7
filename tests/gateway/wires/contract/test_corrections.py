"""Every wire takes the caller's corrections out of a request, and they hold for callers with a gateway key only."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import Unprocessable
from gateway.exchange.destination import Destination
from gateway.models import Caller, Scope, Trust
from tests.exchanges import protected_exchange
from tests.gateway.wires.contract.cases import CASES, planted, wire_of

MAIL, NAME = "anna.schmidt@acme.test", "Blue Heron"
SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7h8"
TEXT = f"Write to {MAIL} about {NAME}; the token is {SECRET}."
GIVEN = {"svc_allow": [MAIL, SECRET], "svc_deny": [{"type": "PROJECT", "value": "blue heron"}]}
KEY, NO_KEY = Caller("key_anna", Scope.CLIENT), Caller("proxy_0123456789abcdef", Scope.CLIENT)


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("corrections"), detection="patterns")
    async with await Container.start(settings) as running:
        yield running


async def sent(container: Container, id: str, caller: Caller, given: dict[str, Any]) -> tuple[str, Any]:
    """Returns what would be sent of a request, and the corrections in its receipt."""
    body = planted(CASES[id]["answers"]["request"], TEXT) | given
    destination = Destination("m", Trust.LOCAL)
    exchange = await protected_exchange(container, wire_of(id), body, caller, destination, path=CASES[id]["path"])
    return exchange.body.decode(), json.loads(exchange.receipt.record.body).get("corrections")


@pytest.mark.parametrize("id", [id for id, of in CASES.items() if "answers" in of])
async def test_corrections_hold_with_a_key_and_are_never_sent(container: Container, id: str) -> None:
    body, counts = await sent(container, id, KEY, GIVEN)
    assert MAIL in body
    assert "[PROJECT_" in body
    assert not any(word in body for word in (NAME, SECRET, "svc_"))
    digests = [counts[kind].pop("digest") for kind in ("allow", "deny")]
    assert counts == {
        "allow": {"asked": 2, "applied": 1, "stored": 0},
        "deny": {"asked": 1, "applied": 1, "stored": 0},
    }
    assert all(len(digest) == 32 for digest in digests)
    assert await sent(container, id, KEY, GIVEN) == (
        body,
        {kind: {**counts[kind], "digest": digest} for kind, digest in zip(counts, digests, strict=True)},
    ), "law 5"

    for given in (GIVEN, {"svc_allow": 7, "svc_deny": {"": SECRET}}):
        body, counts = await sent(container, id, NO_KEY, given)
        assert NAME in body
        assert not any(word in body for word in (MAIL, SECRET, "svc_"))
        assert counts is None

    with pytest.raises(Unprocessable) as refused:
        await sent(container, id, KEY, {"svc_allow": [MAIL, ["x"]]})
    assert refused.value.param == "svc_allow.1"


@pytest.mark.parametrize("policy", ["default", "gdpr", "pci", "strict", "hipaa-safe-harbor"])
async def test_the_guard_finds_nothing_in_what_the_caller_allowed(container: Container, policy: str) -> None:
    """Though the answer says it, and it is a part of a value that is hidden."""
    allowed = [MAIL, "Oxenfoord", "+49 170 7654321"]
    text = f"My name is Wilhelmina Oxenfoord. Oxenfoord came. Mail {MAIL} or phone {allowed[2]}."
    body = {"model": "m", "messages": [{"role": "user", "content": text}], "svc_policy": policy, "svc_allow": allowed}
    wire = wire_of("chat-completions")
    exchange = await protected_exchange(container, wire, body, KEY, Destination("m", Trust.LOCAL))
    assert all(value in exchange.body.decode() for value in allowed)
    assert b"Wilhelmina" not in exchange.body
    said = f"{', '.join(allowed)}: {json.loads(exchange.body)['messages'][0]['content']}"
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": said}}]}
    restored = json.loads(await container.answers.close(exchange, 200, json.dumps(answer).encode()))
    assert restored["choices"][0]["message"]["content"].startswith(", ".join(allowed))
    assert exchange.verdict is not None
    assert exchange.verdict.action == "pass"
