"""Analyze, protect, reconstruct and shard over real parts: what they say, what they keep, and who may open it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.config.loading import load_settings
from gateway.container import Container
from gateway.errors import Conflict, Forbidden, NotFound, Unprocessable
from gateway.exchange.operations import Operations, Question
from gateway.models import Action, Caller, PrivacyMode, Scope
from gateway.policy.document import SessionDocument

ANNA = Caller("key_anna", Scope.CLIENT)
BERT = Caller("key_bert", Scope.CLIENT)
TEXT = "My name is Wilhelmina Oxenfoord, write to w.oxenfoord@acme.test. IBAN DE89370400440532013000."


@pytest.fixture
async def container(data_dir: Path) -> AsyncIterator[Container]:
    async with await Container.start(load_settings(None, data_dir=data_dir)) as running:
        yield running


def in_files(container: Container, text: str) -> bool:
    return any(text.encode() in file.read_bytes() for file in container.settings.data_dir.rglob("*") if file.is_file())


async def receipts(container: Container, caller: Caller = ANNA) -> int:
    return (await container.receipts.list(caller, 100, 0))[1]


async def test_analyze_says_what_is_there_and_keeps_nothing(container: Container) -> None:
    analysis = await container.operations.analyze(Question(TEXT, task="support"), ANNA)
    found = {(TEXT[entity.start : entity.end], entity.type): action for entity, action in analysis.entities}
    assert found["Wilhelmina Oxenfoord", "PERSON"] is Action.PLACEHOLDER
    assert found["w.oxenfoord@acme.test", "EMAIL_ADDRESS"] is Action.PLACEHOLDER
    assert [entity.start for entity, _ in analysis.entities] == sorted(entity.start for entity, _ in analysis.entities)
    assert analysis.policy.id == "default"
    assert analysis.assessment.risk.score > 0
    assert await receipts(container) == 0


async def test_explain_gives_reasons_and_keeps_nothing(container: Container) -> None:
    done = (await container.operations.explain(Question(TEXT), ANNA)).explanation
    reasons = {TEXT[one.start : one.end]: one.reason.value for one in done.findings if one.kept is None}
    assert reasons == {
        "Wilhelmina Oxenfoord": "name_model_high",
        "w.oxenfoord@acme.test": "pattern",
        "DE89370400440532013000": "checked_pattern",
    }
    assert done.marked_text.startswith("My name is [1:Wilhelmina Oxenfoord], write to [2:")
    # A type that the policy blocks is listed like others.
    blocked = (await container.operations.explain(Question("CVV: 123", policy_id="pci"), ANNA)).explanation
    assert [(one.type, one.action, one.reason) for one in blocked.findings] == [("CVV", Action.BLOCK, "policy")]
    assert await receipts(container) == 0
    assert not in_files(container, "xenfoord")


async def test_a_session_restores_its_text_to_the_byte(container: Container) -> None:
    done = await container.operations.protect(Question(TEXT), ANNA)
    assert "xenfoord" not in done.text
    assert "DE89" not in done.text
    for each in done.transformations:
        assert done.text[each.protected_start : each.protected_end] == each.placeholder
    grant = (done.session.session_id, done.session.session_token)
    opened = await container.operations.reconstruct(done.text, grant, ANNA)
    assert opened.content == TEXT
    assert opened.resolved == len(done.transformations)
    assert opened.unresolved == ()
    assert await receipts(container) == 2
    assert not in_files(container, "xenfoord")


async def test_a_value_of_any_json_is_opened(container: Container) -> None:
    done = await container.operations.protect(Question(TEXT), ANNA)
    grant = (done.session.session_id, done.session.session_token)
    opened = await container.operations.reconstruct({"a": [done.text, 1, None], done.text: True}, grant, ANNA)
    assert opened.content == {"a": [TEXT, 1, None], TEXT: True}


async def test_a_continued_session_gives_the_same_placeholders(container: Container) -> None:
    first = await container.operations.protect(Question(TEXT), ANNA)
    grant = (first.session.session_id, first.session.session_token)
    second = await container.operations.protect(Question(TEXT + " And x@acme.test."), ANNA, credentials=grant)
    assert second.text.startswith(first.text)
    opened = await container.operations.reconstruct(first.text + second.text, grant, ANNA)
    assert opened.content == TEXT + TEXT + " And x@acme.test."
    other = await container.operations.protect(Question(TEXT), ANNA)
    assert other.text != first.text, "another session's placeholders are others"


async def test_another_caller_cannot_open_a_session(container: Container) -> None:
    done = await container.operations.protect(Question(TEXT), ANNA)
    other = await container.operations.protect(Question(TEXT), ANNA)
    session_id, token = done.session.session_id, done.session.session_token
    for caller, credentials in [
        (BERT, (session_id, token)),
        (ANNA, (session_id, other.session.session_token)),
        (ANNA, (session_id, token[:-1])),
        (ANNA, ("no-such-session", token)),
    ]:
        with pytest.raises(NotFound) as refusal:
            await container.operations.reconstruct(done.text, credentials, caller)
        assert refusal.value.code == "session_not_found"
    grant = (other.session.session_id, other.session.session_token)
    opened = await container.operations.reconstruct(done.text, grant, ANNA)
    assert opened.content == done.text
    assert set(opened.unresolved) == {each.placeholder for each in done.transformations}


async def test_a_policy_that_blocks_stops_protecting_and_not_analyzing(container: Container) -> None:
    rules = {"EMAIL_ADDRESS": {"action": "block"}}
    document = {"id": "closed", "title": "Closed", "extends": "default", "rules": rules}
    await container.policies.create(document)
    question = Question(TEXT, policy_id="closed")
    assert (await container.operations.analyze(question, ANNA)).policy.id == "closed"
    with pytest.raises(Forbidden) as refusal:
        await container.operations.protect(question, ANNA)
    assert refusal.value.code == "blocked_by_policy"
    assert "oxenfoord" not in refusal.value.message.lower()


async def test_an_unknown_policy_and_a_strict_mode(container: Container) -> None:
    with pytest.raises(NotFound) as refusal:
        await container.operations.protect(Question(TEXT, policy_id="no-such"), ANNA)
    assert refusal.value.code == "policy_not_found"
    strict = await container.operations.analyze(Question(TEXT, mode=PrivacyMode.STRICT), ANNA)
    standard = await container.operations.analyze(Question(TEXT), ANNA)
    hidden = [sum(action is not Action.KEEP for _, action in each.entities) for each in (strict, standard)]
    assert hidden[0] >= hidden[1] > 0


async def test_a_session_lives_no_longer_than_its_policy_allows(container: Container) -> None:
    most = container.protection.policy(None).session.max_ttl_seconds
    long = await container.operations.protect(Question(TEXT), ANNA, ttl_seconds=most * 10)
    short = await container.operations.protect(Question(TEXT), ANNA, ttl_seconds=60)
    apart = (long.session.expires_at - short.session.expires_at).total_seconds()
    assert apart == pytest.approx(most - 60, abs=30)


@pytest.mark.parametrize(
    ("policy", "bounds", "asked", "lives"),
    [
        ((300, 600), (86400, 86400), None, 300),
        ((300, 600), (86400, 86400), 900, 600),
        ((300, 600), (86400, 120), None, 120),
        ((300, 600), (86400, 120), 900, 120),
        ((300, 600), (200, 86400), None, 200),
        ((300, 600), (200, 86400), 500, 500),
    ],
)
async def test_the_smaller_bound_of_policy_and_installation_holds(
    container: Container, policy: tuple[int, int], bounds: tuple[int, int], asked: int | None, lives: int
) -> None:
    rules = {"default_ttl_seconds": policy[0], "max_ttl_seconds": policy[1]}
    await container.policies.create({"id": "brief", "title": "t", "extends": "default", "session": rules})
    limits: dict[str, Any] = {"default_ttl_seconds": bounds[0], "max_ttl_seconds": bounds[1], "max_values": 3}
    operations = Operations(
        container.protection, container.records, container.vault, bounds=SessionDocument.model_construct(**limits)
    )
    before = datetime.now(UTC)
    done = await operations.protect(Question(TEXT, policy_id="brief"), ANNA, ttl_seconds=asked)
    assert (done.session.expires_at - before).total_seconds() == pytest.approx(lives, abs=30)
    more = " ".join(f"n{number}@acme.test" for number in range(4))
    with pytest.raises(Conflict):
        await operations.protect(Question(more, policy_id="brief"), ANNA)


async def test_the_settings_bound_every_session(data_dir: Path) -> None:
    settings = load_settings(None, data_dir=data_dir, session_max_ttl_seconds=120, session_max_values=2)
    async with await Container.start(settings) as container:
        before = datetime.now(UTC)
        done = await container.operations.protect(Question("Write to a@acme.test."), ANNA)
        assert (done.session.expires_at - before).total_seconds() == pytest.approx(120, abs=30)
        with pytest.raises(Conflict):
            await container.operations.protect(Question("Write to a@acme.test, b@acme.test, c@acme.test."), ANNA)


async def test_a_text_is_divided_and_its_synthesis_opened(container: Container) -> None:
    text = "\n\n".join(f"Part {number}. {TEXT} More follows about matter {number}." for number in range(8))
    done = await container.operations.shard(Question(text), ANNA, max_compartments=3)
    parts = [each.protected_text for each in done.sharded.compartments]
    assert 2 <= len(parts) <= 3
    assert "xenfoord" not in "".join(parts)
    grant = (done.session.session_id, done.session.session_token)
    opened = await container.operations.reconstruct("\n".join(parts), grant, ANNA)
    assert opened.content.count("w.oxenfoord@acme.test") == 8
    with pytest.raises(Unprocessable):
        await container.operations.shard(Question("One."), ANNA)
