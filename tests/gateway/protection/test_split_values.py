"""A value broken over the parts of a message is hidden in all of them, and nothing else is joined."""

from collections.abc import Iterable

import pytest

from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.wires.chat_completions import WIRE
from tests.gateway.protection.test_asked_values import crossing
from tests.tables import table

CASES = table(__file__)


def said(parts: Iterable[str]) -> list[dict[str, str]]:
    return [{"type": "text", "text": part} for part in parts]


@pytest.mark.parametrize(("parts", "pieces"), CASES["a_broken_value_is_hidden"])
def test_a_broken_value_is_hidden(protector: Protector, policy: Policy, parts: list[str], pieces: list[str]) -> None:
    crossed = "\n".join(crossing(protector, policy, said(part.replace("LONG", "x" * 500) for part in parts)))
    assert [piece for piece in pieces if piece in crossed] == []


@pytest.mark.parametrize(
    "parts",
    [
        ("card 4111 1111", " 1111 1112"),
        ("Version 10.2", "8.2 came before"),
        ("We met in Berlin", "Schmidt was there"),
        ("card 4111 1111\n\n", "1111 1111"),
        ("total 4539 5787\n", "6362 1487 items"),
    ],
)
def test_separate_values_are_left_alone(protector: Protector, policy: Policy, parts: tuple[str, ...]) -> None:
    assert crossing(protector, policy, said(parts)) == list(parts)


@pytest.mark.parametrize(
    "parts", [("Reach the address", "hugo.brandvold@firmaland.no"), ("hugo.brandvold@firmaland.no", "lund")]
)
def test_a_word_next_to_a_whole_value_is_left_alone(
    protector: Protector, policy: Policy, parts: tuple[str, ...]
) -> None:
    crossed = crossing(protector, policy, said(parts))
    assert [part for part in parts if "@" not in part] == [part for part in crossed if "[" not in part]


@pytest.mark.parametrize(("parts", "_"), CASES["a_broken_value_is_hidden"])
def test_each_part_is_restored_exactly(protector: Protector, policy: Policy, parts: list[str], _: list[str]) -> None:
    placeholders, content = Placeholders(b"k" * 32), said(parts)
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    protector.protect(WIRE.read(body).blocks, policy, PrivacyMode.STANDARD, placeholders)
    assert [placeholders.restore(part["text"], rules=RestoreScope("always")).text for part in content] == parts


def test_the_same_texts_of_two_messages_are_not_joined(protector: Protector, policy: Policy) -> None:
    parts = ("card 4111 1111", " 1111 1111")
    assert crossing(protector, policy, said(parts)) != list(parts)
    body = {"model": "m", "messages": [{"role": "user", "content": part} for part in parts]}
    protector.protect(WIRE.read(body).blocks, policy, PrivacyMode.STANDARD, Placeholders(b"k" * 32))
    assert [message["content"] for message in body["messages"]] == list(parts)  # type: ignore[index]
