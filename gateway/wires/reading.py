"""What the wires share: the gateway's own fields of a request, texts in JSON values, the keys of JSON Schema."""

import json
import re
from collections.abc import Iterator, Set
from typing import Any, Literal, NamedTuple, TypeGuard

from gateway.errors import BadRequest, Unprocessable
from gateway.http.strict_json import Json, is_json, parse
from gateway.models import LONGEST_TASK, PrivacyMode
from gateway.text.answers import AnswerText
from gateway.text.fields import (
    JsonField,
    KeyField,
    MessageField,
    NameField,
    NumberField,
    PropertyField,
    SettingField,
    TextField,
    can_identify,
)
from gateway.text.leads import lead
from gateway.wires.base import Body, Conversation

# Keys of JSON Schema, which describe tools and formats.
SCHEMA_KEYS = frozenset(
    """
    json_schema schema strict definition properties required additionalProperties items enum const default examples
    title description anyOf oneOf allOf not $ref $defs $schema $id definitions minimum maximum exclusiveMinimum
    exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems prefixItems contains
    minProperties maxProperties patternProperties propertyNames dependentRequired dependentSchemas if then else readOnly
    writeOnly deprecated nullable type format name
    """.split()
)

_MODEL = re.compile(r"[\w@][\w.:/@+-]{0,255}\Z", re.ASCII)
# The model in the path of a call to Azure.
_DEPLOYMENT = re.compile(r"/deployments/([\w.-]+)/", re.ASCII)
_EXTENSIONS = ("svc_task", "svc_policy", "svc_privacy_mode")
# Field names of native calls, which no wire has, and their equivalents.
_NATIVE = {"policy": "svc_policy", "policy_id": "svc_policy", "privacy_mode": "svc_privacy_mode"}
_DATA_URI = re.compile(r"\s*data:[^,\s]*[;,]", re.IGNORECASE)
_ENCODED_URI = re.compile(r"\s*data:[a-z]+/[\w.+-]+;base64,[A-Za-z0-9+/\r\n]*={0,2}\s*\Z", re.IGNORECASE)
_WORD = re.compile(r"[a-z][a-z_]{0,31}\Z")
_CACHE_MARKERS = ({"type": "ephemeral"}, *({"type": "ephemeral", "ttl": ttl} for ttl in ("5m", "1h")))
# The words that the API reference allows in a member. Alone, some read like the name of a person.
_ALLOWED = {
    "syntax": "lark regex",
    "voice": "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse",
}
_ALLOWED_WORDS = {member: frozenset(words.split()) for member, words in _ALLOWED.items()}
# In larger objects of an answer, members that get another name move to the end.
_ORDERED_MEMBERS = 64
# Fields that identify the end user. Only their name tells detection so.
_WHO = frozenset({"user", "safety_identifier"})


class Own(NamedTuple):
    """The gateway's own fields of a request."""

    task: str | None
    policy_id: str | None
    mode: PrivacyMode | None

    def put(self, conversation: Conversation) -> None:
        """Sets them on a conversation."""
        conversation.task, conversation.policy_id, conversation.mode = self


def take_own(body: Body) -> Own:
    """Removes the `svc_` fields from a request. Raises Unprocessable for unknown and for native ones."""
    given = {name: _optional_text(body, name) for name in _EXTENSIONS if name in body}
    for name in given:
        del body[name]
    if any(name.lower().startswith("svc_") for name in body):
        # A misspelt field would have no effect and would be forwarded.
        raise Unprocessable(f"Unknown `svc_` field; supported: {', '.join(_EXTENSIONS)}.")
    for name in body:
        if (ours := _NATIVE.get(name.lower())) is not None:
            raise Unprocessable(f"`{name}` has no effect in model calls; use `{ours}` instead.", param=name)
    return Own(given.get("svc_task"), given.get("svc_policy"), _mode(given.get("svc_privacy_mode")))


