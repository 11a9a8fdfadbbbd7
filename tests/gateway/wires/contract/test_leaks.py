"""Nothing private is sent, on any wire: values of every kind in every place of a request, numbers, files, keys."""

import base64
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import BadRequest, GatewayError
from gateway.wires.base import Body, Wire
from gateway.wires.other_json import OTHER_JSON
from tests.gateway.wires.contract.cases import CASES, cases, copied, filled, planted, wire_of
from tests.gateway.wires.leaks import leaks, sent_for
from tests.tables import table

ROWS = table(__file__)

# A text, and the value in it, in parts so that no one takes a key for a real one.
KINDS = {kind: (said, "".join(parts)) for kind, (said, *parts) in ROWS["kinds"].items()}
# A name is announced by what precedes it, for which an address has no room.
IN_ADDRESSES = [kind for kind in KINDS if kind != "person"]
NUMBERS = ROWS["numbers"]
VENDORS = {kind: KINDS[kind][1] for kind in ("provider key", "code host token", "cloud key")}
SIGNED = "Made1Up2" * 8 + "=="
# Where a provider may write something that only it can read.
WRITTEN = ("signature of a thought", "encrypted reasoning", "thought of a model")


@pytest.fixture(scope="module")
async def container(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Container]:
    settings = load_settings(None, data_dir=tmp_path_factory.mktemp("leaks"), detection="patterns")
    async with await Container.start(settings) as running:
        await running.policies.create({"id": "files", "title": "Files", "extends": "default", "attachments": "pass"})
        yield running


def spellings(value: str) -> Iterator[bytes]:
    """Yields the ways in which a value could be written in a body."""
    half = len(value) // 2
    for line in [*value.split("\n")[:2], *([value[:half], value[half:]] if half >= 7 else [])]:
        for text in (line, line.replace(" ", "")):
            plain = json.dumps(text)[1:-1]
            yield from map(str.encode, (text, plain, json.dumps(plain)[1:-1], quote(text)))
            yield json.dumps(text, ensure_ascii=False)[1:-1].encode()
        yield base64.b64encode(line.encode()).rstrip(b"=")[:-1]


async def sent(container: Container, wire: Wire, body: Body, path: str, *, files: bool = False) -> bytes | GatewayError:
    """Returns what is sent of a request, or why it is refused. With `files`, the policy lets files pass."""
    policy = {"svc_policy": "files"} if files and wire is not OTHER_JSON else {}
    try:
        return await sent_for(container, wire, {**copied(body), **policy}, path)
    except GatewayError as error:
        return error


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("id", CASES)
async def test_no_value_is_sent(container: Container, id: str, kind: str) -> None:
    said, value = KINDS[kind]
    leaked, refused = [], 0
    for place, body in {**CASES[id]["positions"], **CASES[id].get("left_out", {})}.items():
        found = await sent(container, wire_of(id), planted(body, said.format(value)), CASES[id]["path"])
        if isinstance(found, GatewayError):
            refused += 1
            found = f"{found.message} {found.param}".encode()
        if any(spelled in found for spelled in spellings(value)):
            leaked.append(place)
    assert leaked == []
    assert refused <= 3


@pytest.mark.slow
@pytest.mark.parametrize("id", CASES)
async def test_text_in_a_data_url_is_not_sent(container: Container, id: str) -> None:
    """Where a policy lets files pass, what is no file in base64 is text."""
    value = "anna.keller@acme.test"
    for said in (
        f"data:,{value}",
        f"data:text/plain;charset=utf-8,{quote(value)}",
        f"data:text/plain;{value};base64,QUJD",
    ):
        for place, body in CASES[id]["positions"].items():
            found = await sent(container, wire_of(id), planted(body, said), CASES[id]["path"], files=True)
            assert isinstance(found, GatewayError) or not any(each in found for each in spellings(value)), place


