"""Implements the commands of `run_proxy.py` other than `serve` and `ca`, one module per group.

Commands parse options and print. The packages they call do the work.
"""
