"""A policy handles all attached files alike, or each kind in its own way."""

from typing import Any

import pytest

from gateway.attachments.registry import kinds
from gateway.errors import Unprocessable
from gateway.policy.attachments import AttachmentsDocument
from tests.gateway.policy import policy


@pytest.mark.parametrize(
    ("given", "pdf", "csv", "other"),
    [
        ({}, "convert", "convert", "refuse"),
        ({"attachments": "convert"}, "convert", "convert", "refuse"),
        ({"attachments": "refuse"}, "refuse", "refuse", "refuse"),
        ({"attachments": "pass"}, "pass", "pass", "pass"),
        ({"attachments": {"pdf": "pass"}}, "pass", "convert", "refuse"),
        ({"attachments": {"other": "pass", "csv": "refuse"}}, "convert", "refuse", "pass"),
    ],
)
def test_the_handling_of_a_kind(given: dict[str, Any], pdf: str, csv: str, other: str) -> None:
    made = policy(**given)
    assert (made.handling_of("pdf"), made.handling_of("csv"), made.handling_of("other")) == (pdf, csv, other)


@pytest.mark.parametrize("given", ["keep", {"other": "convert"}, {"gif": "pass"}, {"pdf": "keep"}, True])
def test_unknown_handlings_are_refused(given: Any) -> None:
    with pytest.raises(Unprocessable):
        policy(attachments=given)


def test_every_kind_has_a_handling() -> None:
    assert {kind.id for kind in kinds()} | {"other"} == set(AttachmentsDocument.model_fields)
