"""The HTTP interface: routes, schemas of requests and responses, and error handlers.

`gateway.exchange` implements the operations. The application runs in any ASGI server, or in the gateway listener.
"""
