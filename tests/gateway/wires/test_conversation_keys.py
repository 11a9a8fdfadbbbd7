"""The placeholder key of a conversation: of its own also where no user says anything, and the same at every turn."""

import copy
import re
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.exchange.destination import Destination
from gateway.models import Caller, Scope, Trust
from gateway.wires.chat_completions import WIRE
from tests.exchanges import protected_exchange
from tests.tables import table

CASES = table(__file__)

type Message = dict[str, Any]

CARD = "4111 1111 1111 1111"
PASS = {"attachments": "pass"}
PLACEHOLDER = re.compile(r"\[EMAIL_ADDRESS_[0-9A-Z]+\]")


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def assistant(text: str, **more: Any) -> Message:
    return {"role": "assistant", "content": text, **more}


# How a conversation begins in which no user says anything; {} is what tells two of them apart.
OPENINGS: dict[str, list[Message]] = CASES["openings"]


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("keys"), detection="patterns")
    async with await Container.start(settings) as running:
        await running.policies.create({"id": "pictures", "title": "Pictures", "extends": "default", **PASS})
        yield running


async def crossed(container: Container, messages: list[Message], caller: str = "key_anna", **fields: Any) -> bytes:
    """Returns the messages as they are sent."""
    exchange = await protected_exchange(
        container,
        WIRE,
        copy.deepcopy({"model": "m", "svc_policy": "pictures", **fields, "messages": messages}),
        Caller(caller, Scope.CLIENT),
        Destination("m", Trust.LOCAL),
    )
    body = orjson.loads(exchange.body)
    return orjson.dumps([body.get("tools"), body["messages"]])


def opening(name: str, of: str) -> list[Message]:
    messages: list[Message] = orjson.loads(orjson.dumps(OPENINGS[name]).replace(b"{}", of.encode()))
    return messages


def placeholders(protected: bytes) -> set[str]:
    return set(PLACEHOLDER.findall(protected.decode()))


@pytest.mark.parametrize("name", OPENINGS)
async def test_conversations_in_which_no_user_speaks_share_no_placeholder(container: Container, name: str) -> None:
    one, other = [placeholders(await crossed(container, opening(name, of))) for of in ("heron", "egret")]
    assert len(one) == len(other) == 1
    assert one != other
    assert placeholders(await crossed(container, opening(name, "heron"))) == one
    assert placeholders(await crossed(container, opening(name, "heron"), caller="key_bert")) != one


async def test_tools_tell_conversations_apart_that_an_assistant_begins(container: Container) -> None:
    tools = [[{"type": "function", "function": {"name": name, "description": "boss@acme.test"}}] for name in "fg"]
    one, other = [placeholders(await crossed(container, [assistant("Hello.")], tools=each)) for each in tools]
    assert one != other


LATER = CASES["later"]


@pytest.mark.slow
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("name", OPENINGS)
async def test_twenty_turns_repeat_their_bytes(container: Container, name: str, later: str) -> None:
    """Law 5, however a conversation begins, and no matter who speaks then."""
    messages = opening(name, "heron")
    before = b""
    for turn in range(20):
        now = (await crossed(container, messages))[:-2]
        assert now.startswith(before)
        assert b"acme.test" not in now
        assert CARD.encode() not in now
        before = now
        source = orjson.dumps(LATER[later]).replace(b"{}", f"user{turn}@acme.test".encode())
        messages += orjson.loads(source)


async def test_marks_of_the_prompt_cache_change_nothing(container: Container) -> None:
    def said(**mark: Any) -> list[Message]:
        return [{"role": "system", "content": [{"type": "text", "text": "Write to boss@acme.test", **mark}]}]

    marked = await crossed(container, said(cache_control={"type": "ephemeral"}))
    assert placeholders(marked) == placeholders(await crossed(container, said()))


async def test_a_greeting_does_not_make_users_share_placeholders(container: Container) -> None:
    """Texts before the first user's are hidden alike for all; those of users by their first words."""
    greeting = [system("Write to boss@acme.test."), assistant("Hello, what can I do for you?")]
    said = [{"role": "user", "content": f"{bird}: my mail is anna@acme.test"} for bird in ("heron", "egret")]
    one, other = [placeholders(await crossed(container, [*greeting, each])) for each in said]
    assert len(one & other) == 1
    assert len(one | other) == 3
