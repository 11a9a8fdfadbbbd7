"""Reads the parts of requests that wires share: the gateway's own fields, turns, the fields of JSON values."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Set
from typing import Any, TypeGuard

from gateway.corrections.given import ALLOW, DENY
from gateway.detection.data_files import word_lists
from gateway.errors import BadRequest, Unprocessable
from gateway.http.strict_json import Json, is_json
from gateway.models import LONGEST_TASK, PrivacyMode
from gateway.text.fields import (
    JsonField,
    KeyField,
    MessageField,
    NumberField,
    Place,
    PropertyField,
    SettingField,
    TextField,
    can_identify,
    placed,
)
from gateway.text.leads import lead
from gateway.wires.base import Body, Conversation

SCHEMA_KEYS = word_lists(__file__)["schema"]

_MODEL = re.compile(r"[\w@][\w.:/@+-]{0,255}\Z", re.ASCII)
# The model in a path: a deployment of Azure, or the engine of Copilot's completions in editors.
_DEPLOYMENT = re.compile(r"/(?:deployments|engines)/([\w.-]+)/", re.ASCII)
_TEXTS = ("svc_task", "svc_policy", "svc_privacy_mode")
_EXTENSIONS = (*_TEXTS, ALLOW, DENY)
# Field names of native calls, which no wire has, and their equivalents.
_NATIVE = {"policy": "svc_policy", "policy_id": "svc_policy", "privacy_mode": "svc_privacy_mode"}
# Members by which servers take text as token numbers. Tables that anyone has turn them into the text again.
_TOKEN_MEMBERS = frozenset(
    "context input input_ids inputs prompt prompt_ids prompt_token_ids prompt_tokens token_ids tokens".split()
)
_DATA_URI = re.compile(r"\s*data:[^,\s]*[;,]", re.IGNORECASE)
_ENCODED_URI = re.compile(r"\s*data:[a-z]+/[\w.+-]+;base64,[A-Za-z0-9+/\r\n]*={0,2}\s*\Z", re.IGNORECASE)


def begun(body: Body, path: str = "", *, can_stream: bool = True, model: object = None) -> Conversation:
    """Returns a conversation without blocks. Without `model`, body or path name it.

    Raises BadRequest for the model, and Unprocessable like `take_own`.
    """
    conversation = Conversation(body, "", False)
    take_own(conversation)
    conversation.model = _checked(model or named_model(body, path))
    conversation.stream = can_stream and _streams(body)
    return conversation


def take_own(conversation: Conversation) -> None:
    """Moves the `svc_` fields out of the request's body. Raises Unprocessable for unknown and for native ones, and
    BadRequest for token numbers.
    """
    body = conversation.body
    refuse_token_members(body)
    take_corrections(conversation)
    given = {name: _optional_text(body, name) for name in _TEXTS if name in body}
    for name in given:
        del body[name]
    if any(name.lower().startswith("svc_") for name in body):
        # A misspelt field would have no effect and would be forwarded.
        raise Unprocessable(f"Unknown `svc_` field; supported: {', '.join(_EXTENSIONS)}.")
    for name in body:
        if (ours := _NATIVE.get(name.lower())) is not None:
            raise Unprocessable(f"`{name}` has no effect in model calls; use `{ours}` instead.", param=name)
    conversation.task, conversation.policy_id = given.get("svc_task"), given.get("svc_policy")
    if (mode := given.get("svc_privacy_mode")) is not None:
        try:
            conversation.mode = PrivacyMode(mode)
        except ValueError:
            message = "`svc_privacy_mode` must be one of: standard, strict."
            raise Unprocessable(message, param="svc_privacy_mode") from None


def take_corrections(conversation: Conversation) -> None:
    """Moves the caller's corrections out of the request's body. Whether they hold depends on the caller."""
    conversation.allow, conversation.deny = conversation.body.pop(ALLOW, None), conversation.body.pop(DENY, None)


def refuse_token_members(body: Body) -> None:
    """Raises BadRequest if a member gives text as token numbers."""
    for name in sorted(_TOKEN_MEMBERS & body.keys()):
        if _holds_whole_numbers(body[name]):
            raise token_numbers(name)


def token_numbers(param: str | None, option: str = "") -> BadRequest:
    """Returns the error for token numbers in a member, or with no `param` somewhere. `option` says how to send text."""
    where, advice = f"`{param}`" if param else "The body", f" {option}" if option else ""
    message = f"{where} holds token numbers, which the gateway cannot protect; send text.{advice}"
    return BadRequest(message, param=param)


def _holds_whole_numbers(value: Json) -> bool:
    return isinstance(value, list) and any(
        (isinstance(item, int) and not isinstance(item, bool)) or _holds_whole_numbers(item) for item in value
    )


def _optional_text(body: Body, name: str) -> str | None:
    value = body[name]
    if value is not None and not isinstance(value, str):
        raise Unprocessable(f"`{name}` must be a string.", param=name)
    if name == "svc_policy" and value == "":
        # An invalid policy name must not silently select the default policy.
        raise Unprocessable(f"`{name}` must name a policy.", param=name)
    if name == "svc_task" and value is not None and len(value) > LONGEST_TASK:
        raise Unprocessable(f"`{name}` must have at most {LONGEST_TASK} characters.", param=name)
    return value


def named_model(body: Body, path: str) -> object:
    """Returns the model that a request names in its body or, as clients of Azure do, in its path; unchecked."""
    deployment = None if "model" in body else deployment_in(path)
    return deployment or body.get("model")


def deployment_in(path: str) -> str | None:
    """Returns the deployment or engine that a path names. It serves the call, whatever the body names."""
    deployment = _DEPLOYMENT.search(path)
    return deployment[1] if deployment else None


def _checked(model: object) -> str:
    if not isinstance(model, str) or not _MODEL.match(model):
        raise BadRequest("`model` must be the name of a model, without spaces.", param="model")
    return model


def _streams(body: Body) -> bool:
    stream = body.get("stream", False)
    if stream is not None and not isinstance(stream, bool):
        raise BadRequest("`stream` must be true or false.", param="stream")
    return bool(stream)


def check_whole(body: Body, name: str, within: range | None = None) -> None:
    """Raises BadRequest if a member of a request is not an integer, or not one within a range."""
    value = body.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise BadRequest(f"`{name}` must be an integer.", param=name)
    if value is not None and within is not None and value not in within:
        raise BadRequest(f"`{name}` must be from {within[0]} to {within[-1]}.", param=name)


def non_empty_list(body: Body, name: str) -> list[Any]:
    """Returns the list that a member of a request must be, with something in it. Raises BadRequest."""
    value = body.get(name)
    if not isinstance(value, list) or not value:
        raise BadRequest(f"`{name}` must be a non-empty list.", param=name)
    return value


def check_role(message: Any, where: str, roles: frozenset[str]) -> str:
    """Returns the role of a message. Raises BadRequest."""
    if not isinstance(message, dict):
        raise BadRequest(f"`{where}` must be an object.", param=where)
    role = message.get("role")
    if not isinstance(role, str) or role not in roles:
        raise BadRequest(f"`{where}.role` must be one of: {', '.join(sorted(roles))}.", param=f"{where}.role")
    return role


def plain_text(content: Any) -> str:
    """Returns the text of a message's content: a string, or parts with texts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


