"""Runs the gateway next to the listeners: the process, and the dispatcher of the calls that arrive.

The listeners themselves are mitmproxy's, in `addons`.
"""
