"""Settings, the types of their fields, the places, keys and host patterns they default to, and a loader of data files.

Nothing here opens a database, a listener or a connection. Policies are documents of their own: see `gateway.policy`.
"""