def named_model(body: Body, path: str) -> object:
    """Returns the model that a request names in its body, or as Azure's clients do, in its path; unchecked."""
    deployment = None if "model" in body else deployment_in(path)
    return deployment or body.get("model")


def deployment_in(path: str) -> str | None:
    """Returns the deployment that a path of Azure's names. Azure serves with it, whatever the body names."""
    deployment = _DEPLOYMENT.search(path)
    return deployment[1] if deployment else None


def model_of(body: Body, path: str = "") -> str:
    """Returns the name of the model. Raises BadRequest."""
    model = named_model(body, path)
    if not isinstance(model, str) or not _MODEL.match(model):
        raise BadRequest("`model` must be the name of a model, without spaces.", param="model")
    return model


def streams(body: Body) -> bool:
    """Returns whether a stream is asked for. Raises BadRequest."""
    stream = body.get("stream", False)
    if stream is not None and not isinstance(stream, bool):
        raise BadRequest("`stream` must be true or false.", param="stream")
    return bool(stream)


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


def _mode(value: str | None) -> PrivacyMode | None:
    if value is None:
        return None
    try:
        return PrivacyMode(value)
    except ValueError:
        message = "`svc_privacy_mode` must be one of: standard, strict."
        raise Unprocessable(message, param="svc_privacy_mode") from None


def check_whole(body: Body, name: str, within: range | None = None) -> None:
    value = body.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise BadRequest(f"`{name}` must be an integer.", param=name)
    if value is not None and within is not None and value not in within:
        raise BadRequest(f"`{name}` must be from {within[0]} to {within[-1]}.", param=name)


def opening_of(first: Body) -> str:
    """Returns the start of a conversation without prompt-cache markers, which clients move at every turn."""

    def unmarked(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: unmarked(member) for name, member in value.items() if name != "cache_control"}
        return [unmarked(member) for member in value] if isinstance(value, list) else value

    return json.dumps(unmarked(first), sort_keys=True)


def text_fields(
    container: Any, key: Any, value: Json, structure: frozenset[str], attachments: set[str], name: str = ""
) -> Iterator[MessageField]:
    """Yields the fields under `container[key]`: strings, numbers and unknown keys.

    Skips keys in `structure`, which belong to the protocol, the words that it allows under them, plain words under
    `type`, and prompt-cache markers, which wander from turn to turn. Adds the kinds of opaque content it meets to
    `attachments`. `name` is the unknown key of an enclosing list, which names the strings in it.
    """
    is_named = isinstance(key, str)
    if is_named:
        name = "" if key in structure else key
    if isinstance(value, str):
        if is_file(value, attachments) or (key in structure and value in _ALLOWED_WORDS.get(key, ())):
            return
        if value and key == "name" and key in structure:
            yield NameField(container, key, value)
        elif value:
            yield TextField(container, key, value, lead(name))
    elif isinstance(value, dict):
        if key == "cache_control" and value in _CACHE_MARKERS:
            return
        for inner, member in value.items():
            if inner != "type" or not (isinstance(member, str) and _WORD.match(member)):
                yield from text_fields(value, inner, member, structure, attachments)
        yield from unknown_keys(value, structure, under=key if key in structure else "")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from text_fields(value, index, member, structure, attachments, name)
    elif is_number(value) and can_identify(repr(value), is_named=is_named and name != ""):
        yield NumberField(container, key, value, lead(name))


def is_file(value: str, attachments: set[str]) -> bool:
    """Whether a string is a data URL (RFC 2397) in base64. Every data URL counts as an attachment."""
    if _DATA_URI.match(value) is None:
        return False
    attachments.add("data")
    return _ENCODED_URI.match(value) is not None


def unknown_keys(value: Body, structure: frozenset[str], *, under: str = "") -> Iterator[MessageField]:
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


