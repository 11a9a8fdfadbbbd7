"""Runs in the browser besides the gateway's own modules: the playground's session, and stand-ins for compiled packages.

Nothing here is imported by a running gateway; `site.py` packs it for Pyodide.
"""
