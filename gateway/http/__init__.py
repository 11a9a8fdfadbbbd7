"""Handles HTTP bodies, header fields and upstream failures without I/O.

`gateway.api` has the routes, `gateway.surfaces` the clients.
"""
