"""Tokens that come with a text are left out once they no longer spell it, in whole answers and in streams."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.wires.base import Body, Wires
from tests.gateway.exchange.streaming.support import DONE, Session, bodies, chunk, event, played

WIRES = Wires.discover()
SCORES = [{"token": "Dear", "logprob": -0.5, "bytes": [68], "top_logprobs": []}]
PLACE = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}


def choice(member: str, text: Any, logprobs: Any) -> Body:
    return {"choices": [{"index": 0, member: text, "logprobs": logprobs, "finish_reason": None}]}


def completion(text: str, scores: list[Body]) -> Body:
    body = choice("text", text, {"tokens": ["Dear"], "text_offset": [0], "top_logprobs": []} if scores else None)
    body["choices"][0]["token_ids"] = [1] if scores else []
    return body


def gemini(text: str, scores: list[Body]) -> Body:
    said = {"content": {"role": "model", "parts": [{"text": text}]}, "avgLogprobs": -0.5, "index": 0}
    return {"candidates": [{**said, "logprobsResult": {"chosenCandidates": scores} if scores else None}]}


def part(text: str, scores: list[Body]) -> Body:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": scores}


FORMS: dict[tuple[str, str], Callable[[str, list[Body]], Body]] = {
    ("chat-completions", "whole"): lambda text, scores: choice(
        "message", {"role": "assistant", "content": text}, {"content": scores} if scores else None
    ),
    ("chat-completions", "delta"): lambda text, scores: choice(
        "delta", {"content": text}, {"content": scores} if scores else None
    ),
    ("completions", "whole"): completion,
    ("completions", "delta"): completion,
    ("gemini", "whole"): gemini,
    ("gemini", "delta"): gemini,
    ("responses", "whole"): lambda text, scores: {
        "output": [{"type": "message", "id": "msg_1", "content": [part(text, scores)]}]
    },
    ("responses", "delta"): lambda text, scores: {
        **{"type": "response.output_text.delta", **PLACE},
        **{"delta": text, "logprobs": scores},
    },
    ("responses", "done"): lambda text, scores: {
        **{"type": "response.output_text.done", **PLACE},
        **{"text": text, "logprobs": scores},
    },
    ("responses", "part"): lambda text, scores: {
        **{"type": "response.content_part.done", **PLACE, "part": part(text, scores)},
    },
}


@pytest.mark.parametrize("at", FORMS)
def test_tokens_go_with_the_text_that_they_spelled(at: tuple[str, str]) -> None:
    wire, form = WIRES.named(at[0]), FORMS[at]
    assert wire is not None
    assert wire.stream is not None
    body = form("Dear", SCORES)
    texts = wire.answer_texts(body) if at[1] == "whole" else wire.stream.texts(body)
    assert body == form("Dear", SCORES)
    (text,) = [each for each in texts if each.text == "Dear"]
    text.write("Liebe")
    assert body == form("Liebe", [])


def test_events_of_a_stream_keep_the_tokens_of_what_stays() -> None:
    session, scores = Session(mail=("EMAIL_ADDRESS", "anna@acme.test")), {"content": SCORES}
    given = [event(chunk({"content": session.write(text)}, logprobs=scores)) for text in ("Dear", " {mail}. ", "So")]
    got = [body["choices"][0] for body in bodies(played(session.stream(), [*given, DONE]))]
    assert [(each["delta"]["content"], each.get("logprobs")) for each in got] == [
        ("Dear", scores),
        (" anna@acme.test. ", None),
        ("So", scores),
    ]
