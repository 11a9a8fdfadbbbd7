"""The event loop, and the bounded threads that keep blocking work off it.

Nothing here knows what the work is.
"""
