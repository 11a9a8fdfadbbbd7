"""The Privacy Gateway: protects private text before it crosses the trust boundary and restores it afterwards.

This package knows nothing of mitmproxy; it is complete and tested without it.
"""

__version__ = "0.1.0"
