"""Threads and processes: a bounded and fair pool of threads, processes that search texts, the calls between processes,
the event loop, the return of memory, and a clock that cannot be set back.

Nothing here knows what a request is. `gateway.server.gateway_process` runs the gateway in a process of its own.
"""
