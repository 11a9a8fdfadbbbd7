"""The chat-completions wire: every place where text can stand is a slot, structure is not, and the rest is refused."""

import copy
import json
from typing import Any, ClassVar

import pytest

from gateway.errors import BadRequest, Unprocessable
from gateway.models import Action, PrivacyMode
from gateway.text.fields import Span
from gateway.wires import Wires
from gateway.wires.chat_completions import WIRE

type Body = dict[str, Any]

MARK = "canary"


def request(*messages: Body, **fields: Any) -> Body:
    return {"model": "gpt-5", "messages": list(messages) or [{"role": "user", "content": "hello"}], **fields}


def user(content: Any = "hello", **fields: Any) -> Body:
    return {"role": "user", "content": content, **fields}


def call(**function: Any) -> Body:
    return {"id": "call_1", "type": "function", "function": function}


def texts(body: Body) -> list[str]:
    return [text for block in WIRE.read(body).blocks for slot in block for text in slot.texts]


def protect(body: Body) -> Body:
    """Replaces the mark wherever the wire finds it, as protection would."""

    def replace(span: Span, value: str, raw: str | None = None) -> str:
        return "X"

    for block in WIRE.read(body).blocks:
        for slot in block:
            found = []
            for text in slot.texts:
                at = text.find(MARK)
                span = Span(at, at + len(MARK), "CODE", Action.PLACEHOLDER, 1.0, "test")
                found.append([span] if at >= 0 else [])
            slot.apply(found, replace)
    return body


# Every place that the API reference names, and some that it does not.
PLACES: dict[str, Body] = {
    **{
        f"content of {role}": request({"role": role, "content": "a canary"}) for role in ("system", "developer", "user")
    },
    "content of assistant": request(user(), {"role": "assistant", "content": "a canary"}),
    "content of a tool": request(user(), {"role": "tool", "tool_call_id": "c", "content": "a canary"}),
    "JSON of a tool": request(user(), {"role": "tool", "tool_call_id": "c", "content": '{"a": ["canary"]}'}),
    "content of a function": request(user(), {"role": "function", "name": "f", "content": '["canary"]'}),
    "JSON of a user": request(user('{"a": "canary"}')),
    "text part": request(user([{"type": "text", "text": "a"}, {"type": "text", "text": "a canary"}])),
    "part that is a string": request(user(["a canary"])),
    "unknown field of a part": request(user([{"type": "text", "text": "a", "title": "canary"}])),
    "refusal": request({"role": "assistant", "content": None, "refusal": "canary"}),
    "refusal part": request({"role": "assistant", "content": [{"type": "refusal", "refusal": "canary"}]}),
    "name": request(user(name="canary")),
    "reasoning": request({"role": "assistant", "content": "a", "reasoning_content": "canary"}),
    "unknown field of a message": request(user(note={"deep": [{"er": "canary"}]})),
    "key of a message": request(user(**{"canary": 1})),
    "tool_call_id": request({"role": "tool", "tool_call_id": "canary", "content": "a"}),
    "name of a call": request({"role": "assistant", "tool_calls": [call(name="canary", arguments="{}")]}),
    "arguments of a call": request({"role": "assistant", "tool_calls": [call(name="f", arguments='{"a":"canary"}')]}),
    "key in arguments": request({"role": "assistant", "tool_calls": [call(name="f", arguments='{"canary":1}')]}),
    "arguments that are no JSON": request({"role": "assistant", "tool_calls": [call(name="f", arguments='"canary')]}),
    "arguments that are an object": request({"role": "assistant", "tool_calls": [call(arguments={"a": "canary"})]}),
    "custom call": request({"role": "assistant", "tool_calls": [{"type": "custom", "custom": {"input": "canary"}}]}),
    "id of a call": request({"role": "assistant", "tool_calls": [{"id": "canary"}]}),
    "function_call": request({"role": "assistant", "function_call": {"name": "f", "arguments": '{"a":"canary"}'}}),
    "description of a tool": request(tools=[call(name="f", description="canary")]),
    "property of a schema": request(tools=[call(name="f", parameters={"properties": {"canary": {"type": "string"}}})]),
    "enum of a schema": request(tools=[call(name="f", parameters={"enum": ["canary"]})]),
    "type that is no word": request(tools=[call(name="f", parameters={"type": "Canary canary"})]),
    "functions": request(functions=[{"name": "f", "description": "canary"}]),
    "response_format": request(response_format={"type": "json_schema", "json_schema": {"description": "canary"}}),
    "metadata": request(metadata={"who": "canary"}),
    "key of metadata": request(metadata={"canary": "a"}),
    "user": request(user="canary"),
    "prediction": request(prediction={"type": "content", "content": [{"type": "text", "text": "canary"}]}),
    "stop": request(stop=["canary"]),
    "logit_bias": request(logit_bias={"canary": 1}),
    "tool_choice": request(tool_choice={"type": "function", "function": {"name": "canary"}}),
    "user_location": request(web_search_options={"user_location": {"approximate": {"city": "canary"}}}),
    "reasoning_effort": request(reasoning_effort="canary"),
    "safety_identifier": request(safety_identifier="canary"),
    "prompt_cache_key": request(prompt_cache_key="canary"),
    "unknown field": request(whatever=[{"x": ["canary"]}]),
    "unknown key": request(**{"canary": 1}),
}


