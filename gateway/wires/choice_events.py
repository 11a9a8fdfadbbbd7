"""The events of OpenAI's streamed completions, which divide what the model says into choices."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gateway.text.answers import AnswerText, Channel
from gateway.wires.answer_reading import strings_beside, token_counts
from gateway.wires.base import Body, EventFormat, Tokens
from gateway.wires.members import index_at, objects_at

CHOICES = range(1, 129)
"""How many choices a request may ask for."""
ANSWER_KEYS = frozenset("choices id object model created usage system_fingerprint obfuscation".split())
"""Members of an answer that hold no text, or whose text is read on its own."""
NO_TEXT = frozenset({"finish_reason", "index", "logprobs", "token_ids"})
"""Members of a choice that hold no text, or the tokens of one."""
# Members of every event of an answer.
_SHARED: tuple[str, ...] = ("id", "object", "created", "model")


class ChoiceEvents(EventFormat):
    """The common part of the event formats of chat completions and of completions. `object` names the kind of event.

    A channel begins with the index of its choice.
    """

    object = ""
    keys = ANSWER_KEYS

    @abstractmethod
    def member_texts(self, choice: Body, name: str, value: Any, index: int) -> Iterator[AnswerText]:
        """Yields the strings under a member of a choice, other than its index and finish reason."""

    @abstractmethod
    def choice(self, channel: Sequence[str | int], text: str, reason: str | None) -> Body:
        """Returns a choice of an event that continues `channel` by `text`."""

    @abstractmethod
    def shown(self, index: int) -> Channel:
        """Returns the channel of the text that clients show of a choice."""

    def texts(self, event: Body) -> list[AnswerText]:
        found: list[AnswerText] = []
        for choice in objects_at(event, "choices"):
            for name, value in choice.items():
                if name not in NO_TEXT:
                    found += of_choice(choice, self.member_texts(choice, name, value, index_at(choice)))
        return [*found, *strings_beside(self.keys, event)]

    def ends_channel(self, event: Body, channel: Channel) -> bool:
        """A finish reason ends all texts of its choice, and an error all texts."""
        ended = [choice for choice in objects_at(event, "choices") if choice.get("finish_reason") is not None]
        return "error" in event or any(index_at(choice) == channel[0] for choice in ended)

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        return {**self._envelope(last), "choices": [self.choice(channel, text, None)]}

    def is_last(self, event: Body) -> bool:
        """An event with a finish reason. One with the usage and without choices may follow it."""
        choices = objects_at(event, "choices")
        return any(choice.get("finish_reason") is not None for choice in choices) or (
            not choices and isinstance(event.get("usage"), dict)
        )

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        numbers = [index_at(choice) for choice in objects_at(like, "choices")] or [0]
        choices = [self.choice(self.shown(number), message, "content_filter") for number in numbers]
        return [{**self._envelope(like), "choices": choices}, b"data: [DONE]\n\n"]

    def _envelope(self, event: Body) -> Body:
        return {"object": self.object, **{name: event[name] for name in _SHARED if name in event}}


def of_choice(choice: Body, texts: Iterable[AnswerText]) -> Iterator[AnswerText]:
    """Yields the texts of a choice, which has their tokens if these were asked for."""
    for text in texts:
        text.scored = choice
        yield text


def usage_of(body: Body) -> Tokens:
    """Returns the input and output tokens that an answer or an event reports."""
    return token_counts(body, "prompt_tokens", "completion_tokens")
