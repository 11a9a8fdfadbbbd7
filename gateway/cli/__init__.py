"""The commands of `run_proxy.py` other than `serve` and `ca`: one module per group, plus what they share.

Commands print; everything they compute lives in the packages they call.
"""
