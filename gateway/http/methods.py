"""Lists the methods that may be forwarded and shown (RFC 9110 section 9, RFC 5789).

Any other word could be private text.
"""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
