"""What is hidden, how, and under which conditions it may come back: policies, and where they are found.

    Policy          one resolved, immutable policy document, ready to be asked
    PolicyRegistry  the built-in policies of a folder and the custom ones of a store
    CustomPolicies  what the registry needs of a store
    Rule            what becomes of a finding

A policy is read in three steps: `document` (is it well formed?), `resolve` (what does it say, with all it
extends?), `matching` (its own words and patterns). See docs/policies.md.
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
from gateway.policy.storage import MemoryPolicies, SqlitePolicies

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
    "SqlitePolicies",
    "StreamingRules",
]
