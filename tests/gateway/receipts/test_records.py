"""The receipt that errors name, and the two records of a request that an operator edited."""

import asyncio
from dataclasses import replace

import pytest

from gateway.errors import Conflict
from gateway.models import ReceiptRef
from gateway.receipt_log.log import ReceiptLog
from gateway.receipts.drafts import OutcomeDraft
from gateway.receipts.records import attach_to_errors
from tests.gateway.receipt_log.support import ANNA, draft


async def test_errors_name_the_receipt_that_was_written_before_them(log: ReceiptLog) -> None:
    async def serve() -> ReceiptRef | None:
        receipt = await log.append(draft(), ANNA.key_id)
        with pytest.raises(Conflict) as raised, attach_to_errors(receipt):
            raise Conflict("Too late.")
        assert raised.value.receipt == (receipt.request_id, receipt.sequence, receipt.record.body)
        return raised.value.receipt

    first, second = await asyncio.gather(serve(), serve())
    assert first != second
    assert Conflict("Another.").receipt is None


async def test_an_edit_is_a_receipt_of_its_own_that_names_what_it_amends(log: ReceiptLog) -> None:
    first = await log.append(draft("req_01"), ANNA.key_id)
    amending = replace(draft("req_02"), operation="edit", amends="req_01", operator="anna", protected_digest="c3" * 32)
    await log.append(amending, ANNA.key_id)
    log.append_outcome("req_01", OutcomeDraft("answered", 200, edit="req_02"), ANNA.key_id)
    edit = (await log.get("req_02", ANNA)).as_dict()
    assert (edit["operation"], edit["amends"], edit["protected_digest"]) == ("edit", "req_01", "c3" * 32)
    edited = (await log.get("req_01", ANNA)).as_dict()
    assert edited["protected_digest"] == first.as_dict()["protected_digest"]
    assert edited["outcome"]["edit"] == "req_02"
    assert edit["operator"] == "anna"
    assert not {"amends", "operator"} & edited.keys()
    for request_id in ("req_01", "req_02"):
        assert (await log.verify(request_id, ANNA)).valid


@pytest.mark.parametrize("word", ["anna.schmidt@acme.test", "req_", "REQ_01", ""])
def test_only_a_request_id_can_be_named(word: str) -> None:
    with pytest.raises(ValueError, match=r"^amends is not"):
        replace(draft(), amends=word)
    with pytest.raises(ValueError, match=r"^edit is not"):
        OutcomeDraft("answered", edit=word)


@pytest.mark.parametrize("word", ["anna.schmidt@acme.test", "Anna", "a" * 65, "-", ""])
def test_an_operator_has_a_short_name(word: str) -> None:
    with pytest.raises(ValueError, match=r"^operator is not"):
        replace(draft(), operator=word)
