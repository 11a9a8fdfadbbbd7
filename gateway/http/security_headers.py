"""Headers that keep browsers from storing, guessing at, framing or sharing an answer of the gateway.

No answer has a header of CORS, so a page of another site can neither send a key nor read an answer. What an upstream
says of its own address does not count here: neither what it allows to other sites, nor that it is to be reached over
TLS or HTTP/3, nor where browsers should report errors.
"""

ALTERNATIVE_SERVICE = "alt-svc"
"""Names other servers for the same address (RFC 7838), by which clients would bypass the gateway."""

SECURITY_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


_OF_AN_ADDRESS = frozenset(
    {ALTERNATIVE_SERVICE, "clear-site-data", "nel", "report-to", "reporting-endpoints", "strict-transport-security"}
)


def is_of_an_address(name: str) -> bool:
    """Tells whether a header field says something of the address that answers, and not of the answer."""
    lowered = name.lower()
    return lowered in _OF_AN_ADDRESS or lowered.startswith("access-control-")
