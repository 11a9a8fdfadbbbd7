"""Findings of recent requests: their positions, whose they are, how long and how many are kept."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from gateway.config.locations import BUILTIN_POLICIES
from gateway.detection import builtin_detector
from gateway.errors import Forbidden, NotFound
from gateway.exchange.recent_findings import RecentFindings
from gateway.models import Caller, PrivacyMode, Scope
from gateway.placeholders import Placeholders
from gateway.policy.registry import PolicyRegistry
from gateway.protection.protector import Protector
from gateway.wires.base import Wires

ANNA, BERT = Caller("key_anna", Scope.CLIENT), Caller("key_bert", Scope.OPERATOR)
MAIL, CARD = "jane.roe@acme.test", "4111 1111 1111 1111"
POLICIES = PolicyRegistry(BUILTIN_POLICIES)
PROTECTOR = Protector(builtin_detector(), hash_key=b"k" * 32)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def send(recent: RecentFindings, body: Any, path: str, *, caller: Caller = ANNA, id: str = "req_1") -> Any:
    """Protects a body as the gateway does, and returns it."""
    wire = Wires.discover().serving("POST", path)
    assert wire is not None
    blocks = wire.read(body, path).blocks
    done = PROTECTOR.protect(blocks, POLICIES.get("default"), PrivacyMode.STANDARD, Placeholders(b"p" * 32))
    recent.add(caller, id, done, body)
    assert done.places == []
    return body


def at(body: Any, pointer: str) -> tuple[Any, str]:
    """Returns what a JSON pointer points to, and the last name in it."""
    name = ""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        body = body[int(name)] if isinstance(body, list) else body[name]
    return body, name


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [*messages], **more}


def call(arguments: Any) -> dict[str, Any]:
    function = {"name": "send", "arguments": json.dumps(arguments, indent=1)}
    return {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


@pytest.mark.parametrize(
    ("path", "body", "pointers"),
    [
        ("/v1/chat/completions", chat(user(f"Mail {MAIL}, {CARD}.")), ["/messages/0/content"] * 2),
        (
            "/v1/chat/completions",
            chat(user("Hi"), user([{"type": "text", "text": f"A {CARD}"}])),
            ["/messages/1/content/0/text"],
        ),
        (
            "/v1/chat/completions",
            chat(user("Hi"), call({"note": 'ä "x"', "to": [MAIL, f"{CARD} {MAIL}"], "card": 4111111111111111})),
            ["/messages/1/tool_calls/0/function/arguments"] * 4,
        ),
        (
            "/v1/chat/completions",
            chat(user("Hi"), metadata={"a/b~c": MAIL}),
            ["/metadata/a~1b~0c"],
        ),
        (
            "/v1/messages",
            {
                "model": "m",
                "max_tokens": 9,
                "system": f"To {MAIL}",
                "messages": [user([{"type": "text", "text": f"{MAIL}!"}])],
            },
            ["/system", "/messages/0/content/0/text"],
        ),
        (
            "/v1/messages",
            {
                "model": "m",
                "max_tokens": 9,
                "messages": [
                    user("Hi"),
                    {
                        "role": "assistant",
                        "content": [
                            {
                                "type": "tool_use",
                                "id": "t",
                                "name": "s",
                                "input": {MAIL: {"card": 4111111111111111}, "x": f"to {MAIL}"},
                            }
                        ],
                    },
                ],
            },
            ["card", "/messages/1/content/0/input/x", "name"],
        ),
        (
            "/v1/responses",
            {"model": "m", "input": [{"type": "message", "role": "user", "content": f"see {MAIL}"}]},
            ["/input/0/content"],
        ),
        ("/v1/embeddings", {"model": "m", "input": ["a", f"see {MAIL}"]}, ["/input/1"]),
    ],
    ids=["text", "parts", "arguments", "escaped", "anthropic", "names and numbers", "responses", "list"],
)
def test_positions(path: str, body: dict[str, Any], pointers: list[str]) -> None:
    recent = RecentFindings()
    sent = send(recent, body, path)
    found = recent.get(ANNA, "req_1").findings
    assert len(found) == len(pointers)
    for one, expected in zip(found, pointers, strict=True):
        assert one.pointer is not None
        assert MAIL not in one.pointer
        value, name = at(sent, one.pointer)
        text = name if one.at == "name" else value
        assert one.placeholder is not None
        assert one.start is not None
        assert text[one.start :].startswith(one.placeholder)
        assert expected in (one.at, name) or one.pointer == expected
        assert one.reason in {"pattern", "checked_pattern", "label", "known_value"}
    assert recent.get(ANNA, "req_1").complete
    assert MAIL not in repr(recent) + repr(found)


def test_a_repeat_in_an_earlier_message_says_so() -> None:
    recent = RecentFindings()
    send(recent, chat(user("It was Sommer2024xy"), user("The password is Sommer2024xy.")), "/v1/chat/completions")
    assert [one.reason for one in recent.get(ANNA, "req_1").findings] == ["known_value", "label"]


@pytest.mark.parametrize(
    ("messages", "pointer"),
    [
        ([user("Hi"), user("CVV: 123")], "/messages/1/content"),
        ([user("Hi"), call({"note": "CVV: 123"})], "/messages/1/tool_calls/0/function/arguments"),
    ],
)
def test_a_refused_request_says_where(messages: list[Any], pointer: str) -> None:
    recent, body = RecentFindings(), chat(*messages)
    wire = Wires.discover().serving("POST", "/v1/chat/completions")
    assert wire is not None
    with pytest.raises(Forbidden) as refused:
        PROTECTOR.find(wire.read(body, "").blocks, POLICIES.get("pci"), PrivacyMode.STANDARD)
    recent.refuse(ANNA, "req_1", refused.value, body)
    done = recent.get(ANNA, "req_1")
    assert done.refusal == "blocked_by_policy"
    assert [(one.type, one.pointer, one.start, one.placeholder) for one in done.findings] == [
        ("CVV", pointer, None, None)
    ]
    assert refused.value.found_in == ()


def test_a_refused_request_names_no_member_of_the_callers() -> None:
    recent = RecentFindings()
    use = {"type": "tool_use", "id": "t", "name": "s", "input": {"of jane roe": {"text": "CVV: 123"}}}
    body = {"model": "m", "max_tokens": 9, "messages": [user("Hi"), {"role": "assistant", "content": [use]}]}
    wire = Wires.discover().serving("POST", "/v1/messages")
    assert wire is not None
    with pytest.raises(Forbidden) as refused:
        PROTECTOR.find(wire.read(body, "").blocks, POLICIES.get("pci"), PrivacyMode.STANDARD)
    recent.refuse(ANNA, "req_1", refused.value, body)
    assert {one.pointer for one in recent.get(ANNA, "req_1").findings} == {"/messages/1/content/0/input"}


def test_a_request_is_its_callers_only_and_for_minutes() -> None:
    clock = Clock()
    recent = RecentFindings(clock=clock, seconds=60)
    said: list[str] = []

    def unknown(caller: Caller, id: str) -> None:
        with pytest.raises(NotFound) as refused:
            recent.get(caller, id)
        said.append(f"{refused.value.code} {refused.value.message} {refused.value.param}")

    send(recent, chat(user(MAIL)), "/v1/chat/completions")
    assert recent.get(ANNA, "req_1").findings
    unknown(BERT, "req_1")
    unknown(ANNA, "req_2")
    clock.now = 61
    unknown(ANNA, "req_1")
    nobody = Caller("proxy_x", Scope.CLIENT)
    send(recent, chat(user(MAIL)), "/v1/chat/completions", caller=nobody)
    unknown(nobody, "req_1")
    assert len({*said}) == 1
    assert recent._size == 0
    assert not recent._own


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ({"requests": 2}, {ANNA: ["req_3", "req_4"], BERT: ["req_0"]}),
        ({"own_bytes": 3500}, {ANNA: ["req_3", "req_4"], BERT: ["req_0"]}),
        ({"all_bytes": 3500}, {ANNA: ["req_3", "req_4"], BERT: []}),
    ],
)
def test_bounds(limits: dict[str, Any], kept: dict[Caller, list[str]]) -> None:
    recent = RecentFindings(**limits)
    send(recent, chat(user(MAIL)), "/v1/chat/completions", caller=BERT, id="req_0")
    for number in range(5):
        send(recent, chat(user(MAIL)), "/v1/chat/completions", id=f"req_{number}")
    for caller, ids in kept.items():
        assert [id for owner, id in recent._kept if owner == caller.key_id] == ids


@pytest.mark.parametrize("large", [lambda: user(f"{MAIL} " * 40), lambda: call({"x": MAIL})])
def test_a_request_with_too_much_is_kept_without_findings(large: Callable[[], Any]) -> None:
    recent = RecentFindings(request_bytes=1000)
    send(recent, chat(user("Hi"), large()), "/v1/chat/completions")
    done = recent.get(ANNA, "req_1")
    assert (done.findings, done.complete) == ([], False)
    recent = RecentFindings(request_bytes=100_000)
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [
            user("Hi"),
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t", "name": "s", "input": {"x" * 100_000: MAIL}}],
            },
        ],
    }
    send(recent, body, "/v1/messages")
    assert not recent.get(ANNA, "req_1").complete
