"""Settings and the places they default to. Nothing here opens a database, a listener or a connection."""
