"""A gateway's own playground in a browser: it loads under the gateway's headers, and knows the gateway's address."""

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from gateway.api.playground.site import site
from tests.e2e.mitmweb import wait_for
from tests.e2e.server import Running
from tests.e2e.test_mitmweb_browser import browser
from tests.e2e.test_playground_browser import LOADED

__all__ = ["browser"]

pytestmark = pytest.mark.slow


def test_files_have_their_headers_and_are_sent_once(running: Running) -> None:
    with running.stranger() as client:
        for name in ("", "page.js", "pyodide.asm.wasm", "gateway.zip"):
            answer = client.get(f"/playground/{name}")
            assert (answer.status_code, answer.content == site()[name or "index.html"]) == (200, True)
            assert ("content-encoding" in answer.headers) is (name != "gateway.zip")
            assert "connect-src 'self'" in answer.headers["content-security-policy"]
            again = client.get(f"/playground/{name}", headers={"if-none-match": answer.headers["etag"]})
            assert (again.status_code, again.content, "content-length" in again.headers) == (304, b"", False)


def test_it_loads_from_a_gateway(browser: webdriver.Chrome, running: Running) -> None:
    browser.get(f"{running.url}/playground")
    wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, "#work[data-shown]"), seconds=LOADED)
    assert "[EMAIL_ADDRESS_" in browser.find_element(By.ID, "received").text
    assert browser.find_element(By.ID, "base").get_attribute("value") == f"{running.url}/v1"
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
