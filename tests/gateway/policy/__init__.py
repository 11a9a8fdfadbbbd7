"""Policies made for a test, in as few words as possible."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.policy import CustomPolicies, Policy, PolicyRegistry

ROOT = Path(__file__).resolve().parents[3]
BUILTINS = ROOT / "policies"
VECTORS = ROOT / "tests" / "vectors" / "policies"


_BUILTIN = PolicyRegistry(BUILTINS)


def registry(customs: CustomPolicies | None = None) -> PolicyRegistry:
    """The built-in policies, and what `customs` has."""
    return PolicyRegistry(BUILTINS, customs)


def policy(**fields: Any) -> Policy:
    """A policy of these fields, kept nowhere."""
    return _BUILTIN.preview({"id": "acme", "title": "Acme", **fields})


def document(**fields: Any) -> Mapping[str, Any]:
    return {"id": "acme", "title": "Acme", **fields}
