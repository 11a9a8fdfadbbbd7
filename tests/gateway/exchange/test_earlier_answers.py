"""Placeholders of an earlier answer are restored for its caller, from its provider, for an hour."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import NotFound
from gateway.exchange.destination import Destination
from gateway.exchange.earlier_answers import EarlierAnswers
from gateway.exchange.messages import StreamPlan
from gateway.exchange.state import Exchange
from gateway.exchange.streaming import AnswerStream
from gateway.models import Caller, Scope, Trust
from gateway.placeholders import Known
from gateway.wires.anthropic_messages import WIRE as ANTHROPIC
from gateway.wires.base import Wire
from gateway.wires.gemini import WIRE as GEMINI
from gateway.wires.other_json import OTHER_JSON
from gateway.wires.responses import WIRE
from tests.exchanges import protected_exchange

MAIL = "anna.schmidt@acme.test"
ANNA = Caller("key_anna", Scope.CLIENT)
ONE = (Known("[EMAIL_ADDRESS_AAAAA]", "EMAIL_ADDRESS", MAIL),)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def remember(memory: EarlierAnswers, name: str, caller: Caller = ANNA, known: tuple[Known, ...] = ONE) -> None:
    memory.remember(caller, "acme", [name], known, frozenset({"https://a.example/"}))


def test_only_its_caller_and_provider_get_an_answer() -> None:
    memory = EarlierAnswers()
    remember(memory, "resp_1")
    assert memory.get(ANNA, "acme", "resp_1").known == ONE
    assert memory.get(ANNA, "acme", "resp_1").urls == {"https://a.example/"}
    assert not memory.get(Caller("key_bert", Scope.CLIENT), "acme", "resp_1").known
    assert not memory.get(ANNA, "other", "resp_1").known
    assert not memory.get(ANNA, "acme", "resp_2").known
    assert not memory.get(ANNA, "acme", "").known


def test_nothing_is_kept_for_callers_that_cannot_be_told_apart() -> None:
    memory = EarlierAnswers()
    anybody = Caller("proxy_anonymous", Scope.CLIENT, identified=False)
    remember(memory, "resp_1", anybody)
    assert not memory.get(anybody, "acme", "resp_1").known


def test_an_answer_is_forgotten_after_its_time() -> None:
    clock = Clock()
    memory = EarlierAnswers(seconds=10, clock=clock)
    remember(memory, "resp_1")
    clock.now = 9
    remember(memory, "resp_2")
    clock.now = 10
    assert not memory.get(ANNA, "acme", "resp_1").known
    assert memory.get(ANNA, "acme", "resp_2").known
    clock.now = 19
    assert not memory.get(ANNA, "acme", "resp_2").known


def test_the_oldest_is_forgotten_where_there_are_too_many() -> None:
    memory = EarlierAnswers(answers=2, values=3)
    bert = Caller("key_bert", Scope.CLIENT)
    remember(memory, "resp_0", bert)
    for number in range(3):
        remember(memory, f"resp_{number}")
    assert [bool(memory.get(ANNA, "acme", f"resp_{number}").known) for number in range(3)] == [False, True, True]
    remember(memory, "resp_3", known=ONE * 3)
    assert not memory.get(ANNA, "acme", "resp_2").known
    remember(memory, "resp_4", known=ONE * 4)
    assert not memory.get(ANNA, "acme", "resp_4").known
    assert memory.get(bert, "acme", "resp_0").known
    assert ONE[0].value not in repr(memory.get(bert, "acme", "resp_0"))


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    upstreams = {name: {"base_url": f"https://api.{name}.test/v1", "models": [name]} for name in ("other", "acme")}
    settings = load_settings(
        None, data_dir=tmp_path_factory.mktemp("earlier"), detection="patterns", upstreams=upstreams
    )
    async with await Container.start(settings) as running:
        yield running


async def opened(
    container: Container, caller: Caller = ANNA, wire: Wire = WIRE, path: str = "", **fields: Any
) -> Exchange:
    return await protected_exchange(
        container,
        wire,
        {"model": "gpt-5", **fields},
        caller,
        Destination("gpt-5", Trust.EXTERNAL, "https://api.acme.test/v1/responses", "acme"),
        path=path,
        may_stream=True,
    )


def answer(name: str, text: str, **fields: Any) -> bytes:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    response = {"id": name, "object": "response", "model": "gpt-5", "status": "completed", "output": [item], **fields}
    return json.dumps(response).encode()


async def closed(container: Container, exchange: Exchange, body: bytes) -> str:
    restored = json.loads(await container.answers.close(exchange, 200, body))
    text: str = restored["output"][0]["content"][0]["text"]
    return text


def placeholder(exchange: Exchange) -> str:
    (entry,) = exchange.placeholders.entries()
    return entry.placeholder


@pytest.mark.parametrize("field", ["previous_response_id", "conversation"])
async def test_a_later_turn_restores_what_an_earlier_one_hid(container: Container, field: str) -> None:
    first = await opened(container, input=f"I am {MAIL}")
    hidden = placeholder(first)
    await closed(container, first, answer("resp_1", "Hello.", conversation={"id": "conv_1"}))
    name: Any = {"previous_response_id": "resp_1", "conversation": "conv_1"}[field]
    second = await opened(container, input="Who am I?", **{field: name})
    assert await closed(container, second, answer("resp_2", f"You are {hidden}.")) == f"You are {MAIL}."
    third = await opened(container, input=f"And {MAIL}?", previous_response_id="resp_2")
    assert hidden.encode() in third.body
    assert await closed(container, third, answer("resp_3", hidden)) == MAIL


async def test_it_stays_closed_to_others_and_where_nothing_is_stored(container: Container) -> None:
    first = await opened(container, input=f"I am {MAIL}", store=False)
    hidden = placeholder(first)
    await closed(container, first, answer("resp_10", "Hello."))
    second = await opened(container, input="Who am I?", previous_response_id="resp_10")
    assert await closed(container, second, answer("resp_11", hidden)) == hidden
    first = await opened(container, input=f"I am {MAIL}")
    await closed(container, first, answer("resp_12", "Hello."))
    other = await opened(container, Caller("key_bert", Scope.CLIENT), input="Who?", previous_response_id="resp_12")
    assert await closed(container, other, answer("resp_13", hidden)) == hidden


async def test_a_streamed_answer_is_continued_too(container: Container) -> None:
    first = await opened(container, input=f"I am {MAIL}", stream=True)
    hidden = placeholder(first)
    plan = container.answers.plan(first)
    assert isinstance(plan, StreamPlan)
    stream = AnswerStream(WIRE, plan, limit=10_000)
    created = {"type": "response.created", "response": json.loads(answer("resp_20", ""))}
    stream.feed(b"data: " + json.dumps(created).encode() + b"\n\n")
    stream.finish()
    await container.answers.end(first, stream.result(200))
    second = await opened(container, input="Who am I?", previous_response_id="resp_20")
    assert await closed(container, second, answer("resp_21", hidden)) == MAIL


async def test_the_upstream_that_gave_an_answer_is_asked_for_it(container: Container) -> None:
    def asked(name: str, caller: Caller = ANNA) -> str:
        return container.admission.destination_for(WIRE, {}, f"/v1/responses/{name}", (), caller).url

    first = await opened(container, input="Nothing is hidden here.")
    await closed(container, first, answer("resp_30", "Hello."))
    assert asked("resp_30") == "https://api.acme.test/v1/responses/resp_30"
    assert asked("resp_31") == "https://api.other.test/v1/responses/resp_31"
    assert asked("resp_30", Caller("key_bert", Scope.CLIENT)) == "https://api.other.test/v1/responses/resp_30"


async def test_a_thread_continues_in_its_remembered_session(container: Container) -> None:
    async def asked(*texts: str, caller: Caller = ANNA, **thread: str) -> Exchange:
        messages = [{"role": "user", "content": text} for text in texts]
        return await opened(container, caller, ANTHROPIC, max_tokens=9, messages=messages, thread=thread)

    first = await asked(f"I am {MAIL}", type="create")
    said = {"id": "msg_1", "type": "message", "content": [{"type": "text", "text": placeholder(first)}]}
    await container.answers.close(first, 200, json.dumps(said).encode())
    # A turn that the provider has paused continues without a message.
    second = await asked(type="continue", previous_message_id="msg_1")
    restored = await container.answers.close(second, 200, json.dumps(said).encode())
    assert json.loads(restored)["content"][0]["text"] == MAIL
    for caller, name in ((ANNA, "msg_2"), (Caller("key_bert", Scope.CLIENT), "msg_1")):
        with pytest.raises(NotFound, match="send the whole conversation") as refused:
            await asked("Who am I?", caller=caller, type="continue", previous_message_id=name)
        assert refused.value.code == "thread_not_found"


def message(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text}


async def test_a_conversation_is_continued_that_was_created_with_texts(container: Container) -> None:
    async def stored(path: str, text: str, **reply: Any) -> str:
        exchange = await opened(container, ANNA, OTHER_JSON, path, items=[message(text)])
        await container.answers.close(exchange, 200, json.dumps(reply).encode())
        return exchange.placeholders.entries()[-1].placeholder

    first = await stored("/v1/conversations", f"I am {MAIL}", id="conv_40", object="conversation")
    again = await stored("/v1/conversations/conv_40/items", f"Write to {MAIL} only", object="list", data=[])
    other = await stored("/v1/conversations/conv_40/items", "And bert@acme.test", object="list", data=[])
    assert again == first
    asked = await opened(container, input="Who am I?", conversation="conv_40")
    said = answer("resp_40", f"{first}, not {other}.", conversation={"id": "conv_40"})
    assert await closed(container, asked, said) == f"{MAIL}, not bert@acme.test."
    # Calls that store nothing for later ones are not remembered.
    foreign = await stored("/v1/assistants", f"I am {MAIL}", id="conv_41")
    asked = await opened(container, input="Who am I?", conversation="conv_41")
    assert await closed(container, asked, answer("resp_41", foreign)) == foreign


@pytest.mark.parametrize("member", ["cachedContent", "cached_content"])
async def test_values_of_cached_content_are_restored(container: Container, member: str) -> None:
    contents = [{"role": "user", "parts": [{"text": f"I am {MAIL}"}]}]
    cached = await opened(container, ANNA, OTHER_JSON, "/v1beta/cachedContents", contents=contents)
    await container.answers.close(cached, 200, b'{"name": "cachedContents/50"}')
    contents = [{"role": "user", "parts": [{"text": "Who am I?"}]}]
    path = "/v1beta/models/gemini-pro:generateContent"
    asked = await opened(container, ANNA, GEMINI, path, contents=contents, **{member: "cachedContents/50"})
    said = {"candidates": [{"content": {"role": "model", "parts": [{"text": placeholder(cached)}]}}]}
    restored = await container.answers.close(asked, 200, json.dumps(said).encode())
    assert json.loads(restored)["candidates"][0]["content"]["parts"][0]["text"] == MAIL
