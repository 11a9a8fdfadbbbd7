"""Edits of a protected request that may be sent, with real parts, and the receipt of one that is."""

from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import uuid4

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import Forbidden
from gateway.exchange.destination import Destination
from gateway.exchange.state import Exchange
from gateway.http.strict_json import dump, parse_object
from gateway.models import Caller, Scope
from tests.exchanges import protected_exchange
from tests.tables import table

CASES = table(__file__)

pytestmark = pytest.mark.slow

TEXT = "My name is Wilhelmina Oxenfoord, card 4111 1111 1111 1111, write to w.oxenfoord@acme.test."
DATED = "Please note: date of birth 17.3.1979, call +49 170 7654321."


@dataclass
class Bench:
    """A container, and a request of ours in it that is about to cross."""

    container: Container
    caller: Caller
    source: bytes
    exchange: Exchange

    async def admit(self, body: dict[str, Any] | bytes) -> bytes:
        self.receipt = await self.container.edits.apply(self.exchange, body if isinstance(body, bytes) else dump(body))
        return self.exchange.body

    @property
    def body(self) -> dict[str, Any]:
        return parse_object(self.exchange.body)

    def saying(self, text: str) -> dict[str, Any]:
        body = self.body
        body["messages"][-1]["content"] = text
        return body

    @property
    def text(self) -> str:
        return str(self.body["messages"][-1]["content"])


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    """One for all tests, as most of them would spend their time on loading the model."""
    data_dir = tmp_path_factory.mktemp("edits") / "data"
    data_dir.mkdir(mode=0o700)
    async with await Container.start(load_settings(None, data_dir=data_dir)) as running:
        yield running


@pytest.fixture
async def bench(container: Container) -> Bench:
    return await bench_of(container, {})


async def bench_of(container: Container, more: dict[str, Any], text: str = TEXT) -> Bench:
    """As a caller of its own, whose conversations no other test has added to."""
    caller = Caller(f"key_{uuid4().hex}", Scope.CLIENT)
    source = dump({"model": "m-1", "messages": [{"role": "user", "content": text}], **more})
    wire = container.wires.serving("POST", "/v1/chat/completions")
    assert wire is not None
    exchange = await protected_exchange(
        container,
        wire,
        parse_object(source),
        caller,
        Destination("m-1"),
        source=source,
    )
    return Bench(container, caller, source, exchange)


ALLOWED: dict[str, Callable[[str], str]] = {
    "nothing": lambda text: text,
    "words in front": lambda text: f"Answer in one line. {text}",
    "another order": lambda text: " ".join(reversed(text.split())),
    "a placeholder twice": lambda text: f"{text} {text}",
    "no placeholder": lambda _: "Say hello.",
    "a placeholder nobody made": lambda text: f"{text} Ask [PERSON_7KQ2M].",
    "code that holds nothing of it": lambda text: (
        f"{text} {b64encode(b'ask the office about it').decode()} {'ab' * 20}"
    ),
    "another day": lambda text: f"{text} Since 18 March 1979, and 17 March 1980.",
    "numbers that are no codes": lambda text: f"{text} 10 20 30 40 50 60 70 80 90 100 110 120",
    "words that look like a part": lambda _: "Compare the cards at the office and write a name for it.",
}


@pytest.mark.parametrize("name", ALLOWED)
async def test_an_edit_that_may_be_sent(bench: Bench, name: str) -> None:
    body = bench.saying(ALLOWED[name](bench.text))
    assert parse_object(await bench.admit(body)) == body


REFUSED = CASES["refused"]


@pytest.mark.parametrize("name", REFUSED)
async def test_an_edit_that_may_not(bench: Bench, name: str) -> None:
    for text in (REFUSED[name], f"{bench.text} {REFUSED[name]}"):
        with pytest.raises(Forbidden) as caught:
            await bench.admit(bench.saying(text))
        assert caught.value.code == "edit_refused"
        assert "oxenfoord" not in caught.value.message.lower()
        assert "4111" not in caught.value.message


@pytest.mark.parametrize("spelling", CASES["spellings"])
async def test_a_date_or_number_in_another_spelling_stays(container: Container, spelling: str) -> None:
    bench = await bench_of(container, {}, DATED)
    assert "1979" not in bench.text
    assert await bench.admit(bench.saying(f"{bench.text} Since 18 March 1979, or 17 April 1979."))
    for text in (spelling, f"{bench.text} {spelling}"):
        with pytest.raises(Forbidden):
            await bench.admit(bench.saying(text))


PLACES: dict[str, dict[str, Any]] = CASES["places"]


@pytest.mark.parametrize("name", PLACES)
async def test_every_place_of_the_body_is_looked_at(bench: Bench, name: str) -> None:
    with pytest.raises(Forbidden):
        await bench.admit(bench.body | PLACES[name])


@pytest.mark.parametrize("action", ["mask", "redact", "hash"])
async def test_irreversibly_hidden_values_stay_hidden(container: Container, action: str) -> None:
    """No placeholder knows these values; the client's own request does."""
    rules = {"PERSON": {"action": action}}
    await container.policies.create({"id": f"{action}-all", "title": "t", "description": "d", "rules": rules})
    bench = await bench_of(container, {"svc_policy": f"{action}-all"})
    assert "[PERSON_" not in bench.text
    with pytest.raises(Forbidden):
        await bench.admit(bench.saying("about oxenfoord"))
    assert await bench.admit(bench.saying(f"In short: {bench.text}"))


async def test_an_edited_body_is_written_anew_and_digested(bench: Bench) -> None:
    crossing = await bench.admit(
        b'{"svc_task": "x",\n "messages": [{"role": "user", "content": "hi"}], "model": "m-1"}'
    )
    assert crossing == b'{"messages":[{"role":"user","content":"hi"}],"model":"m-1"}'
    receipt = bench.receipt.as_dict()
    first = bench.exchange.receipt.as_dict()
    assert receipt["protected_digest"] == sha256(crossing).hexdigest()
    assert receipt["amends"] == first["request_id"] != receipt["request_id"]
    assert (receipt["operation"], receipt["entity_counts"]) == ("edit", {})
    assert [receipt[name] for name in ("policy", "engine", "route")] == [
        first[name] for name in ("policy", "engine", "route")
    ]
    assert await bench.container.receipts.get(receipt["request_id"], bench.caller)


async def test_a_refused_edit_leaves_no_receipt(bench: Bench) -> None:
    with pytest.raises(Forbidden):
        await bench.admit(bench.saying(TEXT))
    assert (await bench.container.receipts.list(bench.caller, 10, 0))[1] == 1


async def test_an_edit_shows_no_text(bench: Bench) -> None:
    bench.exchange.body = bench.exchange.source = b"canary"
    assert "canary" not in repr(bench.exchange)


async def test_an_edit_keeps_to_the_callers_corrections(container: Container) -> None:
    """A value that was left in clear may stay, and one that was denied may not be put back."""
    given = {"svc_allow": ["w.oxenfoord@acme.test"], "svc_deny": [{"type": "PROJECT", "value": "Blue Heron"}]}
    bench = await bench_of(container, given, f"{TEXT} About Blue Heron.")
    assert "w.oxenfoord@acme.test" in bench.text
    assert await bench.admit(bench.saying(f"Shorter: {bench.text}"))
    with pytest.raises(Forbidden):
        await bench.admit(bench.saying(f"{bench.text} It is blue heron."))
