"""Clients see their receipts without a trace of how many others there are; operators see all of them."""

from hashlib import sha256
from typing import Any

import pytest

from gateway.models import ReceiptRef
from gateway.receipts.client_view import answer_headers, shown_to, without_numbers
from tests.gateway.receipt_log.support import ANNA, OPERATOR

CHECKS = [("hash", True), ("chain", True), ("tree", False)]


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        (
            {"request_id": "req_01", "sequence": 7, "salt": "00", "outcome": {"status": 200, "previous_hash": "00"}},
            {"request_id": "req_01", "outcome": {"status": 200}},
        ),
        (
            {"log": {"size": 9}, "checks": [{"name": name, "ok": ok, "detail": "record 7"} for name, ok in CHECKS]},
            {"checks": [{"name": "hash", "ok": True}, {"name": "log", "ok": False}]},
        ),
        (
            {"payload_hash": "of all", "receipt_hash": "own", "checkpoint": "9", "inclusion": {}, "log": {}},
            {"payload_hash": "own", "receipt_hash": "own"},
        ),
        ({"data": [{"sequence": 1, "route": "direct"}]}, {"data": [{"route": "direct"}]}),
    ],
)
def test_a_client_sees_nothing_of_other_keys(reply: dict[str, Any], shown: dict[str, Any]) -> None:
    assert shown_to(ANNA, reply) == shown
    assert shown_to(OPERATOR, reply) == reply
    assert without_numbers("its head is of 12 records") == "its head is of … records"


def test_the_headers_of_an_answer() -> None:
    body = '{"policy":{"id":"default","version":3},"tokens":{"input":120,"external":98},"route":"protected"}'
    assert answer_headers(ReceiptRef("req_01", 7, body)) == {
        "x-svc-request-id": "req_01",
        "x-svc-receipt": sha256(body.encode()).hexdigest(),
        "x-svc-route": "protected",
        "x-svc-policy": "default@3",
        "x-svc-tokens": "input=120, external=98",
    }
