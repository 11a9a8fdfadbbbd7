"""Searches are remembered for the client that sent the text, and for no other: they are counted here, never timed."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.api.app import create_app
from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.detection import Detector, EntityType, builtin_detector
from gateway.detection.engines import Finder
from gateway.detection.memory import Memory
from gateway.exchange.messages import Call, ForwardedRequest, Listener, NativeResponse
from gateway.exchange.operations import Question
from gateway.models import Caller, Entity, PrivacyMode, Scope
from gateway.placeholders import Placeholders
from gateway.policy.model import Policy
from gateway.protection.blocks import BlockFindings
from gateway.protection.protector import Protector
from gateway.server.dispatcher import Dispatcher
from gateway.text.fields import Span, TextField
from gateway.workers.search_processes import Searches
from tests.exchanges import opened

ANNA, BERT = "key_anna", "key_bert"
ENTRY = 460
"""Bytes that the memory reckons for an entry with one finding."""
TEXT = "Please write to anna@acme.test before noon."
HOST = "https://api.openai.com:443"


class Counting(Finder):
    """A finder that keeps what it was asked to search."""

    def __init__(self, finder: Detector) -> None:
        self._finder = finder
        self.searched: list[str] = []

    @property
    def version(self) -> str:  # type: ignore[override]
        return self._finder.version

    @property
    def types(self) -> Mapping[str, EntityType]:  # type: ignore[override]
        return self._finder.types

    def detect(self, text: str) -> tuple[Entity, ...]:
        self.searched.append(text)
        return self._finder.detect(text)

    def times(self, text: str) -> int:
        """How often it searched a text since it was asked last."""
        times = self.searched.count(text)
        self.searched.clear()
        return times


@pytest.fixture(scope="module")
def detector() -> Detector:
    return builtin_detector()


@pytest.fixture
def finder(detector: Detector) -> Counting:
    return Counting(detector)


def test_a_text_is_searched_anew_for_each_caller(finder: Counting, policy: Policy) -> None:
    protector = Protector(finder, hash_key=b"h" * 32)

    def searches(caller: str | None) -> int:
        slot = TextField({"text": TEXT}, "text", TEXT)
        protector.protect([[slot]], policy, PrivacyMode.STANDARD, Placeholders(bytes(32)), remember_for=caller)
        assert "anna" not in slot.container["text"]
        return finder.times(TEXT)

    assert [searches(caller) for caller in (ANNA, ANNA, BERT, BERT, ANNA)] == [1, 0, 1, 0, 0]
    assert [searches(None) for _ in range(3)] == [1, 1, 1]


def found(findings: int = 1) -> BlockFindings:
    spans = tuple(Span(at, at + 1, "EMAIL_ADDRESS", *_REST) for at in range(findings))
    return BlockFindings((spans,), ())


_REST: tuple[Any, ...] = ("placeholder", 1.0, "test")


def fill(memory: Memory, caller: str, blocks: int, findings: int = 1) -> list[bytes]:
    digests = [memory.digest(caller.encode(), [f"{caller} {number}"]) for number in range(blocks)]
    for digest in digests:
        memory.put(caller, digest, found(findings), findings)
    return digests


def kept(memory: Memory, caller: str, digests: Sequence[bytes]) -> int:
    return sum(memory.get(caller, digest) is not None for digest in digests)


def test_no_caller_pushes_out_what_another_holds() -> None:
    """Half of the memory is each one's own, however much others send, with made-up credentials or much to be found."""
    memory = Memory(capacity=200 * ENTRY)
    annas = fill(memory, ANNA, 40)
    fill(memory, BERT, 1000)
    fill(memory, BERT, 1000, findings=50)
    for number in range(1000):
        fill(memory, f"proxy_{number}", 10)
    assert (kept(memory, ANNA, annas), kept(memory, BERT, annas)) == (40, 0)


@pytest.mark.parametrize("amount", [1, 10, 10_000])
def test_a_callers_share_tells_nothing_of_what_others_sent(amount: int) -> None:
    memory = Memory(capacity=200 * ENTRY)
    fill(memory, BERT, amount)
    assert kept(memory, ANNA, fill(memory, ANNA, 1000)) == 100