@pytest.mark.parametrize("place", PLACES)
def test_text_is_found_and_replaced_wherever_it_stands(place: str) -> None:
    body = copy.deepcopy(PLACES[place])
    before = json.dumps(body)
    after = json.dumps(protect(body))
    assert after == before.replace("canary", "X")


def test_structure_is_not_text() -> None:
    body = request(
        user([{"type": "text", "text": "A"}]),
        tools=[call(name="B", parameters={"type": "object", "required": ["C"], "additionalProperties": False})],
        temperature=0.7,
        n=1,
        stream=False,
        seed=12345,
        max_tokens=4096,
    )
    assert set(texts(body)) == {"A", "B", "C", "call_1"}


def test_what_holds_no_text_is_left_as_it_is() -> None:
    body = request(user(""), {"role": "assistant", "content": None}, user([]), stop=None, metadata={})
    before = copy.deepcopy(body)
    assert texts(body) == []
    assert body == before


@pytest.mark.parametrize(
    ("number", "alone", "named"),
    [
        (4111111111111111, True, True),
        (49309018.25, True, True),
        (4711, False, True),
        (47, False, False),
        (True, False, False),
        (0.5, False, False),
    ],
)
def test_numbers_that_could_be_somebodys_are_looked_at(number: float, alone: bool, named: bool) -> None:
    assert (f"id: {number}" in texts(request(metadata={"id": number}))) is named
    assert (f"x: {number}" in texts(request(user(x=[number])))) is alone
    assert (repr(number) in texts(request(user(content=None, title=number)))) is alone


@pytest.mark.parametrize("name", ["seed", "max_tokens", "temperature"])
def test_a_number_of_the_protocol_stays_a_number_or_is_refused(name: str) -> None:
    body = request(**{name: 4111111111111111})
    (slot,) = WIRE.read(body).blocks[-1]
    with pytest.raises(BadRequest) as refusal:
        slot.apply([[Span(0, 16, "CREDIT_CARD", Action.PLACEHOLDER, 1.0, "test")]], lambda *_: "[X]")
    assert refusal.value.param == name
    assert body[name] == 4111111111111111
    assert texts(request(**{name: 1234})) == ["hello"]


def test_values_are_searched_with_the_names_that_callers_gave_them() -> None:
    body = request(user(reply_to="A"), metadata={"name": "B", "pins": ["C"]}, web_search_options={"city": "D"})
    assert {"reply_to: A", "name: B", "pins: C", "city: D"} <= set(texts(body))
    # The protocol's own names say nothing of their values; a schema's would make them of what they describe.
    schema = call(name="f", parameters={"properties": {"password": {"type": "string", "description": "E"}}})
    assert set(texts(request(user("F"), tools=[schema]))) == {"E", "F", "f", "password", "call_1"}


def test_who_speaks_is_searched_as_a_name_and_what_is_called_is_not() -> None:
    body = request(user("A", name="B"), {"role": "tool", "tool_call_id": "C", "name": "D", "content": "E"}, user="F")
    assert set(texts(body)) == {"A", "name: B", "C", "D", "E", "name: F"}


