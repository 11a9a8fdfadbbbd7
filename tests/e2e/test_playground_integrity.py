"""The page runs no file whose bytes are not those that it was written with."""

import functools
import http.server
import threading
from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from gateway.api.playground.site import integrity, site
from tests.e2e.mitmweb import wait_for
from tests.e2e.test_mitmweb_browser import browser
from tests.e2e.test_playground_browser import Quiet

__all__ = ["browser"]

pytestmark = pytest.mark.slow


def changed(name: str) -> bytes:
    data = site()[name]
    return data[:-1] + bytes([data[-1] ^ 1])


class Changing(Quiet):
    """Serves the site in a folder for each file, which is changed there."""

    def do_GET(self) -> None:  # noqa: N802
        folder, _, name = self.path.removeprefix("/").partition("/")
        name = name or "index.html"
        self.send_response(200)
        self.send_header("content-type", self.guess_type(name))
        self.end_headers()
        self.wfile.write(changed(name) if name == folder else site()[name])


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Changing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def reported(browser: webdriver.Chrome, digest: str) -> bool:
    return any("integrity" in each["message"] and digest in each["message"] for each in browser.get_log("browser"))


def test_a_file_with_another_byte_is_not_used(browser: webdriver.Chrome, address: str) -> None:
    names = site().keys() - {"index.html", "licences.txt"}
    assert {"samples.js", "page.js", "page.css", "worker.js", "gateway.zip", "pyodide.asm.wasm"} <= names
    for name in sorted(names):
        browser.get(f"{address}/{name}/")
        # The browser says which digest the file has.
        wait_for(functools.partial(reported, browser, integrity(changed(name)).removeprefix("sha384-")))
        assert not browser.find_element(By.ID, "work").is_displayed()
