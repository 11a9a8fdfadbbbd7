"""Settings, the types of their fields, and the places, keys and host patterns they default to.

Nothing here opens a database, a listener or a connection. Policies are documents of their own: see `gateway.policy`.
"""
