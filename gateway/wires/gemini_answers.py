"""Reads the answers of the Gemini wire: responses, whole or as the events of a stream, and its errors.

A thought with a signature of its own is left as it came: its placeholders stay, and the signature fits its text. Other
thoughts are restored like any text.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from gateway.detection.data_files import word_lists
from gateway.http.strict_json import dump
from gateway.models import Family
from gateway.text.answers import AnswerText, Channel
from gateway.wires.answer_reading import DocumentWriter, count_of
from gateway.wires.base import Body, EventFormat, Tokens
from gateway.wires.gemini_request import camel
from gateway.wires.members import index_at, object_at, objects_at
from gateway.wires.reading import is_opaque, word

_WORDS = word_lists(__file__)
# Members that identify an answer, and stay in what replaces it.
_IDENTITY = ("responseId", "modelVersion", "createTime", "usageMetadata")
_WRITTEN = ("candidatesTokenCount", "thoughtsTokenCount")


class ResponseEvents(EventFormat):
    """The events of a streamed answer. Each is a response, whose parts go on where those of the last one ended.

    The texts of a candidate are one text, and so are its thoughts. Other parts come whole, but for the arguments of
    calls on Vertex AI, which may come string by string.
    """

    family: Family = "gemini"

    def texts(self, event: Body) -> list[AnswerText]:
        return [*response_texts(event, streamed=True)]

    def ends_channel(self, event: Body, channel: Channel) -> bool:
        """A finish reason ends all texts of its candidate. A part of another kind ends a text before it."""
        if _is_blocked(event) or "error" in event:
            return True
        for candidate in objects_at(event, "candidates"):
            if (index := index_at(candidate)) == channel[0]:
                last = [each for part in _parts(candidate) for each in _part_channels(part, index)]
                return _is_finished(candidate) or (bool(last) and last[-1] != channel)
        return False

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        index, kind, *path = channel
        part: Body = {"text": text}
        if kind == "thought":
            part["thought"] = True
        elif kind == "args":
            part = {"functionCall": {"partialArgs": [{"jsonPath": path[0], "stringValue": text}]}}
        return {**_identity(last), "candidates": [{"content": {"parts": [part], "role": "model"}, "index": index}]}

    def is_last(self, event: Body) -> bool:
        return _is_blocked(event) or any(map(_is_finished, objects_at(event, "candidates")))

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        return [_refusal(like, message, [index_at(candidate) for candidate in objects_at(like, "candidates")])]


def response_texts(body: Body, *, streamed: bool = False) -> Iterator[AnswerText]:
    """Yields the strings of an answer that are text. Those of an event have channels."""
    for position, candidate in enumerate(objects_at(body, "candidates")):
        index = index_at(candidate) if streamed else position
        for part in _parts(candidate):
            for text in _part_texts(part, index, streamed=streamed):
                text.scored = candidate
                yield text
        content = candidate.get("content")
        if isinstance(content, dict):
            yield from _strings({name: value for name, value in content.items() if name != "parts"}, content, index)
        else:
            yield from _strings({"content": content}, candidate, index)
        yield from _strings(
            {name: candidate[name] for name in candidate if name not in _WORDS["candidate"]}, candidate, index
        )
    yield from other_strings({name: value for name, value in body.items() if camel(name) not in _WORDS["answer"]}, body)


def other_strings(members: Body, body: Body) -> Iterator[AnswerText]:
    """Yields the strings under members of a body that are no part of a candidate."""
    return _strings(members, body, 0)


def tokens(body: Body) -> Tokens:
    """Returns the input tokens and the output tokens, thoughts included, that an answer reports."""
    usage = body.get("usageMetadata")
    if not isinstance(usage, dict):
        return count_of(body.get("totalTokens")), None
    return _sum(usage, "promptTokenCount", "toolUsePromptTokenCount"), _sum(usage, *_WRITTEN)


def refuse(body: Body, message: str) -> None:
    """Replaces all of an answer but what identifies it."""
    refused = _refusal(body, message, [*range(len(objects_at(body, "candidates")))])
    body.clear()
    body |= refused


def _refusal(like: Body, message: str, indices: Sequence[int]) -> Body:
    content = {"parts": [{"text": message}], "role": "model"}
    return {
        **_identity(like),
        "candidates": [{"content": content, "finishReason": "SAFETY", "index": index} for index in indices or [0]],
    }


def _sum(usage: Body, *names: str) -> int | None:
    given = [count for name in names if (count := count_of(usage.get(name))) is not None]
    return sum(given) if given else None


def _identity(body: Body) -> Body:
    return {name: body[name] for name in _IDENTITY if name in body}


def _is_finished(candidate: Body) -> bool:
    return word(candidate.get("finishReason")) not in {"", "FINISH_REASON_UNSPECIFIED"}


def _is_blocked(body: Body) -> bool:
    return bool(object_at(body, "promptFeedback").get("blockReason"))


def _parts(candidate: Body) -> list[Body]:
    return objects_at(object_at(candidate, "content"), "parts")


def _is_signed_thought(part: Body) -> bool:
    return part.get("thought") is True and is_opaque(part.get("thoughtSignature"))


def _part_channels(part: Body, index: int) -> list[Channel]:
    """Returns the channels of a part, of which the last is still open after it. Whole parts have one of their own."""
    if isinstance(part.get("text"), str):
        if _is_signed_thought(part):
            return []
        return [(index, "thought" if part.get("thought") is True else "text")]
    named = objects_at(object_at(part, "functionCall"), "partialArgs")
    opened = [(index, "args", str(each.get("jsonPath"))) for each in named if each.get("willContinue") is True]
    return [*opened[-1:]] or [(index, "whole")]


def _part_texts(part: Body, index: int, *, streamed: bool) -> Iterator[AnswerText]:
    for name, value in part.items():
        if name == "text" and isinstance(value, str):
            if not _is_signed_thought(part):
                channel = _part_channels(part, index)[0] if streamed else None
                yield AnswerText(part, name, value, choice=index, channel=channel)
        elif name in {"functionCall", "toolCall"} and isinstance(value, dict):
            yield from _call_texts(value, index, streamed=streamed)
        else:
            yield from _strings({name: value}, part, index)


def _call_texts(call: Body, index: int, *, streamed: bool) -> Iterator[AnswerText]:
    """Yields the strings of a call. The arguments are one document."""
    tool = call.get("name")
    label = tool if isinstance(tool, str) else None
    for name, value in call.items():
        if name == "args" and isinstance(value, dict | list):
            if value:
                text = dump(value).decode()
                yield AnswerText(DocumentWriter(call), name, text, kind="json", choice=index, tool=label)
        elif name == "partialArgs" and isinstance(value, list) and streamed:
            for each in value:
                if isinstance(each, dict) and isinstance(each.get("stringValue"), str):
                    channel = (index, "args", str(each.get("jsonPath")))
                    yield AnswerText(each, "stringValue", each["stringValue"], "json", index, label, channel)
        elif name == "name" and label:
            yield AnswerText(call, name, label, choice=index, tool=label)
        else:
            yield from _strings({name: value}, call, index)


def _strings(members: Any, container: Any, index: int) -> Iterator[AnswerText]:
    """Yields the strings under members of a container, but for words of the protocol and opaque data."""
    skipped, opaque = _WORDS["protocol"], _WORDS["opaque"]
    named = members.items() if isinstance(members, dict) else enumerate(members)
    for name, value in named:
        if isinstance(value, dict | list):
            yield from _strings(value, value, index)
        elif isinstance(value, str) and value and name not in skipped and not (name in opaque and is_opaque(value)):
            yield AnswerText(container, name, value, "data" if name == "data" else "text", index)
