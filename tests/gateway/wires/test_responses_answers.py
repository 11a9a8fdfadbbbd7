"""Answers of the Responses API that arrive as a whole."""

import copy
from typing import Any, ClassVar

from gateway.wires import Body
from gateway.wires.responses import WIRE

SECRET = "gAAAAABo" + "MzE2aGk3" * 6


def said(*parts: Body, **fields: Any) -> Body:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": list(parts), **fields}


def call(kind: str, **fields: Any) -> Body:
    return {"type": kind, "id": "it_1", "call_id": "call_1", **fields}


class TestAnswers:
    ANSWER: ClassVar[Body] = {
        "id": "resp_1",
        "object": "response",
        "model": "gpt-5",
        "status": "completed",
        "instructions": "zero",
        "metadata": {"a": "one"},
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"text": "two"}], "encrypted_content": SECRET},
            said({"type": "output_text", "text": "three", "annotations": [{"title": "four"}], "logprobs": []}),
            call("function_call", name="send", arguments='{"a": 1}', status="completed"),
            call("local_shell_call", action={"type": "exec", "command": ["five"]}),
            call("image_generation_call", result="QUJD"),
            "not an item",
        ],
        "usage": {"input_tokens": 3, "output_tokens": 4},
        "vendor": {"note": "six"},
    }

    def test_every_string_but_the_structure(self) -> None:
        found = WIRE.answer_texts(copy.deepcopy(self.ANSWER))
        told = {text.text: text for text in found}
        assert {"zero", "one", "two", "three", "four", "six", '{"a": 1}', "send"} <= set(told)
        assert not {"resp_1", "response", "completed", "assistant", "call_1", SECRET, "QUJD"} & set(told)
        assert {text.text for text in found if text.kind == "echo"} == {"zero", "one"}
        runs = {(text.text, text.tool) for text in found if text.kind == "json"}
        assert runs == {('{"a": 1}', "send"), ('{"type":"exec","command":["five"]}', "local_shell_call")}
        assert [text.choice for text in found if text.text == "three"] == [1]

    def test_each_can_be_replaced_in_place(self) -> None:
        answer = copy.deepcopy(self.ANSWER)
        for text in WIRE.answer_texts(answer):
            text.container[text.key] = "x"
        assert {text.text for text in WIRE.answer_texts(answer)} == {"x"}

    def test_tokens_are_told(self) -> None:
        assert WIRE.usage(self.ANSWER) == (3, 4)
        assert WIRE.usage({"usage": None}) is None

    def test_a_refused_answer_says_nothing_of_what_was_said(self) -> None:
        answer = copy.deepcopy(self.ANSWER)
        WIRE.refuse_answer(answer, "Withheld.")
        assert {text.text for text in WIRE.answer_texts(answer) if text.kind != "echo"} == {
            "Withheld.",
            "six",
            "content_filter",
        }
        assert (answer["status"], answer["incomplete_details"]) == ("incomplete", {"reason": "content_filter"})

    def test_the_gateways_member(self) -> None:
        answer: Body = {}
        WIRE.annotate(answer, {"request_id": "r"})
        assert answer == {"svc": {"request_id": "r"}}
