"""Implements the legacy completions wire (POST …/completions) of the OpenAI API reference."""

import re
from collections.abc import Sequence

from gateway.errors import BadRequest
from gateway.text.answers import AnswerText, Channel
from gateway.wires.base import Body, Conversation, Family
from gateway.wires.choice_events import ChoiceEvents, choices_of, index_of, usage_of
from gateway.wires.reading import (
    answer_strings,
    check_whole,
    model_of,
    named_model,
    put_note,
    refuse_token_numbers,
    setting_fields,
    streams,
    strings_beside,
    take_own,
    text_fields,
    unknown_keys,
)

_PATH = re.compile(r"(?:/[\w.-]+)*(?<!/chat)/completions\Z")
_KEYS = frozenset(
    """
    model prompt suffix echo logprobs best_of n stream stream_options include_usage include_obfuscation stop
    max_tokens temperature top_p top_k min_p frequency_penalty presence_penalty repetition_penalty logit_bias seed user
    metadata
    """.split()
)
_NUMBERS = frozenset(
    """
    best_of n seed logprobs max_tokens temperature top_p top_k min_p frequency_penalty presence_penalty
    repetition_penalty
    """.split()
)
# What a model reads, and what is validated where it is read.
_READ = frozenset({"model", "stream", "prompt", "suffix"})
_ANSWER_KEYS = frozenset("choices id object model created usage system_fingerprint obfuscation".split())
_CHOICES = range(1, 129)


class CompletionChunks(ChoiceEvents):
    """The events of a streamed answer, of which each continues the `text` of a choice."""

    object = "text_completion"

    def texts(self, event: Body) -> list[AnswerText]:
        found: list[AnswerText] = []
        for choice in choices_of(event):
            number = index_of(choice)
            for name, value in choice.items():
                if name == "text" and isinstance(value, str):
                    found.append(AnswerText(choice, name, value, choice=number, channel=(number,)))
                elif name not in {"finish_reason", "index", "logprobs"}:
                    found += answer_strings(value, choice, name, number)
        return [*found, *strings_beside(_ANSWER_KEYS, event)]

    def choice(self, channel: Sequence[str | int], text: str, reason: str | None) -> Body:
        return _choice(channel[0], text, reason)

    def shown(self, index: int) -> Channel:
        return (index,)


class Completions:
    """The wire. Stateless."""

    id = "completions"
    family: Family = "openai"
    stream = CompletionChunks()

    def serves(self, method: str, path: str) -> bool:
        return method == "POST" and _PATH.match(path) is not None

    def model(self, body: Body, path: str) -> object:
        return named_model(body, path)

    def set_model(self, body: Body, model: str) -> None:
        body["model"] = model

    def method_path(self, path: str, model: str) -> str:
        return "completions"

    def read(self, body: Body, path: str = "") -> Conversation:
        own = take_own(body)
        model, stream = model_of(body, path), streams(body)
        check_whole(body, "seed")
        check_whole(body, "n", _CHOICES)
        refuse_token_numbers(body)
        prompt = body.get("prompt")
        is_list = isinstance(prompt, list) and bool(prompt) and all(isinstance(each, str) for each in prompt)
        if not (isinstance(prompt, str) or is_list):
            raise BadRequest("`prompt` must be a string or a non-empty list of strings.", param="prompt")
        attachments = set[str]()
        texts = [
            field
            for name in ("prompt", "suffix")
            if name in body
            for field in text_fields(body, name, body[name], _KEYS, attachments)
        ]
        settings = [
            field
            for name, value in body.items()
            if name not in _READ
            for field in setting_fields(body, name, value, _KEYS, _NUMBERS, attachments)
        ]
        seed = next((text for field in texts for text in field.texts), self.id)
        conversation = Conversation(body, model, stream, [texts, [*settings, *unknown_keys(body, _KEYS)]], seed)
        conversation.attachments = tuple(sorted(attachments))
        own.put(conversation)
        return conversation

    def answer_texts(self, body: Body) -> list[AnswerText]:
        found = [
            text
            for choice in choices_of(body)
            for name, value in choice.items()
            if name not in {"finish_reason", "index", "logprobs"}
            for text in answer_strings(value, choice, name, index_of(choice))
        ]
        return [*found, *strings_beside(_ANSWER_KEYS, body)]

    def usage(self, body: Body) -> tuple[int, int] | None:
        return usage_of(body)

    def annotate(self, body: Body, note: Body | None) -> None:
        put_note(body, note)

    def refuse_answer(self, body: Body, message: str) -> None:
        count = len(choices_of(body)) or 1
        body["choices"] = [_choice(index, message, "content_filter") for index in range(count)]


def _choice(index: str | int, text: str, reason: str | None) -> Body:
    return {"index": index, "text": text, "logprobs": None, "finish_reason": reason}


WIRE = Completions()