type Turn = tuple[bool, str, Iterable[MessageField]]
"""Whether a turn of the model starts with a message, what a user says in it, and its fields."""


def divide(
    conversation: Conversation,
    before: Iterable[MessageField],
    turns: Iterable[Turn],
    opening: Callable[[int | None], Body],
) -> None:
    """Adds the blocks of a conversation, and finds its seed.

    `before` are the fields that precede the messages. `opening` returns the start of the request, up to that message.
    """
    blocks, block = conversation.blocks, [*before]
    first_cut: int | None = None
    for index, (starts, said, fields) in enumerate(turns):
        if starts and block:
            first_cut = index if first_cut is None else first_cut
            blocks.append(block)
            block = []
        if not conversation.seed and said.strip():
            conversation.seed, conversation.before_seed = said, len(blocks)
        block += fields
    blocks.append(block)
    if not conversation.seed or conversation.before_seed:
        conversation.opening = opening_of(opening(first_cut))
        conversation.seed = conversation.seed or conversation.opening


def divide_messages(
    conversation: Conversation, reader: "FieldReader", first: Iterable[str], messages: list[Any], turns: Iterable[Turn]
) -> None:
    """Adds the blocks of a request whose `messages` a model reads after its members named in `first`."""
    body = conversation.body
    before = {name: body[name] for name in first if name in body}
    lasting = (field for name in before for field in reader.fields(body, name, body[name]))
    opening = placed(Place.INSTRUCTIONS, lasting)
    divide(conversation, opening, turns, lambda cut: {**before, "messages": messages[:cut]})


def opening_of(first: Body) -> str:
    """Returns the start of a conversation without prompt-cache markers, which clients move at every turn."""

    def unmarked(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: unmarked(member) for name, member in value.items() if name != "cache_control"}
        return [unmarked(member) for member in value] if isinstance(value, list) else value

    return json.dumps(unmarked(first), sort_keys=True)


