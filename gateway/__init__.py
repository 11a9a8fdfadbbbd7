"""Privacy Gateway: protects private text before it crosses the trust boundary and restores it afterwards.

Usable and tested without mitmproxy, which only `addons/` and `run_proxy.py` import.
"""

__version__ = "0.1.0"
