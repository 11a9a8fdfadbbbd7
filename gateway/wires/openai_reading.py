"""Reads the parts of requests that the wires of OpenAI's API share: members, settings, token numbers."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from gateway.http.strict_json import Json
from gateway.text.fields import MessageField, NameField, TextField
from gateway.text.leads import lead
from gateway.wires.base import Body
from gateway.wires.reading import FieldReader, is_file, is_number, token_numbers

_WORD = re.compile(r"[a-z][a-z_]{0,31}\Z")
_CACHE_MARKERS = ({"type": "ephemeral"}, *({"type": "ephemeral", "ttl": ttl} for ttl in ("5m", "1h")))
# The words that the API reference allows in a member. Alone, some read like the name of a person.
_ALLOWED = {
    "syntax": "lark regex",
    "voice": "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse",
}
_ALLOWED_WORDS = {member: frozenset(words.split()) for member, words in _ALLOWED.items()}
# Fields that identify the end user. Only their name tells detection so.
_WHO = frozenset({"user", "safety_identifier"})


class OpenAIReader(FieldReader):
    """Skips the words that the protocol allows in a member, plain words under `type`, and prompt-cache markers, which
    move from turn to turn.
    """

    def fields(self, container: Any, key: Any, value: Json, under: str = "") -> Iterator[MessageField]:
        is_marker = key == "cache_control" and value in _CACHE_MARKERS
        return iter(()) if is_marker else super().fields(container, key, value, under)

    def member(self, container: Body, name: str, value: Json) -> Iterator[MessageField]:
        is_kind = name == "type" and isinstance(value, str) and _WORD.match(value)
        return iter(()) if is_kind else super().member(container, name, value)

    def string(self, container: Any, key: Any, value: str, under: str, label: str) -> Iterator[MessageField]:
        if is_file(value, self.files) or (key in self.keys and value in _ALLOWED_WORDS.get(key, ())):
            return
        if value and key == "name" and key in self.keys:
            yield NameField(container, key, value)
        elif value:
            yield TextField(container, key, value, label)

    def setting(self, body: Body, name: str, value: Json) -> Iterator[MessageField]:
        """In `metadata`, every key is the caller's, even one of the protocol."""
        if name in _WHO and isinstance(value, str):
            return iter((NameField(body, name, value, lead("name")),))
        return (
            OpenAIReader(self.files).fields(body, name, value)
            if name == "metadata"
            else super().setting(body, name, value)
        )


def first_text(fields: Iterable[MessageField], default: str) -> str:
    """Returns the first text of a request without turns, which is its seed."""
    return next((text for field in fields for text in field.texts), default)


def refuse_token_numbers(body: Body, option: str = "") -> None:
    """Raises BadRequest for a list of numbers anywhere: token numbers are text that cannot be searched."""
    for name, value in body.items():
        if _has_number_list(value):
            # Any other name may be private.
            raise token_numbers(name if name in {"input", "prompt"} else None, option)


def _has_number_list(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_has_number_list, value.values()))
    return isinstance(value, list) and any(is_number(item) or _has_number_list(item) for item in value)
