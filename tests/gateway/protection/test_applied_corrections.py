"""Which corrections had an effect."""

from gateway.corrections.given import Denied, Given
from gateway.corrections.lists import AllowDigests, Corrections, OwnerLists
from gateway.models import PrivacyMode
from gateway.policy.model import Policy
from gateway.protection.applied_corrections import Applied, applied, counted_as
from gateway.protection.protector import Protector
from gateway.text.fields import TextField

TEXTS = (
    "Oxenfoord came with Wilhelmina.",
    "I am called Ms Wilhelmina Oxenfoord; write to a@acme.test or b@acme.test",
    "BLUE heron",
)


def effect(protector: Protector, policy: Policy, corrections: Corrections) -> Applied:
    blocks = [[TextField({"text": text}, "text", text)] for text in TEXTS]
    found = protector.find(blocks, policy, PrivacyMode.STANDARD, remember_for="key_a", corrections=corrections)
    return applied(corrections, blocks, found)


def test_only_what_had_an_effect_is_counted(protector: Protector, policy: Policy) -> None:
    digests = AllowDigests(b"k" * 32)
    stored = OwnerLists(digests, {digests.digest("b@acme.test"): frozenset()}, (Denied("PROJECT", "blue"),), b"mark")
    given = Given(("a@acme.test", "Oxenfoord", "c@acme.test"), (Denied("BIRD", "Heron"), Denied("BIRD", "Owl")))
    for _ in range(2):
        found = effect(protector, policy, Corrections(given, [stored]))
        assert found.counts() == {
            "allow": {"asked": 3, "applied": 2, "stored": 1},
            "deny": {"asked": 2, "applied": 1, "stored": 1},
        }
        assert found.allowed == {"a@acme.test", "b@acme.test", "Oxenfoord"}
        assert found.denied == {Denied("BIRD", "heron"), Denied("PROJECT", "blue")}
        assert "acme" not in repr(found)


def test_without_an_effect_there_are_no_counts(protector: Protector, policy: Policy) -> None:
    stored = OwnerLists(AllowDigests(b"k" * 32), {b"x": frozenset()}, (), b"mark")
    assert effect(protector, policy, Corrections(Given(), [stored])).counts() == {}


def test_unknown_types_are_counted_as_one() -> None:
    assert counted_as("ANNA", frozenset({"ANNA"})) == "CUSTOM"
    assert counted_as("PERSON", frozenset({"ANNA"})) == "PERSON"