def test_the_whole_is_bounded() -> None:
    """A caller alone has all of it; who comes later gets an equal part, which the others give up at once."""
    memory = Memory(capacity=100 * ENTRY)
    digests = {ANNA: fill(memory, ANNA, 1000)}
    assert kept(memory, ANNA, digests[ANNA]) == 100
    for number in range(9):
        caller = f"key_{number}"
        digests[caller] = fill(memory, caller, 1000)
        assert sum(kept(memory, name, each) for name, each in digests.items()) <= 100


def test_callers_beyond_the_most_displace_the_one_silent_longest() -> None:
    memory = Memory(capacity=1_000_000)
    annas, berts = fill(memory, ANNA, 1), fill(memory, BERT, 1)
    for number in range(63):
        assert kept(memory, ANNA, annas) == 1
        fill(memory, f"key_{number}", 1)
    assert (kept(memory, ANNA, annas), kept(memory, BERT, berts)) == (1, 0)


def test_the_share_of_one_who_left_goes_to_the_others() -> None:
    now = 0.0
    memory = Memory(capacity=100 * ENTRY, clock=lambda: now)
    fill(memory, BERT, 10)
    assert kept(memory, ANNA, fill(memory, ANNA, 100)) == 50
    now = 3601.0
    assert kept(memory, ANNA, fill(memory, ANNA, 100)) == 100


@pytest.fixture
async def container(data_dir: Path, finder: Counting) -> AsyncIterator[Container]:
    searches = Searches(finder, tuple)
    async with await Container.start(load_settings(None, data_dir=data_dir, detection="patterns"), searches) as running:
        yield running


async def test_no_type_of_finding_is_new_to_a_running_gateway(
    container: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether others had one would show in the time that its expressions take to compile."""
    compiled: list[object] = []
    monkeypatch.setattr("gateway.placeholders.matcher.re2.compile", lambda *given: compiled.append(given))
    placeholders = Placeholders(bytes(32))
    for type in container.protector.types:
        name = placeholders.mint(type, "value")
        assert [hit.placeholder for hit in placeholders.find(f"see {name}")] == [name]
    assert compiled == []


async def test_native_operations_remember_for_their_caller(container: Container, finder: Counting) -> None:
    text = f"{TEXT} {TEXT}\n\nSecond paragraph. And a third sentence."
    callers = [Caller(ANNA, Scope.CLIENT), Caller(BERT, Scope.OPERATOR)]
    finder.searched.clear()
    for caller in callers:
        counts = []
        for _ in range(2):
            await container.operations.analyze(Question(text), caller)
            await container.operations.protect(Question(text), caller)
            await container.operations.shard(Question(text), caller)
            counts.append(finder.times(text))
        assert counts == [1, 0]


async def _searches(container: Container, finder: Counting, number: int, **call: Any) -> int:
    finder.searched.clear()
    dispatcher = Dispatcher(container, create_app(container))
    body = orjson.dumps({"model": "svc-demo", "messages": [{"role": "user", "content": TEXT}]})
    given = {"path": "/v1/chat/completions", "content": body, **call}
    entered = await opened(dispatcher, Call(f"req_{number:032x}", method="POST", **given))
    assert isinstance(entered, NativeResponse | ForwardedRequest)
    dispatcher.stop()
    return finder.times(TEXT)


@pytest.mark.slow
async def test_chat_remembers_for_its_key_and_the_proxy_for_the_providers(
    container: Container, finder: Counting
) -> None:
    """And for proxy clients that send none, who would be one caller, not at all."""
    keys = [(await container.keys.create(label, Scope.CLIENT))[0].encode() for label in ("anna", "bert")]
    gateway = [(Listener.GATEWAY, "", keys[number]) for number in (0, 0, 1, 1, 0)]
    proxy = [(Listener.PROXY, HOST, key) for key in (b"a", b"a", b"b", b"b", b"a", b"", b"", b"")]
    counts: dict[bytes, list[int]] = {}
    for number, (listener, origin, key) in enumerate([*gateway, *proxy]):
        fields = [(b"content-type", b"application/json"), (b"authorization", b"Bearer " + key)][: 1 + bool(key)]
        searches = await _searches(container, finder, number, listener=listener, origin=origin, fields=fields)
        counts.setdefault(key, []).append(searches)
    assert counts == {keys[0]: [1, 0, 0], keys[1]: [1, 0], b"a": [1, 0, 0], b"b": [1, 0], b"": [1, 1, 1]}
