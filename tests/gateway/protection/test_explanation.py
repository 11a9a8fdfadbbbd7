"""Explanations of texts: what is listed, and how it is marked."""

import pytest

from gateway.config.locations import BUILTIN_POLICIES
from gateway.detection import builtin_detector
from gateway.models import PrivacyMode
from gateway.policy.registry import PolicyRegistry
from gateway.protection.explanation import explain
from gateway.protection.protector import Protector

_POLICY = {"id": "own", "title": "Own", "extends": "default", "allow": [{"values": ["ops@acme.test"]}]}


@pytest.mark.parametrize(
    ("text", "marked", "kept"),
    [
        ("Nothing here.", "Nothing here.", []),
        ("Write to ops@acme.test.", "Write to [1?:ops@acme.test].", ["allow_list"]),
        ("jane@acme.test, ops@acme.test", "[1:jane@acme.test], [2?:ops@acme.test]", [None, "allow_list"]),
        ("On 2024-05-04 at 10.", "On [1?:2024-05-04] at 10.", ["rule"]),
        ("Password: Sommer2024xy", "Password: [1:Sommer2024xy]", [None]),
        # Nothing inside a hidden finding is listed as kept.
        ("https://jane:Sommer2024xy@acme.test/a", "https://[1:jane:Sommer2024xy]@acme.test/a", [None]),
    ],
)
def test_explanation(text: str, marked: str, kept: list[str | None]) -> None:
    policy = PolicyRegistry(BUILTIN_POLICIES).preview(_POLICY)
    protector = Protector(builtin_detector(), hash_key=b"k" * 32)
    done = explain(protector, text, policy, PrivacyMode.STANDARD)
    assert done.marked_text == marked
    assert [one.kept for one in done.findings] == kept
    assert [one.start for one in done.findings] == sorted(one.start for one in done.findings)