def is_number(value: Json) -> TypeGuard[int | float]:
    """Whether a JSON value is a number, which excludes booleans."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def json_field(container: Any, key: Any, value: str) -> MessageField:
    """Returns the field of a string that should be a JSON document. If it is not, all of it is text."""
    return JsonField(container, key, value) if is_json(value) else TextField(container, key, value)


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


def refuse_token_numbers(body: Body, option: str = "") -> None:
    """Raises BadRequest for a list of numbers anywhere: token numbers are text that cannot be searched."""
    for name, value in body.items():
        if _has_number_list(value):
            advice = f" {option}" if option else ""
            # Any other name may be private.
            param = name if name in {"input", "prompt"} else None
            where = f"`{param}`" if param else "The body"
            message = f"{where} holds token numbers, which the gateway cannot protect; send text.{advice}"
            raise BadRequest(message, param=param)


def _has_number_list(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_has_number_list, value.values()))
    return isinstance(value, list) and any(is_number(item) or _has_number_list(item) for item in value)


def setting_fields(
    body: Body, name: str, value: Json, structure: frozenset[str], numbers: frozenset[str], attachments: set[str]
) -> Iterator[MessageField]:
    """Yields the fields of a member of a request that belongs to the single request.

    Those in `numbers` stay numbers. In `metadata`, every key is the caller's, even one of the protocol.
    """
    if name in numbers and is_number(value):
        if can_identify(repr(value), is_named=False):
            yield SettingField(body, name, value)
    elif name in _WHO and isinstance(value, str):
        yield NameField(body, name, value, lead("name"))
    else:
        yield from text_fields(body, name, value, frozenset() if name == "metadata" else structure, attachments)


def token_counts(usage: Json, inputs: str, outputs: str) -> tuple[int, int] | None:
    """Returns the input and output tokens of an answer's usage, if it has both."""
    counts = (usage.get(inputs), usage.get(outputs)) if isinstance(usage, dict) else ()
    match counts:
        case (int(given), int(made)) if given >= 0 and made >= 0:
            return given, made
    return None


def put_note(target: Body, note: Body | None) -> None:
    """Sets the gateway's own member, replacing any that the upstream sent."""
    target.pop("svc", None)
    if note is not None:
        target["svc"] = note


# Base64, also that for URLs, with digits and letters of both cases: numbers, codes and names rarely have all three.
# Keys of vendors begin with a word: `sk-`, `ghp_`, `AKIA`.
_OPAQUE = re.compile(
    r"(?![a-z]{2,12}[-_]|A[KS]IA|AIza)"
    r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9])[A-Za-z0-9+/_-]{16,}={0,2}\Z"
)


def is_opaque(value: Json) -> TypeGuard[str]:
    """Whether a value looks like a signature or encrypted content, which only the provider can read."""
    return isinstance(value, str) and _OPAQUE.match(value) is not None


class DocumentWriter:
    """Writes a restored JSON document back to a member that is not a string."""

    def __init__(self, container: Body) -> None:
        self._container = container

    def __setitem__(self, name: str, text: str) -> None:
        self._container[name] = parse(text) if is_json(text) else text


def value_fields(
    container: Any, key: Any, value: Json, *, under: str = "", documents: bool = False
) -> Iterator[MessageField]:
    """Yields the fields under `container[key]` where every key is the caller's, even one of the protocol.

    `under` is the key of an enclosing list. With `documents`, a string may be a JSON document.
    """
    is_named = isinstance(key, str)
    under = key if is_named else under
    if isinstance(value, str):
        if documents and value.lstrip()[:1] in {"{", "["}:
            yield json_field(container, key, value)
        elif value:
            yield TextField(container, key, value, lead(under))
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from value_fields(value, name, member, documents=documents)
        yield from (KeyField(value, name) for name in value)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from value_fields(value, index, member, under=under, documents=documents)
    elif is_number(value) and can_identify(repr(value), is_named=is_named):
        yield NumberField(container, key, value, lead(under))
