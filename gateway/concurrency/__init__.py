"""Provides the event loop, and a bounded thread pool that keeps blocking work off it.

Nothing here knows what the work is. Processes that search for patterns are in `gateway.detection.process_pool`.
"""
