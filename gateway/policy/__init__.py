"""Policies: what is hidden, how, and where it may be restored.

    Policy          one resolved, immutable policy document
    PolicyRegistry  the built-in policies of a folder and the custom ones of a store
    CustomPolicies  what the registry needs of a store
    Rule            what happens to an entity

A policy is read in three steps: `document` (is it well formed?), `resolve` (what does it say, with all it extends?) and
`matching` (its own terms and patterns). Applying it to a message is `gateway.protection`. See docs/policies.md.
"""

from gateway.policy.model import (
    GuardAction,
    GuardRules,
    Policy,
    RestoreRules,
    RouteRules,
    Rule,
    RuleOptions,
    SessionRules,
    StreamingRules,
)
from gateway.policy.registry import CustomPolicies, PolicyRegistry
from gateway.policy.storage import MemoryPolicies, StoredPolicies

__all__ = [
    "CustomPolicies",
    "GuardAction",
    "GuardRules",
    "MemoryPolicies",
    "Policy",
    "PolicyRegistry",
    "RestoreRules",
    "RouteRules",
    "Rule",
    "RuleOptions",
    "SessionRules",
    "StoredPolicies",
    "StreamingRules",
]
