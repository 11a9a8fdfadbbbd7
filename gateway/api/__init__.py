"""The HTTP interface: routes, request and response schemas, and how errors become responses.

What the routes do lives in `gateway.pipeline`; serving without mitmproxy and hosting inside it both start here.
"""
