"""docs/receipts.md and docs/receipt-format.md say what is true: the program runs, no member or check is left out."""

import re
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature

from gateway.receipts.drafts import OutcomeDraft
from tests.conftest import ROOT
from tests.gateway.receipt_log.support import OPERATOR, draft, opened

FORMAT = (ROOT / "docs" / "receipt-format.md").read_text(encoding="utf-8")
PAGE = FORMAT + (ROOT / "docs" / "receipts.md").read_text(encoding="utf-8")


async def served(data_dir: Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A receipt, its anchor payload and its verification, as the gateway serves them."""
    with opened(data_dir) as log:
        await log.append(draft("req_01"), "key_anna")
        guard = {"action": "flag", "findings": {"forged_placeholder": 1}}
        log.append_outcome("req_01", OutcomeDraft("answered", 200, (1, 2), guard), "key_anna")
        return (
            (await log.get("req_01", OPERATOR)).as_dict(),
            await log.anchor_payload("req_01", OPERATOR),
            (await log.verify("req_01", OPERATOR)).as_dict(),
        )


async def test_the_program_checks_a_receipt(data_dir: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", FORMAT, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(program, "docs/receipt-format.md", "exec"), names)
    receipt, anchor, _ = await served(data_dir)
    names["check_receipt"](receipt, anchor, anchor["public_key"])
    changes: list[dict[str, Any]] = [
        {"route": "direct"},
        {"signature": "00" * 64},
        {"outcome": receipt["outcome"] | {"status": 500}},
        {"outcome": receipt["outcome"] | {"receipt_hash": "00" * 32}},
    ]
    for change in changes:
        with pytest.raises((AssertionError, InvalidSignature)):
            names["check_receipt"](receipt | change, anchor, anchor["public_key"])
    proof = anchor["inclusion"]
    for change in ({"hashes": []}, {"hashes": [*proof["hashes"], "00" * 32]}, {"hashes": ["00" * 32]}):
        with pytest.raises(AssertionError):
            names["check_receipt"](receipt, anchor | {"inclusion": proof | change}, anchor["public_key"])


async def test_every_member_and_every_check_is_explained(data_dir: Path) -> None:
    receipt, anchor, verification = await served(data_dir)
    explained = set(re.findall(r"`([a-z_]+)`", PAGE))
    for wanted in (receipt, receipt["outcome"], anchor, anchor["log"], anchor["inclusion"]):
        assert wanted.keys() <= explained
    assert {check["name"] for check in verification["checks"]} <= explained
