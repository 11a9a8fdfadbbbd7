"""Policies define which entities to hide, how, and where their values may be restored.

    Policy          one resolved, immutable policy document
    PolicyRegistry  built-in policies from a folder and custom ones from a store
    CustomPolicies  the interface of that store
    Rule            the action for an entity

`document` validates a policy, `resolve` merges it with the policies it extends, and `matching` compiles its terms and
patterns. `gateway.protection` applies it. See docs/policies.md.
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
