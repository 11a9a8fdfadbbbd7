"""Policies define which entities to hide, how, and where their values may be restored.

    model     Policy: one resolved, immutable policy document
    registry  PolicyRegistry: built-in policies from a folder and custom ones from the store
    rules     Rule: the action for an entity

`document` validates a policy, `inheritance` merges it with the policy it extends, `checks` refuses what does not fit
together, and `matching` compiles its terms and patterns. `gateway.protection` applies it. See docs/policies.md.
"""
