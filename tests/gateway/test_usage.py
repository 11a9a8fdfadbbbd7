"""The meters are the sums of the receipts, even after failures."""

import asyncio
import random
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import Conflict
from gateway.models import Action, PolicyRef, RiskLevel, RouteDecision
from gateway.receipt_log.log import ReceiptLog
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts.drafts import OPERATIONS, OUTCOMES, OutcomeDraft
from gateway.receipts.filters import Filter
from gateway.store import open_store
from gateway.usage import usage
from tests.gateway.receipt_log.support import OPERATOR, draft


def sums(receipts: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts from the receipts what the meters must say."""
    outcomes = [receipt["outcome"] for receipt in receipts if "outcome" in receipt]

    def add_up(name: str) -> Counter[str]:
        total: Counter[str] = Counter()
        for receipt in receipts:
            total.update({key: number for key, number in receipt[name].items() if number})
        return total

    def summary(day: str = "") -> dict[str, Any]:
        begun = [receipt for receipt in receipts if receipt["created_at"].startswith(day)]
        ended = [outcome for outcome in outcomes if outcome["created_at"].startswith(day)]
        reported = [outcome["tokens"] for outcome in ended if outcome["tokens"]]
        tokens = {
            "input": sum(receipt["tokens"]["input"] for receipt in begun),
            "external": sum(outcome.get("tokens_sent", 0) for outcome in ended),
            "reported_input": sum(tokens["input"] for tokens in reported),
            "reported_output": sum(tokens["output"] for tokens in reported),
        }
        return {"total_operations": len(begun), "tokens": tokens}

    days = sorted({record["created_at"][:10] for record in [*receipts, *outcomes]})
    return {
        **summary(),
        "operations": Counter(receipt["operation"] for receipt in receipts),
        "routes": Counter(receipt["route"] for receipt in receipts),
        "risk_levels": Counter(receipt["risk_level"] for receipt in receipts),
        "entities": add_up("entity_counts"),
        "transformations": add_up("transformation_counts"),
        "outcomes": Counter(outcome["outcome"] for outcome in outcomes),
        "refusals": Counter(outcome["code"] for outcome in outcomes if "code" in outcome),
        "other_calls": {},
        "days": [{"day": day, **summary(day)} for day in days[-31:]],
    }


@pytest.mark.parametrize("seed", range(3))
async def test_the_meters_are_the_sums_of_the_receipts(
    seed: int, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(seed)
    # More days than the answer tells one by one, the newest not always last.
    written = "gateway.receipts.records._now"
    monkeypatch.setattr(written, lambda: f"2030-0{dice.randint(1, 2)}-{dice.randint(1, 28):02}T12:00:00.000Z")
    store = open_store(data_dir)
    log = ReceiptLog(store, load_signer(data_dir), data_dir)
    broken = False
    assert await usage(store) == sums([])

    def hook(db: object) -> None:
        if broken:
            raise OSError("no commit")

    store.before_commit(hook)

    async def one(number: int) -> None:
        changes = {
            "operation": dice.choice(sorted(OPERATIONS)),
            "route": dice.choice(list(RouteDecision)).value,
            "risk_level": dice.choice(list(RiskLevel)).value,
            "entity_counts": {name: dice.randrange(4) for name in dice.sample(["PERSON", "IBAN_CODE", "URL"], 2)},
            "transformation_counts": {dice.choice(list(Action)): dice.randrange(4)},
            "tokens_input": dice.randrange(1000),
            "tokens_external": dice.randrange(1000),
            "policy": PolicyRef(dice.choice(["default", "strict", "other"]), 1, "a1" * 32),
            "parties": dice.choice([{}, {"model": "gpt-4o"}, {"model": "o3"}, {"model": "o4"}]),
        }
        receipt = await log.append(draft(f"req_{number:04x}", **changes), "key_anna")
        if dice.random() < 0.3:
            # A second receipt of the same request is refused, and not counted.
            with pytest.raises(Conflict):
                await log.append(draft(receipt.request_id), "key_anna")
        for _ in range(dice.randrange(3)):
            tokens = (dice.randrange(1000), dice.randrange(1000)) if dice.random() < 0.7 else None
            outcome = OutcomeDraft(
                dice.choice(sorted(OUTCOMES)), 200, tokens, tokens_sent=dice.choice([0, dice.randrange(1000)])
            )
            log.append_outcome(receipt.request_id, outcome, "key_anna")

    await asyncio.gather(*(one(number) for number in range(40)))
    await store.read(lambda db: None)
    broken = True
    lost = await asyncio.gather(*(log.append(draft(), "key_anna") for _ in range(3)), return_exceptions=True)
    assert all(isinstance(each, Exception) for each in lost)
    broken = False
    await one(99)
    rows, total = await log.list(OPERATOR, 500, 0)
    assert total == 41
    receipts = [row.as_dict() for row in rows]
    assert await usage(store) == sums(receipts)
    for _ in range(60):
        sought = random_filter(dice)
        chosen = [receipt for receipt in receipts if is_sought(receipt, sought)]
        page, number = await log.list(OPERATOR, 7, 2, sought)
        assert ([row.as_dict() for row in page], number) == (chosen[2:9], len(chosen))
        if sought.given:
            assert await usage(store, sought.sought()) == sums([dated(receipt) for receipt in chosen])
    store.close()


def random_filter(dice: random.Random) -> Filter:
    """Makes a filter of some members, which often select something."""
    words = {
        "key": ["key_anna", "nobody", "cred_0123456789abcdef"],
        "policy": ["default", "strict"],
        "type": ["PERSON", "IBAN_CODE", "URL", "URL_2"],
        "outcome": sorted(OUTCOMES),
        "operation": sorted(OPERATIONS),
        "model": ["gpt-4o", "o3"],
    }
    given: dict[str, Any] = {name: dice.sample(known, dice.randint(1, len(known))) for name, known in words.items()}
    start, end = sorted(dice.sample(range(1, 60), 2))
    given |= {name: str(date(2030, 1, 1) + timedelta(day)) for name, day in (("since", start), ("until", end))}
    return Filter.of({name: given[name] for name in dice.sample(sorted(given), dice.randrange(4))})


def is_sought(receipt: dict[str, Any], sought: Filter) -> bool:
    """Whether a filter selects a receipt, by what the receipt says."""
    says = {
        "key": {"key_anna", receipt.get("credential", "")},
        "policy": {receipt["policy"]["id"]},
        "type": set(receipt["entity_counts"]),
        "outcome": {receipt.get("outcome", {}).get("outcome")},
        "operation": {receipt["operation"]},
        "model": {receipt.get("model")},
    }
    fits = all(not getattr(sought, name) or says[name] & set(getattr(sought, name)) for name in says)
    return fits and (sought.since or "") <= receipt["created_at"] < (sought.until or "9")


def dated(receipt: dict[str, Any]) -> dict[str, Any]:
    """The receipt with an outcome of its own day, by which a filter counts it."""
    outcome = receipt.get("outcome")
    return receipt | ({"outcome": outcome | {"created_at": receipt["created_at"]}} if outcome else {})
