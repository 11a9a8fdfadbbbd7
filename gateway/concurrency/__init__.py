"""Provides the event loop, and a bounded thread pool that keeps blocking work off it."""
