"""Implements the legacy completions wire (POST …/completions) of the OpenAI API reference."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.errors import BadRequest
from gateway.text.answers import AnswerText, Channel
from gateway.wires.answer_reading import answer_strings
from gateway.wires.base import Body, Conversation, Tokens, Wire
from gateway.wires.choice_events import CHOICES, ChoiceEvents, usage_of
from gateway.wires.members import objects_at
from gateway.wires.openai_reading import OpenAIReader, first_text, refuse_token_numbers
from gateway.wires.prompts import first_turn
from gateway.wires.reading import begun, check_whole, named_model

_WORDS = word_lists(__file__)
# Members that are read on their own, or validated where they are read.
_READ = frozenset({"model", "stream", "prompt", "suffix"})


class CompletionChunks(ChoiceEvents):
    """The events of a streamed answer, of which each continues the `text` of a choice."""

    object = "text_completion"

    def member_texts(self, choice: Body, name: str, value: Any, index: int) -> Iterator[AnswerText]:
        if name == "text" and isinstance(value, str):
            yield AnswerText(choice, name, value, choice=index, channel=(index,))
        else:
            yield from answer_strings(value, choice, name, index)

    def choice(self, channel: Sequence[str | int], text: str, reason: str | None) -> Body:
        return {"index": channel[0], "text": text, "logprobs": None, "finish_reason": reason}

    def shown(self, index: int) -> Channel:
        return (index,)


class Completions(Wire):
    """The wire. Stateless."""

    id = "completions"
    stream: ChoiceEvents = CompletionChunks()
    # Not those of chats, nor of Mistral.
    path = re.compile(r"(?:/[\w.-]+)*(?<!/chat)(?<!/fim)(?<!/agents)/completions\Z")
    method = "completions"

    def model(self, body: Body, path: str) -> object:
        return named_model(body, path)

    def read(self, body: Body, path: str = "") -> Conversation:
        conversation = begun(body, path)
        check_whole(body, "seed")
        check_whole(body, "n", CHOICES)
        refuse_token_numbers(body)
        prompt = body.get("prompt")
        is_list = isinstance(prompt, list) and bool(prompt) and all(isinstance(each, str) for each in prompt)
        if not (isinstance(prompt, str) or is_list):
            raise BadRequest("`prompt` must be a string or a non-empty list of strings.", param="prompt")
        reader = OpenAIReader(conversation.files, _WORDS["keys"], _WORDS["numbers"])
        given = [name for name in ("prompt", "suffix") if name in body]
        texts = [field for name in given for field in reader.fields(body, name, body[name])]
        conversation.seed = first_turn(first_text(texts, "")) or self.id
        conversation.blocks = [texts, [*reader.settings(body, _READ)]]
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        """A whole answer is like an event, but its texts are complete."""
        found = self.stream.texts(body)
        for text in found:
            text.channel = None
        return found

    def usage(self, body: Body) -> Tokens:
        return usage_of(body)

    def refuse_answer(self, body: Body, message: str) -> None:
        count = len(objects_at(body, "choices")) or 1
        body["choices"] = [self.stream.choice((index,), message, "content_filter") for index in range(count)]


WIRE = Completions()
