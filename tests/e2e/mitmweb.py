"""mitmweb's own interface, as an operator's browser uses it."""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote

import httpx

from tests.e2e.server import PLAIN, Running

type Flow = dict[str, Any]


def token_of(running: Running) -> str:
    """The token in the file that the gateway leaves at its start."""
    token = re.search(r"\?token=(\w+)", (running.data / "mitmweb.url").read_text())
    assert token, "the gateway writes mitmweb's address"
    return token[1]


@contextmanager
def operator(running: Running) -> Iterator[httpx.Client]:
    """A client with the token that the gateway made at its start."""
    token = token_of(running)
    with httpx.Client(
        base_url=f"http://127.0.0.1:{running.web_port}", trust_env=False, verify=PLAIN, timeout=30
    ) as client:
        assert client.get(f"/?token={token}").status_code == 200
        # Tornado's double submit cookie: the header must have the value of the cookie.
        client.cookies.set("_mitmproxy_xsrf", "of-the-tests")
        client.headers["x-xsrftoken"] = "of-the-tests"
        yield client


def everything(client: httpx.Client, only: str | None = None) -> bytes:
    """All that mitmweb hands out: the list, every body in every content view, the dump, the event log, the options.

    The bodies can be of one flow `only`.
    """
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    assert client.base_url.port is not None
    # Hundreds of addresses for a few flows: httpx takes as long to ask for one as mitmweb does to answer.
    with closing(HTTPConnection(client.base_url.host, client.base_url.port, timeout=30)) as connection:

        def get(path: str) -> bytes:
            connection.request("GET", path, headers={"Cookie": cookies})
            answer = connection.getresponse()
            content = answer.read()
            assert answer.status == 200, path
            return content

        parts = [get(path) for path in ("/flows", "/flows/dump", "/events", "/options", "/state", "/commands")]
        # mitmweb's own address of a view has no place for a dot.
        views = [name for name in json.loads(parts[4])["contentViews"] if "." not in name]
        for flow in json.loads(parts[0]):
            if only not in {None, flow["id"]}:
                continue
            for side in ("request", "response"):
                if side in flow:
                    base = f"/flows/{flow['id']}/{side}"
                    parts += [get(f"{base}/content/{quote(view, safe='')}.json") for view in views]
                    parts.append(get(f"{base}/content.data"))
    return b"\n".join(parts)


def flow_with(client: httpx.Client, request_id: str) -> Flow:
    """The one flow of a request, once it is in the list."""
    return wait_for(lambda: next((f for f in client.get("/flows").json() if request_id in f["comment"]), None))


def wait_for[T](look: Callable[[], T | None], seconds: float = 20) -> T:
    """Waits until `look` finds something, and returns it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.03)
    raise TimeoutError("what was waited for did not come")