@pytest.mark.slow
@pytest.mark.parametrize("kind", IN_ADDRESSES)
@pytest.mark.parametrize(("wire", "path", "body"), cases("files"))
async def test_no_value_is_sent_in_the_name_or_address_of_a_file(
    container: Container, wire: Wire, path: str, body: Body, kind: str
) -> None:
    said, value = KINDS[kind]
    found = await sent(container, wire, planted(body, said.format(value)), path, files=True)
    assert isinstance(found, bytes)
    assert not any(spelled in found for spelled in spellings(value))


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(("wire", "path", "body"), cases("objects"))
async def test_no_number_is_sent_that_its_key_explains(
    container: Container, wire: Wire, path: str, body: Body, name: str
) -> None:
    found = await sent(container, wire, filled(body, {name: NUMBERS[name]}), path, files=True)
    assert isinstance(found, bytes)
    assert str(NUMBERS[name]).encode() not in found


@pytest.mark.slow
@pytest.mark.parametrize(("wire", "_", "case"), cases("leaks"))
async def test_no_string_and_no_key_lets_a_value_be_sent(container: Container, wire: Wire, _: str, case: Any) -> None:
    path, body = case
    assert await leaks(container, wire, {**body, "svc_policy": "files"}, path) == []


@pytest.mark.slow
@pytest.mark.parametrize("value", ["4111 1111 1111 1111", "anna.schmidt@acme.test", "DE89 3704 0044 0532 0130 00"])
@pytest.mark.parametrize("id", CASES)
async def test_no_value_is_sent_in_any_place_of_the_reference(container: Container, id: str, value: str) -> None:
    for place, body in CASES[id].get("texts", {}).items():
        found = await sent(container, wire_of(id), planted(body, value), CASES[id]["path"], files=True)
        assert isinstance(found, GatewayError) or value.encode() not in found, place


@pytest.mark.parametrize("key", VENDORS)
@pytest.mark.parametrize(("wire", "path", "body"), cases("opaque"))
async def test_no_key_of_a_vendor_is_sent_as_a_signature(
    container: Container, wire: Wire, path: str, body: Body, key: str
) -> None:
    assert VENDORS[key].encode() not in await sent_for(container, wire, planted(body, VENDORS[key]), path)


@pytest.mark.parametrize(("wire", "path", "body"), [case for case in cases("opaque") if case.id.endswith(WRITTEN)])
async def test_a_signature_is_sent_as_it_is(container: Container, wire: Wire, path: str, body: Body) -> None:
    assert SIGNED.encode() in await sent_for(container, wire, planted(body, SIGNED), path)


SECRET = "q8Zt5Rw2" + "Lm7Xc4Vb9Ns1"


@pytest.mark.parametrize("place", ["signature of a user's thought", "redacted thought of a user"])
async def test_a_signature_of_a_user_is_searched(container: Container, place: str) -> None:
    body = planted(CASES["anthropic-messages"]["opaque"][place], SECRET)
    body["messages"][0]["content"] = f"api_key = {SECRET}"
    assert SECRET.encode() not in await sent_for(container, wire_of("anthropic-messages"), body)


async def test_a_value_hidden_elsewhere_is_not_sent_in_a_signature(container: Container) -> None:
    body = planted(CASES["responses"]["opaque"]["encrypted reasoning"], SECRET)
    body["input"].append({"role": "user", "content": f"api_key = {SECRET}"})
    with pytest.raises(BadRequest, match="signature or encrypted") as refused:
        await sent_for(container, wire_of("responses"), body)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(("id", "name"), [("gemini", "all members"), ("responses", "codex")])
async def test_a_request_without_anything_private_is_sent_as_it_is(container: Container, id: str, name: str) -> None:
    body = CASES[id]["reads"][name]["request"]
    if id == "responses":
        body = {**body, "previous_response_id": "resp_" + "0a1b" * 12, "client_metadata": {}, "metadata": {}}
    assert json.loads(await sent_for(container, wire_of(id), copied(body), CASES[id]["path"])) == body
