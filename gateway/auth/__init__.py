"""Who may use the gateway: API keys and the request rate of each.

Upstream credentials live in `gateway.config` and the header policy in `gateway.pipeline`.
"""
