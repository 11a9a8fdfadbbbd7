"""Writes the URLs of listeners."""


def listener_url(host: str, port: int | str, key: str = "") -> str:
    """Returns the URL of what listens on a name or address, IPv6 in brackets (RFC 3986, section 3.2.2).

    A `key` becomes the password in it. It must be quoted for URLs.
    """
    user = f"key:{key}@" if key else ""
    return f"http://{user}[{host}]:{port}" if ":" in host else f"http://{user}{host}:{port}"
