"""Settings, the types of their fields, and the keys and host patterns that settings name.

Policies are documents of their own: see `gateway.policy`.
"""
