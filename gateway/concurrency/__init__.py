"""Provides the event loop, a bounded thread pool that keeps blocking work off it, fairly, and the return of memory.

Nothing here knows what the work is. Processes that search for patterns are in `gateway.detection.process_pool`.
"""
