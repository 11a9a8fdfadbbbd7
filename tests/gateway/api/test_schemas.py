"""The errors in the OpenAPI document are those that the code raises."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway import errors
from gateway.api.schemas.errors import CODES, LISTENER_CODES
from gateway.api.schemas.operations import OPERATIONS
from gateway.api.schemas.receipts import AnchorReply, ReceiptReply, VerificationReply
from gateway.errors import GatewayError
from gateway.receipts.drafts import OutcomeDraft
from tests.conftest import ROOT
from tests.gateway.receipt_log.support import OPERATOR, draft, opened

CLASSES = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, GatewayError)
}
FILES = sorted([*(ROOT / "gateway").rglob("*.py"), *(ROOT / "addons").rglob("*.py")])


def raised(file: Path) -> Iterator[tuple[str, int]]:
    """Every `code=` given to an error in a file, with the error's status."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CLASSES:
            for keyword in node.keywords:
                if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                    yield str(keyword.value.value), CLASSES[node.func.id].status


@pytest.mark.slow
def test_every_code_that_is_raised_is_described_with_its_status() -> None:
    found = {pair for file in FILES for pair in raised(file)}
    assert len(found) > 15
    found |= {(kind.default_code, kind.status) for kind in CLASSES.values()}
    assert found - {(code, status) for code, (status, *_) in (CODES | LISTENER_CODES).items()} == set()


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_names_codes_that_exist(name: str) -> None:
    operation = OPERATIONS[name]
    assert operation.errors <= CODES.keys()
    assert operation.summary[0].isupper()
    assert not operation.summary.endswith(".")
    assert operation.description.endswith(".")


def test_no_code_is_described_that_no_operation_gives() -> None:
    given = set().union(*(operation.errors for operation in OPERATIONS.values()))
    assert CODES.keys() - given == set()


async def test_receipts_are_what_is_said_of_them(data_dir: Path) -> None:
    """With every member that a record can have, and there are no others."""
    amended, guard = "req_" + "0" * 32, {"action": "flag", "findings": {"forged_placeholder": 1}}
    with opened(data_dir) as log:
        asked = {"api_key_id": "key_anna", "wire": "responses", "upstream": "openai", "model": "gpt-4o"}
        asked["credential"] = "cred_0123456789abcdef"
        counts = {"asked": 2, "applied": 1, "stored": 0, "digest": "0123456789abcdef" * 2}
        both = {"amends": amended, "operator": "anna", "corrections": {"allow": counts, "deny": counts}}
        files = [{"kind": "pdf", "action": "convert", "pages": 2, "digest": "0" * 64}]
        await log.append(draft("req_01", operation="edit", parties=asked, attachments=files, **both), "key_anna")
        outcome = OutcomeDraft("answered", 200, (1, 2), guard, amended, "forbidden", 98, (7, 9))
        log.append_outcome("req_01", outcome, "key_anna")
        receipt = (await log.get("req_01", OPERATOR)).as_dict()
        AnchorReply.model_validate(await log.anchor_payload("req_01", OPERATOR))
        VerificationReply.model_validate((await log.verify("req_01", OPERATOR)).as_dict())
    told = ReceiptReply.model_validate(receipt)
    assert told.model_dump(mode="json") == receipt
