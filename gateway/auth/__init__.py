"""Who may use the gateway: API keys, the request rate of each, and credentials that must not cross.

Upstream credentials live in `gateway.config` and the header policy in `gateway.exchange`.
"""