class TestBlocks:
    """A block ends where an assistant's turn begins, so that the next turn repeats what crossed before."""

    BODY = request(
        {"role": "system", "content": "S"},
        user("U1"),
        {"role": "assistant", "content": "A1"},
        {"role": "tool", "tool_call_id": "c", "content": "T1"},
        user("U2"),
        {"role": "assistant", "content": "A2"},
        user("U3"),
        tools=[{"description": "D"}],
        metadata={"who": "M"},
    )

    def blocks(self, body: Body) -> list[list[str]]:
        return [[text for slot in block for text in slot.texts] for block in WIRE.read(body).blocks]

    def test_the_order_is_the_models(self) -> None:
        assert self.blocks(copy.deepcopy(self.BODY)) == [
            ["D", "S", "U1"],
            ["A1", "c", "T1", "U2"],
            ["A2", "U3"],
            ["who: M", "who"],
        ]

    def test_an_earlier_turn_has_the_same_first_blocks(self) -> None:
        earlier = copy.deepcopy(self.BODY)
        del earlier["messages"][5:]
        assert self.blocks(earlier)[:-1] == self.blocks(copy.deepcopy(self.BODY))[:2]

    @pytest.mark.parametrize("mark", [{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}])
    def test_a_mark_of_the_prompt_cache_is_no_text(self, mark: Body) -> None:
        marked = copy.deepcopy(self.BODY)
        for part in (marked["messages"][0], marked["tools"][0]):
            part["cache_control"] = mark
        assert self.blocks(marked) == self.blocks(copy.deepcopy(self.BODY))
        marked["messages"][0]["cache_control"] = {**mark, "ttl": "a canary"}
        assert self.blocks(marked)[0] == ["D", "S", "ttl: a canary", "ttl", "U1"]

    def test_the_seed_is_the_first_message_of_the_user(self) -> None:
        assert WIRE.read(copy.deepcopy(self.BODY)).seed == "U1"
        assert (
            WIRE.read(request(user([{"type": "text", "text": "a"}, "x", {"type": "text", "text": "b"}]))).seed == "a\nb"
        )


def test_the_gateways_own_fields_are_taken_out() -> None:
    body = request(svc_task="support", svc_policy="strict", svc_privacy_mode="strict")
    read = WIRE.read(body)
    assert (read.task, read.policy_id, read.mode) == ("support", "strict", PrivacyMode.STRICT)
    assert body == request()
    read = WIRE.read(request(svc_task=None, svc_privacy_mode=None))
    assert (read.task, read.policy_id, read.mode) == (None, None, None)


@pytest.mark.parametrize("stream", [True, False, None])
def test_streaming_is_told(stream: bool | None) -> None:
    assert WIRE.read(request(stream=stream)).stream is bool(stream)


@pytest.mark.parametrize(
    ("part", "kinds"),
    [
        ({"type": "image_url", "image_url": {"url": "https://a.example/x.png"}}, ("image_url",)),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}, ("data", "image_url")),
        ({"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}, ("input_audio",)),
        ({"type": "file", "file": {"file_id": "file-1"}}, ("file",)),
        ({"type": "hologram"}, ("hologram",)),
        ({"type": 7}, ("unknown",)),
        ({}, ("unknown",)),
        ({"type": "text", "text": " DATA:text/plain;base64,AA"}, ("data",)),
        ({"type": "text", "text": "the data: a, b"}, ()),
    ],
)
def test_attachments_are_named(part: Body, kinds: tuple[str, ...]) -> None:
    assert WIRE.read(request(user([part]))).attachments == kinds


