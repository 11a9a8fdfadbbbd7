"""Implements `svc-demo`, a surface without a model, for trying the gateway without a provider.

It reads only the protected request and answers with the placeholders in it, as a good model would. The answer text is
deterministic.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any

from gateway.errors import BadRequest
from gateway.http.strict_json import dump
from gateway.models import Trust
from gateway.surfaces.base import Body, Surface
from gateway.surfaces.demo_text import answer, facts
from gateway.text.token_estimate import estimate
from gateway.wires.members import objects_at, text_at

MODEL = "svc-demo"
_MOST_CHOICES = 128
# Words, each with the white space before it.
_WORDS = re.compile(r"\s*\S+|\s+")


class DemoSurface(Surface):
    """Answers chat-completions requests in-process. `count` returns the tokens of a text."""

    id = MODEL
    trust = Trust.LOCAL

    def __init__(self, count: Callable[[str], int] = estimate) -> None:
        self._count = count

    def models(self) -> tuple[str, ...]:
        return (MODEL,)

    async def complete(self, body: Body) -> Body:
        """Returns the answer. Raises BadRequest for an invalid `n` or token limit."""
        choices = _whole(body, "n", 1, _MOST_CHOICES) or 1
        limit = _whole(body, "max_completion_tokens", 1) or _whole(body, "max_tokens", 1)
        messages = objects_at(body, "messages")
        content = self._content(
            messages, text_at(body.get("response_format"), "type") in {"json_object", "json_schema"}
        )
        finish = "stop"
        if limit is not None and self._count(content) > limit:
            content, finish = self._shortened(content, limit), "length"
        prompt = sum(self._count(text) for message in messages for text in _texts(message.get("content")))
        completion = self._count(content) * choices
        return {
            "id": f"chatcmpl-{sha256(dump(body)).hexdigest()[:24]}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": MODEL,
            "choices": [
                {
                    "index": index,
                    "message": {"role": "assistant", "content": content, "refusal": None},
                    "logprobs": None,
                    "finish_reason": finish,
                }
                for index in range(choices)
            ],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            },
        }

    def _content(self, messages: list[Body], as_json: bool) -> str:
        asked = [message for message in messages if message.get("role") in {"user", "tool", "function"}]
        last = "\n".join(_texts(asked[-1].get("content"))) if asked else ""
        text = answer(last)
        if not as_json:
            return text
        return json.dumps({"answer": text, "values": facts(last)}, ensure_ascii=False)

    def _shortened(self, content: str, limit: int) -> str:
        """Truncates to whole words. Placeholders contain no spaces, so none is cut."""
        kept = ""
        for word in _WORDS.findall(content):
            if self._count(kept + word) > limit:
                break
            kept += word
        return kept.rstrip()


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


def _whole(body: Body, name: str, least: int, most: int | None = None) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        span = f"from {least} to {most}" if most is not None else f"of at least {least}"
        raise BadRequest(f"`{name}` must be a whole number {span}.", param=name)
    return value


def build(settings: object) -> Iterable[DemoSurface]:
    """Builds the demo, which needs no settings."""
    return (DemoSurface(),)
