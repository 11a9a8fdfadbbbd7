"""Headers that keep browsers from storing, guessing at, framing or sharing an answer of the gateway.

No answer has a header of CORS, so a page of another site can neither send a key nor read an answer. What an upstream
allows to other sites is for its own address, and does not count here.
"""

SECURITY_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


def is_cors(name: str) -> bool:
    """Tells whether a header field permits something to pages of other sites."""
    return name.lower().startswith("access-control-")