REFUSED: dict[str, tuple[Body, str | None]] = {
    "no model": ({"messages": [user()]}, "model"),
    "model with a space": ({"model": "canary berg", "messages": [user()]}, "model"),
    "model over its length": ({"model": "m" * 257, "messages": [user()]}, "model"),
    "model that is a list": ({"model": ["canary"], "messages": [user()]}, "model"),
    "no messages": ({"model": "m"}, "messages"),
    "empty messages": ({"model": "m", "messages": []}, "messages"),
    "messages that are text": ({"model": "m", "messages": "canary"}, "messages"),
    "message that is text": ({"model": "m", "messages": ["canary"]}, "messages[0]"),
    "message without a role": (request({"content": "canary"}), "messages[0].role"),
    "unknown role": (request(user(), {"role": "canary", "content": ""}), "messages[1].role"),
    "role that is a list": (request({"role": ["canary"], "content": ""}), "messages[0].role"),
    "content that is a number": (request(user(4711)), "messages[0].content"),
    "content that is an object": (request(user({"canary": 1})), "messages[0].content"),
    "part that is a number": (request(user([4711])), "messages"),
    "call that is text": (request({"role": "assistant", "tool_calls": ["canary"]}), "messages"),
    "stream that is text": (request(stream="canary"), "stream"),
    "seed that is text": (request(seed="canary"), "seed"),
    "seed that is true": (request(seed=True), "seed"),
    "no choice": (request(n=0), "n"),
    "too many choices": (request(n=129), "n"),
    "a choice and a half": (request(n=1.5), "n"),
    "task that is a number": (request(svc_task=4711), "svc_task"),
    "policy that is a list": (request(svc_policy=["canary"]), "svc_policy"),
    "policy without a name": (request(svc_policy=""), "svc_policy"),
    "task over its length": (request(svc_task="c" * 4001), "svc_task"),
    "unknown field of ours": (request(svc_polcy="canary"), None),
    "field of ours in capitals": (request(SVC_POLICY="canary"), None),
    "unknown mode": (request(svc_privacy_mode="canary"), "svc_privacy_mode"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_protocol_does_not_allow_is_refused(name: str) -> None:
    body, param = REFUSED[name]
    with pytest.raises((BadRequest, Unprocessable)) as refusal:
        WIRE.read(copy.deepcopy(body))
    assert refusal.value.param == param
    assert "canary" not in refusal.value.message
    assert "4711" not in refusal.value.message


class TestAnswers:
    ANSWER: ClassVar[Body] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": "one",
                    "reasoning_content": "two",
                    "tool_calls": [call(name="send", arguments='{"a": 1}', extra="three"), "not a call"],
                    "function_call": {"name": "old", "arguments": "[]"},
                    "annotations": [{"url": "four"}],
                },
                "logprobs": {"content": [{"token": "five"}]},
            },
            {"index": 1, "message": {"content": [{"type": "text", "text": "six"}]}, "finish_reason": "stop"},
            "not a choice",
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
        "vendor": {"note": "seven"},
    }

    def test_every_string_but_the_structure(self) -> None:
        found = WIRE.answer_texts(copy.deepcopy(self.ANSWER))
        said = {text.text for text in found}
        assert {"one", "two", "three", "four", "five", "six", "seven", '{"a": 1}', "[]"} <= said
        assert not {"chatcmpl-1", "chat.completion", "tool_calls", "stop", "assistant"} & said
        assert {(text.text, text.tool) for text in found if text.kind == "json"} == {
            ('{"a": 1}', "send"),
            ("[]", "old"),
        }
        assert {text.choice for text in found if text.text == "six"} == {1}

    def test_each_can_be_replaced_in_place(self) -> None:
        answer = copy.deepcopy(self.ANSWER)
        for text in WIRE.answer_texts(answer):
            text.container[text.key] = "x"
        assert {text.text for text in WIRE.answer_texts(answer)} == {"x"}

    @pytest.mark.parametrize("answer", [{}, {"choices": None}, {"choices": [7]}, {"choices": [{"message": 7}]}])
    def test_an_answer_of_another_shape_has_no_texts(self, answer: Body) -> None:
        assert WIRE.answer_texts(answer) == []
        assert WIRE.usage(answer) is None

    def test_tokens_are_told_where_they_are_numbers(self) -> None:
        assert WIRE.usage(self.ANSWER) == (3, 4)
        for usage in ({"prompt_tokens": 3}, {"prompt_tokens": -1, "completion_tokens": 4}, {"prompt_tokens": "3"}, []):
            assert WIRE.usage({"usage": usage}) is None

    def test_a_refused_answer_says_nothing_of_what_was_said(self) -> None:
        answer = copy.deepcopy(self.ANSWER)
        WIRE.refuse_answer(answer, "Withheld.")
        assert [choice["finish_reason"] for choice in answer["choices"]] == ["content_filter"] * 3
        assert {text.text for text in WIRE.answer_texts(answer)} == {"Withheld.", "seven"}
        empty: Body = {}
        WIRE.refuse_answer(empty, "Withheld.")
        assert empty["choices"][0]["message"]["content"] == "Withheld."

    def test_the_gateways_member(self) -> None:
        answer: Body = {}
        WIRE.annotate(answer, {"request_id": "r"})
        assert answer == {"svc": {"request_id": "r"}}


@pytest.mark.parametrize(
    ("method", "path", "served"),
    [
        ("POST", "/v1/chat/completions", True),
        ("POST", "/openai/deployments/gpt-4.1/chat/completions", True),
        ("POST", "/chat/completions", True),
        ("GET", "/v1/chat/completions", False),
        ("POST", "/v1/chat/completions/", False),
        ("POST", "/v1/chat/completions/chatcmpl-1", False),
        ("POST", "/v1/anna schmidt/chat/completions", False),
        ("POST", "/v1//chat/completions", False),
        ("POST", "/v1/chat/completions\n", False),
        ("POST", "/v1/completions", False),
        ("POST", "/v1/responses", False),
    ],
)
def test_the_calls_it_serves(method: str, path: str, served: bool) -> None:
    assert (Wires.discover().serving(method, path) is WIRE) is served
