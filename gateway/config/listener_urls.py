"""Writes the URLs of listeners."""


def listener_url(host: str, port: int | str) -> str:
    """Returns the URL of what listens on a name or address, IPv6 in brackets (RFC 3986, section 3.2.2)."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
