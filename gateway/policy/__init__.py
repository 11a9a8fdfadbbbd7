"""Policies define which entities to hide, how, and where their values may be restored.

    Policy          one resolved, immutable policy document
    PolicyRegistry  built-in policies from a folder and custom ones from a store
    CustomPolicies  the interface of that store
    Rule            the action for an entity

`document` validates a policy, `inheritance` merges it with the policy it extends, `checks` refuses what does not fit
together, and `matching` compiles its terms and patterns. `gateway.protection` applies it. See docs/policies.md.
"""

from gateway.policy.document import RouteDocument, SessionDocument
from gateway.policy.model import Policy, Rule, RuleOptions
from gateway.policy.registry import CustomPolicies, PolicyRegistry

__all__ = [
    "CustomPolicies",
    "Policy",
    "PolicyRegistry",
    "RouteDocument",
    "Rule",
    "RuleOptions",
    "SessionDocument",
]
