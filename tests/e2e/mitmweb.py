"""mitmweb's own interface, as an operator's browser uses it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.e2e.server import Running


@contextmanager
def operator(running: Running) -> Iterator[httpx.Client]:
    """A client with the token that the gateway printed at its start."""
    token = re.search(r"\?token=(\w+)", running.output())
    assert token, "the gateway prints mitmweb's address"
    with httpx.Client(base_url=f"http://127.0.0.1:{running.web_port}", trust_env=False, timeout=30) as client:
        assert client.get(f"/?token={token[1]}").status_code == 200
        # Tornado's double submit cookie: what is sent in the header must stand in the cookie.
        client.cookies.set("_mitmproxy_xsrf", "of-the-tests")
        client.headers["x-xsrftoken"] = "of-the-tests"
        yield client


def everything(client: httpx.Client) -> bytes:
    """All that mitmweb hands out: the list, every body and view of it, the dump, the event log, the options."""
    parts = [client.get("/flows"), client.get("/flows/dump"), client.get("/events"), client.get("/options")]
    for flow in parts[0].json():
        for side in ("request", "response"):
            base = f"/flows/{flow['id']}/{side}"
            parts += [client.get(f"{base}/content.data"), client.get(f"{base}/content/Auto.json")]
    return b"\n".join(part.content for part in parts)