class FieldReader:
    """Yields the fields of a request. Everything that is not known to be structure is text.

    `keys` are those of the protocol. Any other key could be private and is searched. `numbers` are the settings that
    must be numbers. `files` fills up meanwhile with the kinds of content that is no text.
    """

    def __init__(self, files: set[str], keys: Set[str] = frozenset(), numbers: Set[str] = frozenset()) -> None:
        self.files = files
        self.keys = keys
        self.numbers = numbers

    def fields(self, container: Any, key: Any, value: Json, under: str = "") -> Iterator[MessageField]:
        """Yields the fields under `container[key]`: strings, numbers and unknown keys.

        `under` is the nearest key: that of the list which has the value, for one.
        """
        is_named = isinstance(key, str)
        under = key if is_named else under
        label = "" if under in self.keys else lead(under)
        if isinstance(value, str):
            yield from self.string(container, key, value, under, label)
        elif isinstance(value, dict):
            yield from self.members(value, under=key if is_named and key in self.keys else "")
        elif isinstance(value, list):
            for index, member in enumerate(value):
                yield from self.fields(value, index, member, under)
        elif is_number(value) and can_identify(repr(value), is_named=is_named and under not in self.keys):
            yield self.number(container, key, value, under, label)

    def members(self, value: Body, besides: frozenset[str] = frozenset(), *, under: str = "") -> Iterator[MessageField]:
        """Yields the fields of the members of an object, except those named in `besides`, and its unknown keys.

        `under` is the key of the object, if it is one of the protocol.
        """
        for name, member in value.items():
            if name not in besides:
                yield from self.member(value, name, member)
        yield from unknown_keys(value, self.keys, under=under)

    def member(self, container: Body, name: str, value: Json) -> Iterator[MessageField]:
        """Yields the fields of a member of an object."""
        return self.fields(container, name, value)

    def settings(self, body: Body, read: Set[str]) -> Iterator[MessageField]:
        """Yields the fields of all members of a request but those in `read`, and its unknown keys."""
        for name, value in body.items():
            if name not in read:
                yield from self.setting(body, name, value)
        yield from unknown_keys(body, self.keys)

    def setting(self, body: Body, name: str, value: Json) -> Iterator[MessageField]:
        """Yields the fields of a member that belongs to the single request. Those in `numbers` stay numbers."""
        if name not in self.numbers or not is_number(value):
            yield from self.fields(body, name, value)
        elif can_identify(repr(value), is_named=False):
            yield SettingField(body, name, value)

    def string(self, container: Any, key: Any, value: str, under: str, label: str) -> Iterator[MessageField]:
        """Yields the field of a string. `label` announces it."""
        if value:
            yield TextField(container, key, value, label)

    def number(self, container: Any, key: Any, value: float, under: str, label: str) -> MessageField:
        """Returns the field of a number. `label` announces it."""
        return NumberField(container, key, value, label)


class ValueReader(FieldReader):
    """Yields the fields of values in which every key is the caller's, even one of the protocol.

    With `documents`, a string may be a JSON document.
    """

    def __init__(self, *, documents: bool = False) -> None:
        super().__init__(set())
        self._documents = documents

    def string(self, container: Any, key: Any, value: str, under: str, label: str) -> Iterator[MessageField]:
        if self._documents and value.lstrip()[:1] in {"{", "["}:
            yield json_field(container, key, value)
        else:
            yield from super().string(container, key, value, under, label)


def continuing(fields: Iterable[MessageField], key: int | str = "text") -> Iterator[MessageField]:
    """Yields the fields of a part whose text a model reads as a continuation of the previous part."""
    for field in fields:
        if isinstance(field, TextField) and field.key in {key, "text"}:
            field.goes_on = True
        yield field


def is_file(value: str, files: set[str]) -> bool:
    """Whether a string is a data URL (RFC 2397) in base64. Every data URL counts as a file."""
    if _DATA_URI.match(value) is None:
        return False
    files.add("data")
    return _ENCODED_URI.match(value) is not None


def unknown_keys(value: Body, structure: Set[str], *, under: str = "") -> Iterator[MessageField]:
    """Yields the keys that are not in `structure`. They follow the values of their object, whose fields refer to the
    old key. `under` is the key of the object, if it is one of the protocol.
    """
    for name in value:
        if name not in structure:
            is_property = under == "properties" and isinstance(value[name], dict)
            yield PropertyField(value, name) if is_property else KeyField(value, name)


def word(value: object) -> str:
    """Returns a string as it is, and for any other value an empty one, which no set of words has."""
    return value if isinstance(value, str) else ""


def kind_of(part: Body) -> str:
    """Returns the `type` of a part, for the list of files."""
    kind = part.get("type")
    return kind if isinstance(kind, str) else "unknown"


def is_number(value: Json) -> TypeGuard[int | float]:
    """Whether a JSON value is a number, which excludes booleans."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def json_field(container: Any, key: Any, value: str) -> MessageField:
    """Returns the field of a string that should be a JSON document. If it is not, all of it is text."""
    return JsonField(container, key, value) if is_json(value) else TextField(container, key, value)


# Base64, also that for URLs, with digits and letters of both cases: numbers, codes and names rarely have all three.
# Keys of vendors begin with a word: `sk-`, `ghp_`, `AKIA`.
_OPAQUE = re.compile(
    r"(?![a-z]{2,12}[-_]|A[KS]IA|AIza)"
    r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])[A-Za-z0-9+/_-]{16,}={0,2}\Z"
)


def is_opaque(value: Json) -> TypeGuard[str]:
    """Whether a value looks like a signature or encrypted content, which only the provider can read."""
    return isinstance(value, str) and _OPAQUE.match(value) is not None
