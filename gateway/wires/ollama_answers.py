"""Reads the answers of Ollama's API, whole and streamed: each line of a stream continues what the model says."""

from collections.abc import Iterator

from gateway.detection.data_files import word_lists
from gateway.http.strict_json import dump
from gateway.models import Family
from gateway.text.answers import AnswerText, Channel
from gateway.wires.answer_reading import DocumentWriter, answer_strings, count_of, strings_beside
from gateway.wires.base import Body, EventFormat, Tokens, Wire
from gateway.wires.members import object_at, objects_at
from gateway.wires.reading import word

_WORDS = word_lists(__file__)
_THINKING = "thinking"


class AnswerLines(EventFormat):
    """The lines of a streamed answer. `place` is the member that holds what the model says, if any; `said` the text."""

    family: Family = "ollama"

    def __init__(self, place: str, said: str) -> None:
        self._place, self._said = place, said

    def texts(self, event: Body) -> list[AnswerText]:
        return [*self.read(event, streamed=True)]

    def read(self, body: Body, *, streamed: bool = False) -> Iterator[AnswerText]:
        """Yields the strings of a whole answer, or of a line of a stream, that are text."""
        spoken = self._spoken(body)
        growing = (_THINKING, self._said)
        for name in growing:
            if isinstance(text := spoken.get(name), str) and text:
                scored = body if name == self._said else None
                yield AnswerText(spoken, name, text, channel=(name,) if streamed else None, scored=scored)
        for call in objects_at(spoken, "tool_calls"):
            yield from _call_texts(call)
        if self._place:
            known = {*growing, "tool_calls", *_WORDS["message"]}
            yield from strings_beside(known, spoken)
        yield from strings_beside({*growing, self._place, *_WORDS["answer"]}, body)

    def ends_channel(self, event: Body, channel: Channel) -> bool:
        """The last line ends all texts. What the model says ends its thinking, and so do calls of tools."""
        spoken = self._spoken(event)
        if event.get("done") is True or "error" in event:
            return True
        return bool(spoken.get("tool_calls")) or (channel == (_THINKING,) and bool(spoken.get(self._said)))

    def continued(self, channel: Channel, text: str, last: Body) -> Body:
        return self._answer({self._said: "", str(channel[0]): text}, last) | {"done": False}

    def is_last(self, event: Body) -> bool:
        return event.get("done") is True

    def refusal(self, message: str, like: Body) -> list[Body | bytes]:
        return [self.refused(message, like)]

    def refused(self, message: str, like: Body) -> Body:
        """Returns an answer, or the last line of one, that has the message alone."""
        return self._answer({self._said: message}, like) | {"done": True, "done_reason": "content_filter"}

    def _spoken(self, body: Body) -> Body:
        return object_at(body, self._place) if self._place else body

    def _answer(self, said: Body, like: Body) -> Body:
        identity = {name: like[name] for name in ("model", "created_at") if name in like}
        return identity | ({self._place: {"role": "assistant", **said}} if self._place else said)


class AnsweringWire(Wire):
    """A wire of calls that a model answers. The lines of a stream have the members of a whole answer."""

    family: Family = "ollama"
    stream: AnswerLines

    def answer_texts(self, body: Body) -> list[AnswerText]:
        return [*self.stream.read(body)]

    def usage(self, body: Body) -> Tokens:
        return count_of(body.get("prompt_eval_count")), count_of(body.get("eval_count"))

    def refuse_answer(self, body: Body, message: str) -> None:
        refused = self.stream.refused(message, body)
        body.clear()
        body |= refused


def _call_texts(call: Body) -> Iterator[AnswerText]:
    """Yields the strings of a call, which is never in pieces. Its arguments are one document."""
    function = object_at(call, "function")
    tool = word(function.get("name")) or None
    for name, value in function.items():
        if name == "name" and tool:
            yield AnswerText(function, name, tool, tool=tool)
        elif name == "arguments" and value and isinstance(value, dict | list):
            yield AnswerText(DocumentWriter(function), name, dump(value).decode(), kind="json", tool=tool)
        else:
            yield from answer_strings(value, function, name, 0)
    yield from strings_beside({"function", "type", "id"}, call)
