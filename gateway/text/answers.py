"""Defines a text of an answer: a wire reads it, the guard inspects it, and `gateway.exchange` restores it."""

from dataclasses import dataclass, field
from typing import Any, Literal

from gateway.http.strict_json import dump

type Channel = tuple[str | int, ...]
"""Names a text of a streamed answer that grows event by event."""
# Members with the tokens of a text: of OpenAI's API, vLLM's and Gemini's.
_TOKENS = ("logprobs", "token_ids", "logprobsResult")


@dataclass(slots=True)
class AnswerText:
    """A string at `container[key]` in a choice of an answer.

    `json` marks tool-call arguments, `data` content that is not text, such as audio, in which nothing is restored, and
    `echo` what is a part of the request, repeated by the upstream and not said by the model.
    `tool` is the tool of a call, given with its name and with its arguments. In an event of a streamed answer,
    `channel` names the text that this string continues; without one it is complete. Events that continue a call
    may omit its tool. `call` is the id of the call where an event has it: another id begins another call. `scored` has
    the tokens of this text with their probabilities, where they were asked for.
    """

    container: Any
    key: Any
    text: str
    kind: Literal["text", "json", "data", "echo"] = "text"
    choice: int = 0
    tool: str | None = field(default=None, repr=False)
    channel: Channel | None = None
    call: str = ""
    scored: dict[str, Any] | None = field(default=None, repr=False)

    def write(self, text: str) -> None:
        """Puts another text in the place of this one. Its tokens are left out, since they no longer spell it."""
        self.container[self.key] = text
        scored = self.scored or {}
        for name in _TOKENS:
            if scored.get(name):
                scored[name] = [] if isinstance(scored[name], list) else None

    def repeats(self, request: bytes) -> bool:
        """Tells whether the upstream repeats a string of the request, or a part of one, which no model said."""
        return self.kind == "echo" and dump(self.text)[1:-1] in request


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """The offsets of a citation in a text of an answer, in code points: `container[start]` and `container[end]`.

    `text` is the string at `text[0][text[1]]`. In an event of a stream, `channel` names it instead.
    """

    container: dict[str, Any]
    text: tuple[Any, Any] | None = None
    channel: Channel | None = None
    start: str = "start"
    end: str = "end"
