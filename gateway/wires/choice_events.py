"""The events of OpenAI's streamed completions, which divide what the model says into choices."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from gateway.errors import GatewayError
from gateway.text.answers import Channel
from gateway.wires.base import Body
from gateway.wires.reading import token_counts

# Members of every event of an answer.
_SHARED: tuple[str, ...] = ("id", "object", "created", "model")


class ChoiceEvents(ABC):
    """What the event formats of chat completions and of completions share. `object` names the kind of event.

    A channel begins with the index of its choice.
    """

    names_events = False
    has_empty_deltas = True
    object = ""

    @abstractmethod
    def choice(self, channel: Sequence[str | int], text: str, reason: str | None) -> Body:
        """Returns a choice of an event that continues `channel` by `text`."""

    @abstractmethod
    def shown(self, index: int) -> Channel:
        """Returns the channel of the text that clients show of a choice."""

    def ends(self, event: Body, channel: Channel | None) -> bool:
        """A finish reason ends all texts of its choice, and an error all texts."""
        if channel is None:
            return False
        return "error" in event or any(
            index_of(choice) == channel[0] and choice.get("finish_reason") is not None for choice in choices_of(event)
        )

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        return {**self._envelope(last), "choices": [self.choice(channel, text, None)]}

    def usage(self, event: Body) -> tuple[int | None, int | None]:
        return usage_of(event) or (None, None)

    def is_last(self, event: Body) -> bool:
        """An event with a finish reason. One with the usage and without choices may follow it."""
        choices = choices_of(event)
        return any(choice.get("finish_reason") is not None for choice in choices) or (
            not choices and isinstance(event.get("usage"), dict)
        )

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        numbers = [index_of(choice) for choice in choices_of(like)] or [0]
        choices = [self.choice(self.shown(number), message, "content_filter") for number in numbers]
        return [{**self._envelope(like), "choices": choices}, b"data: [DONE]\n\n"]

    def error(self, error: GatewayError, request_id: str) -> Body:
        return error.body(request_id)

    def _envelope(self, event: Body) -> Body:
        return {"object": self.object, **{name: event[name] for name in _SHARED if name in event}}


def choices_of(body: Body) -> list[Body]:
    """Returns the choices of an answer or an event."""
    choices: Any = body.get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


def index_of(choice: Body) -> int:
    """Returns the index of a choice, 0 where it has none."""
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def usage_of(body: Body) -> tuple[int, int] | None:
    """Returns the input and output tokens that an answer or an event reports."""
    return token_counts(body.get("usage"), "prompt_tokens", "completion_tokens")
