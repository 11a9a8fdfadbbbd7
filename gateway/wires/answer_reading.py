"""Reads the strings of answers: texts, keys, documents, and the counts of tokens."""

from collections.abc import Iterator, Set
from typing import Any, Literal

from gateway.http.strict_json import is_json, parse
from gateway.text.answers import AnswerText
from gateway.wires.base import Body, Tokens
from gateway.wires.members import object_at

# In larger objects of an answer, members that get another name move to the end.
_ORDERED_MEMBERS = 64


def answer_strings(value: Any, container: Any, key: Any, choice: int) -> Iterator[AnswerText]:
    """Yields every string under `value` as plain text, and keys."""
    if isinstance(value, str):
        yield AnswerText(container, key, value, choice=choice)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from answer_strings(inner, value, name, choice)
        yield from answer_keys(value, choice)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from answer_strings(inner, value, index, choice)


class _KeyWriter:
    """Renames the member of an object, unless the object has one of that name already.

    It stays in its place but in a large object, where keeping the order of many would take quadratic time.
    """

    def __init__(self, container: Body) -> None:
        self._container = container

    def __setitem__(self, name: str, text: str) -> None:
        members = self._container
        if text in members:
            return
        if len(members) > _ORDERED_MEMBERS:
            members[text] = members.pop(name)
            return
        renamed = [(text if key == name else key, value) for key, value in members.items()]
        members.clear()
        members.update(renamed)


def answer_keys(value: Body, choice: int, kind: Literal["text", "echo"] = "text") -> Iterator[AnswerText]:
    """Yields the keys of an object that may hold a placeholder. They follow the values, which refer to the old key."""
    for name in value:
        if "[" in name:
            yield AnswerText(_KeyWriter(value), name, name, kind, choice)


def strings_beside(known: Set[str], body: Body) -> Iterator[AnswerText]:
    """Yields the strings under names that a wire does not know: an error, or what some providers add."""
    for name, value in body.items():
        if name not in known:
            yield from answer_strings(value, body, name, 0)


def token_counts(body: Body, inputs: str, outputs: str) -> Tokens:
    """Returns the input and output tokens that an answer reports, if it has both."""
    given = object_at(body, "usage")
    read, written = count_of(given.get(inputs)), count_of(given.get(outputs))
    return (None, None) if read is None or written is None else (read, written)


def count_of(value: object) -> int | None:
    """Returns a number of tokens; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


class DocumentWriter:
    """Writes a restored JSON document back to a member that is not a string."""

    def __init__(self, container: Body) -> None:
        self._container = container

    def __setitem__(self, name: str, text: str) -> None:
        self._container[name] = parse(text) if is_json(text) else text
