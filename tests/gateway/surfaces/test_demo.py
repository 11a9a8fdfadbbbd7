"""`svc-demo`: the same words for the same request, with the placeholders it was given and no others."""

import json
import re
from typing import Any

import pytest

from gateway.errors import BadRequest
from gateway.surfaces.demo import DemoSurface
from tests.tables import table

CASES = table(__file__)

pytestmark = pytest.mark.anyio

ANNA, BEN = "[PERSON_7KQ2M]", "[PERSON_3XW9T]"
MAIL, IBAN, PHONE, SECRET = "[EMAIL_ADDRESS_8PQRS]", "[IBAN_CODE_5HJKM]", "[PHONE_NUMBER_2WXYZ]", "[API_KEY_4BCDE]"


async def ask(*texts: str, **fields: Any) -> dict[str, Any]:
    roles = ["user", "assistant"]
    messages = [{"role": roles[index % 2], "content": text} for index, text in enumerate(texts)]
    return await DemoSurface().complete({"model": "svc-demo", "messages": messages, **fields})


async def said(*texts: str, **fields: Any) -> str:
    content: str = (await ask(*texts, **fields))["choices"][0]["message"]["content"]
    return content


async def test_the_shape_of_the_answer() -> None:
    answer = await ask(f"Hello, I am {ANNA}.")
    choice = answer["choices"][0]
    assert (answer["object"], answer["model"]) == ("chat.completion", "svc-demo")
    assert (choice["index"], choice["finish_reason"], choice["message"]["role"]) == (0, "stop", "assistant")
    usage = answer["usage"]
    assert usage["prompt_tokens"] > 0
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


async def test_it_is_deterministic_but_for_the_time() -> None:
    one, two = await ask(f"Reply to {ANNA}"), await ask(f"Reply to {ANNA}")
    assert {**one, "created": 0} == {**two, "created": 0}
    assert (await ask(f"Reply to {BEN}"))["id"] != one["id"]


async def test_a_letter_is_addressed_and_signed() -> None:
    letter = await said(f"Draft a reply to {ANNA} ({MAIL}, {PHONE}) about her refund to {IBAN}. My name is {BEN}.")
    assert letter.startswith(f"Dear {ANNA},\n\n")
    assert letter.endswith(f"Kind regards,\n{BEN}")
    assert all(value in letter for value in (MAIL, PHONE, IBAN))


@pytest.mark.parametrize(("task", "beginning"), CASES["each_task_has_its_answer_with_the_placeholders"])
async def test_each_task_has_its_answer_with_the_placeholders(task: str, beginning: str) -> None:
    answer = await said(task.format(ANNA))
    assert answer.startswith(beginning)
    assert ANNA in answer


@pytest.mark.parametrize(
    "task", ["Summarise: a. b.\n{}", "Extract from {}", "Reply to {}", "Translate: {}", "Classify {}", "And {}?"]
)
async def test_it_uses_all_placeholders_and_makes_none_up(task: str) -> None:
    given = {ANNA, BEN, MAIL, IBAN, PHONE, SECRET}
    answer = await said(task.format(", ".join(sorted(given))))
    assert set(re.findall(r"\[[A-Z0-9_]+\]", answer)) == given


async def test_it_answers_the_last_turn() -> None:
    answer = await said(f"Reply to {ANNA}", "Dear …", f"Now to {BEN}: write a letter")
    assert BEN in answer
    assert ANNA not in answer


async def test_part_lists_are_read() -> None:
    message = {
        "role": "user",
        "content": [{"type": "text", "text": f"Reply to {ANNA}"}, {"type": "text", "text": MAIL}],
    }
    answer = await DemoSurface().complete({"messages": [message]})
    assert all(value in answer["choices"][0]["message"]["content"] for value in (ANNA, MAIL))


async def test_several_choices_are_the_same() -> None:
    one, three = await ask(f"Reply to {ANNA}"), await ask(f"Reply to {ANNA}", n=3)
    assert [choice["index"] for choice in three["choices"]] == [0, 1, 2]
    assert {choice["message"]["content"] for choice in three["choices"]} == {one["choices"][0]["message"]["content"]}
    assert three["usage"]["completion_tokens"] == 3 * one["usage"]["completion_tokens"]


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
async def test_no_limit_cuts_a_placeholder(name: str) -> None:
    text = f"Reply to {ANNA} at {MAIL}, {PHONE}, {IBAN}"
    whole = await said(text)
    shortened = 0
    for limit in range(1, 120):
        answer = await ask(text, **{name: limit})
        choice = answer["choices"][0]
        content = choice["message"]["content"]
        assert whole.startswith(content)
        assert content.count("[") == content.count("]")
        assert (choice["finish_reason"] == "length") == (content != whole)
        assert answer["usage"]["completion_tokens"] <= limit
        shortened += content != whole
    assert shortened > 10


async def test_json_when_json_is_asked_for() -> None:
    answer = json.loads(await said(f'Reply to {ANNA} "now"\n', response_format={"type": "json_object"}))
    assert answer["values"] == {"PERSON": [ANNA]}
    assert ANNA in answer["answer"]


@pytest.mark.parametrize("fields", [{"n": 0}, {"n": 129}, {"n": "2"}, {"max_tokens": 0}, {"max_tokens": True}])
async def test_numbers_that_are_none(fields: dict[str, Any]) -> None:
    with pytest.raises(BadRequest) as refused:
        await ask("hello", **fields)
    assert refused.value.param == next(iter(fields))


@pytest.mark.parametrize("messages", [None, [], "text", [7], [{"role": "user"}], [{"role": "user", "content": None}]])
async def test_messages_without_text_are_answered(messages: Any) -> None:
    answer = await DemoSurface().complete({"messages": messages})
    assert "built-in demo" in answer["choices"][0]["message"]["content"]
