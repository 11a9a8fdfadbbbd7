"""A value is searched with its announcement, in a parsed body and in a document inside a string alike."""

import json
from typing import Any

import pytest

from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.text.fields import JsonField, MessageField
from gateway.wires.base import Body, Wire
from gateway.wires.reading import ValueReader
from tests.gateway.wires.contract.cases import cases, copied, filled
from tests.tables import table

CASES = table(__file__)

PASSWORD, KEY = "hunter-Zebra-42x", "q8Zk3Jx9QmV2bTz8LrWp5N"
GIVEN: list[tuple[Any, list[str]]] = CASES["given"]


def searched(fields: list[MessageField], keys: set[str]) -> list[str]:
    return [text for field in fields for text in field.texts if text not in keys]


def keys_of(value: Any) -> set[str]:
    if isinstance(value, dict):
        return {*value, *(name for inner in value.values() for name in keys_of(inner))}
    return {name for inner in value for name in keys_of(inner)} if isinstance(value, list) else set()


@pytest.mark.parametrize(("given", "texts"), GIVEN)
def test_a_value_is_searched_with_what_its_siblings_say(given: Any, texts: list[str]) -> None:
    keys = keys_of(given)
    assert searched([*ValueReader().fields({"x": given}, "x", given)], keys | {"x"}) == [
        # The key of a list without a name of its own.
        *(f"x: {text}" if isinstance(given, list) and text in given else text for text in texts)
    ]
    for document in (json.dumps(given), json.dumps(given, indent=2)):
        # Numbers follow all strings.
        assert sorted(searched([JsonField({}, "arguments", document)], keys)) == sorted(texts)


CALLS: list[tuple[Body, str]] = [
    ({"env": [{"name": "DB_PASSWORD", "value": PASSWORD}]}, PASSWORD),
    ({"fields": [{"value": PASSWORD, "type": "textbox", "name": "Password"}]}, PASSWORD),
    ({"selector": "#password", "text": PASSWORD}, PASSWORD),
    ({"command": ["mysql", "--password", PASSWORD, "main"]}, PASSWORD),
    ({"command": "npx", "args": ["-y", "server", "--api-key", KEY]}, KEY),
    ({"command": ["curl", "-s", "-u", f"anna:{PASSWORD}", "https://db.acme.test"]}, PASSWORD),
]


@pytest.mark.parametrize(("call", "secret"), CALLS)
@pytest.mark.parametrize(("wire", "path", "request_"), cases("objects"))
def test_a_secret_that_only_its_sibling_announces_is_hidden(
    protector: Protector, policy: Policy, wire: Wire, path: str, request_: Body, call: Body, secret: str
) -> None:
    body = filled(request_, copied(call))
    conversation = wire.read(body, path)
    protector.protect(conversation.blocks, policy, conversation.privacy_mode, Placeholders(b"k" * 32))
    assert secret not in json.dumps(body)


@pytest.mark.parametrize(("identifier", "hidden"), CASES["the_kind_of_an_identifier_is_read_in_a_document"])
def test_the_kind_of_an_identifier_is_read_in_a_document(
    protector: Protector, policy: Policy, identifier: dict[str, Any], hidden: bool
) -> None:
    body = {"arguments": json.dumps({"resourceType": "Patient", "identifier": [identifier]})}
    field = JsonField(body, "arguments", body["arguments"])
    protector.protect([[field]], policy, PrivacyMode.STANDARD, Placeholders(b"k" * 32))
    assert ("48213" not in body["arguments"]) is hidden


@pytest.mark.parametrize(("key", "number"), CASES["a_private_number_leaves_a_document_that_parses"])
def test_a_private_number_leaves_a_document_that_parses(
    protector: Protector, policy: Policy, key: str, number: int
) -> None:
    document = json.dumps({key: number, "count": 12})
    body = {"arguments": document}
    placeholders = Placeholders(b"k" * 32)
    field = JsonField(body, "arguments", document)
    protector.protect([[field]], policy, PrivacyMode.STANDARD, placeholders)
    protected = json.loads(body["arguments"])
    assert protected["count"] == 12
    assert isinstance(protected[key], str)
    assert placeholders.restore_json(body["arguments"], rules=RestoreScope("source")).text == document
