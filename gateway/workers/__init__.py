"""Provides the event loop, a bounded thread pool that keeps blocking work off it, fairly, the return of memory, and a
clock that nobody can set back.

Nothing here knows what the work is. Processes that search texts are in `gateway.workers.search_processes`.
"""
