"""Every wire reads all that is text and nothing structural, divides it into turns, and refuses what it cannot read."""

import json
from typing import Any

import pytest

from gateway.errors import BadRequest, GatewayError, Unprocessable
from gateway.models import PrivacyMode
from gateway.wires.base import Conversation, Wire
from gateway.wires.batches import BatchWire
from gateway.wires.other_json import OTHER_JSON
from tests.gateway.wires.contract.cases import CASES, DISCOVERED, MARK, cases, copied, planted, protect, wire_of

# A request of each wire that takes the gateway's own fields.
REQUESTS = [
    pytest.param(wire_of(id), of["path"], of["positions"], id=id) for id, of in CASES.items() if id != OTHER_JSON.id
]
DEFAULTS = Conversation({}, "m", False)


def test_every_wire_has_cases() -> None:
    """Wires of batches have the requests of others, and are tested in `tests/gateway/exchange/test_batches.py`."""
    alone = {wire.id for wire in DISCOVERED if not isinstance(wire, BatchWire)}
    assert alone | {OTHER_JSON.id} == set(CASES)
    for of in CASES.values():
        assert {"positions", "objects"} <= set(of)


@pytest.mark.parametrize(("wire", "_", "call"), cases("calls"))
def test_the_calls_it_serves(wire: Wire, _: str, call: tuple[str, str, str | None]) -> None:
    method, path, below = call
    serves = DISCOVERED.serving(method, path) is wire
    assert (wire.method_path(path, "m") if serves else None) == below


@pytest.mark.parametrize(("wire", "path", "request_"), cases("texts", "positions"))
def test_text_is_found_and_replaced_wherever_it_is(wire: Wire, path: str, request_: Any) -> None:
    after = json.dumps(protect(wire, copied(request_), path))
    assert after == json.dumps(json.loads(json.dumps(request_).replace(MARK, "X")))


@pytest.mark.parametrize(("wire", "path", "case"), cases("reads"))
def test_reading(wire: Wire, path: str, case: dict[str, Any]) -> None:
    body = copied(case["request"])
    read = wire.read(body, case.get("path", path))
    expected = {name: value for name, value in case.items() if name not in {"request", "path", "body", "continuing"}}
    found: dict[str, Any] = {"blocks": [[text for field in block for text in field.texts] for block in read.blocks]}
    for name in ("model", "stream", "seed", "opening", "before_seed", "attachments", "task", "policy_id", "mode",
                 "framing", "continues", "replays", "resumable", "only_reads"):  # fmt: skip
        if (value := getattr(read, name)) != getattr(DEFAULTS, name):
            found[name] = list(value) if isinstance(value, tuple) else value
    assert found == expected
    assert body == case.get("body", case["request"])
    fields = [field for block in read.blocks for field in block]
    assert [field.texts[0] for field in fields if getattr(field, "goes_on", False)] == case.get("continuing", [])


def refused(wire: Wire, body: Any, path: str) -> GatewayError:
    """Returns the error, whose message never repeats a value or an unknown name."""
    with pytest.raises((BadRequest, Unprocessable)) as error:
        wire.read(copied(body), path)
    assert MARK not in error.value.message
    assert "4711" not in error.value.message
    return error.value


@pytest.mark.parametrize(("wire", "path", "case"), cases("refused"))
def test_bad_input_is_named_by_its_field(wire: Wire, path: str, case: list[Any]) -> None:
    body, field, *other = case
    assert refused(wire, body, *other or [path]).param == field


@pytest.mark.parametrize(("wire", "path", "positions"), REQUESTS)
def test_the_gateways_own_fields(wire: Wire, path: str, positions: dict[str, Any]) -> None:
    body = next(iter(positions.values()))
    plain, given = copied(body), {**copied(body), "svc_task": "a", "svc_policy": "b", "svc_privacy_mode": "strict"}
    wire.read(plain, path)
    read = wire.read(given, path)
    assert (read.task, read.policy_id, read.mode) == ("a", "b", PrivacyMode.STRICT)
    assert given == plain
    for name, value, field in (
        ("svc_polcy", MARK, None),
        ("SVC_POLICY", MARK, None),
        ("svc_task", 4711, "svc_task"),
        ("svc_task", "c" * 4001, "svc_task"),
        ("svc_policy", [MARK], "svc_policy"),
        ("svc_policy", "", "svc_policy"),
        ("svc_privacy_mode", MARK, "svc_privacy_mode"),
        ("privacy_mode", MARK, "privacy_mode"),
    ):
        assert refused(wire, {**body, name: value}, path).param == field


@pytest.mark.parametrize(("wire", "path", "positions"), REQUESTS)
def test_the_model_of_a_request(wire: Wire, path: str, positions: dict[str, Any]) -> None:
    body = {"model": "models/first", **copied(next(iter(positions.values())))}
    assert wire.model(body, path) == wire.read(copied(body), path).model
    wire.set_model(body, "second")
    assert body["model"].removeprefix("models/") == "second"


@pytest.mark.parametrize(("wire", "path", "name"), cases("settings"))
def test_a_number_of_the_protocol_stays_a_number_or_is_refused(wire: Wire, path: str, name: str) -> None:
    body = {**planted(next(iter(CASES[wire.id]["positions"].values())), "a"), name: 4111111111111111}
    with pytest.raises(BadRequest) as error:
        protect(wire, body, path, mark="4111111111111111")
    assert error.value.param == name
    assert body[name] == 4111111111111111
    assert "1234" not in str(wire.read({**body, name: 1234}, path).texts())
