"""API keys, their permissions and limits, and credentials that must not be sent on.

Upstream credentials live in `gateway.config` and the header policy in `gateway.exchange`.
"""
