"""A value broken over the parts of a message is hidden in all of them, and nothing else is joined."""

import pytest

from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.wires.chat_completions import WIRE
from tests.tables import table

CASES = table(__file__)


def crossing(protector: Protector, policy: Policy, *parts: str) -> list[str]:
    """Returns each part as sent; an echo of each restores it."""
    content = [{"type": "text", "text": part} for part in parts]
    placeholders = Placeholders(b"k" * 32)
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    protector.protect(WIRE.read(body).blocks, policy, PrivacyMode.STANDARD, placeholders)
    crossed = [part["text"] for part in content]
    assert [placeholders.restore(text, rules=RestoreScope("source")).text for text in crossed] == list(parts)
    return crossed


@pytest.mark.parametrize(("parts", "pieces"), CASES["a_broken_value_is_hidden"])
def test_a_broken_value_is_hidden(protector: Protector, policy: Policy, parts: list[str], pieces: list[str]) -> None:
    crossed = "\n".join(crossing(protector, policy, *(part.replace("LONG", "x" * 500) for part in parts)))
    assert [piece for piece in pieces if piece in crossed] == []


@pytest.mark.parametrize(
    "parts",
    [
        ("card 4111 1111", " 1111 1112"),
        ("Version 10.2", "8.2 came before"),
        ("We met in Berlin", "Schmidt was there"),
    ],
)
def test_what_is_not_one_value_is_left_alone(protector: Protector, policy: Policy, parts: tuple[str, ...]) -> None:
    assert crossing(protector, policy, *parts) == list(parts)


def test_the_same_texts_of_two_messages_are_not_joined(protector: Protector, policy: Policy) -> None:
    parts = ("card 4111 1111", " 1111 1111")
    assert crossing(protector, policy, *parts) != list(parts)
    body = {"model": "m", "messages": [{"role": "user", "content": part} for part in parts]}
    protector.protect(WIRE.read(body).blocks, policy, PrivacyMode.STANDARD, Placeholders(b"k" * 32))
    assert [message["content"] for message in body["messages"]] == list(parts)  # type: ignore[index]
