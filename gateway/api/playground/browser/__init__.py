"""Modules that only the browser runs: the playground's session, and replacements for compiled packages.

Nothing here is imported by a running gateway; `site.py` packs it for Pyodide.
"""
