"""Everything that depends on mitmproxy's internals.

Addons that use only its documented interface are in `addons`.
"""
