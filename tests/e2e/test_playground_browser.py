"""The playground in a browser: it protects, restores and explains with the network off, once it has loaded.

Needs Debian's `chromium` and `chromium-driver`, as mitmweb's test does. With `PICTURES_OF_PLAYGROUND` naming a folder,
pictures are taken. With `AXE_CORE` naming the file `axe.min.js` of npm's axe-core, the page is checked with it.
"""

import functools
import http.server
import json
import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from gateway.api.playground.browser.session import Session
from gateway.api.playground.site import write_site
from gateway.config.locations import BUILTIN_POLICIES
from gateway.detection import builtin_detector
from gateway.detection.engines import Engines
from gateway.detection.ner.builtin import BuiltinModel
from gateway.detection.ner.finder import NameFinder, Reader
from gateway.policy.registry import PolicyRegistry
from tests.e2e.mitmweb import wait_for
from tests.e2e.test_mitmweb_browser import browser
from tests.gateway.api.playground.test_names import StudentAlone

__all__ = ["browser"]

pytestmark = pytest.mark.slow
LOADED = 300
_FOLDER = Path(__file__).resolve().parents[1] / "vectors"
VECTORS = sorted(
    file for name in ("detection", "names", "assessment", "sharding") for file in _FOLDER.glob(f"{name}/*.jsonl")
)
SERIOUS = {"serious", "critical"}


@pytest.fixture(scope="module")
def page(browser: webdriver.Chrome, tmp_path_factory: pytest.TempPathFactory) -> webdriver.Chrome:
    """The export, loaded from a web server that adds no header and is gone afterwards."""
    folder = tmp_path_factory.mktemp("site")
    write_site(folder)
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        browser.get(f"http://127.0.0.1:{server.server_port}/")
        wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, "#work[data-shown]"), seconds=LOADED)
        server.shutdown()
    browser.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    return browser


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Logs nothing."""

    def log_message(self, *_: Any) -> None:
        pass


def at(page: webdriver.Chrome, id: str) -> WebElement:
    return page.find_element(By.ID, id)


def shown(page: webdriver.Chrome) -> int:
    return int(at(page, "work").get_attribute("data-shown") or 0)


def run(page: webdriver.Chrome, script: str, *arguments: Any) -> Any:
    names = "const at = (id) => document.getElementById(id), given = arguments;"
    return page.execute_script(f"{names} {script}", *arguments)


def change(page: webdriver.Chrome, act: Any) -> None:
    """Does something and waits until the panes show the result."""
    before = shown(page)
    act()
    wait_for(lambda: shown(page) > before, seconds=60)


@pytest.fixture(autouse=True)
def nothing_is_requested(page: webdriver.Chrome) -> Iterator[None]:
    """No test makes the page request anything, or has it report an error."""
    requested = "return performance.getEntriesByType('resource').length"
    before = page.execute_script(requested)
    yield
    assert page.execute_script(requested) == before
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []


def samples(page: webdriver.Chrome) -> list[str]:
    return [str(option.text) for option in Select(at(page, "sample")).options]


def test_every_sample_is_protected(page: webdriver.Chrome) -> None:
    first, *others = samples(page)
    assert len(others) == 5
    for name in (*others, first):
        change(page, lambda name=name: Select(at(page, "sample")).select_by_visible_text(name))
        marks = page.find_elements(By.CSS_SELECTOR, "#wrote .mark.hidden")
        assert len(marks) >= 3, name
        # Each says its type in words.
        assert all(mark.find_element(By.CSS_SELECTOR, ".type").text for mark in marks)
        received = at(page, "received").text
        values = [page.execute_script("return arguments[0].firstChild.textContent", mark) for mark in marks]
        assert [value for value in values if value in received] == []
        assert [value for value in values if value not in at(page, "back").text] == []


def test_a_policy_of_ones_own_and_words(page: webdriver.Chrome) -> None:
    mail = "anna.schmidt@acme.test"
    page.find_element(By.XPATH, f"//*[@id='findings']//button[contains(., '{mail}')]").click()
    change(page, lambda: page.find_element(By.XPATH, "//button[.='Leave this word in clear']").click())
    assert mail in at(page, "received").text
    page.find_element(By.XPATH, "//*[@id='findings']//button[contains(., 'DATE_OF_BIRTH')]").click()
    change(page, lambda: page.find_element(By.XPATH, "//button[.='Every DATE_OF_BIRTH: keep']").click())
    assert "14.03.1985" in at(page, "received").text
    toml = at(page, "toml").text
    assert '[rules.DATE_OF_BIRTH]\naction = "keep"' in toml
    assert mail not in toml
    change(page, lambda: at(page, "reset").click())
    assert mail not in at(page, "received").text


def test_marks_follow_what_is_typed(page: webdriver.Chrome) -> None:
    text = str(at(page, "text").get_attribute("value"))
    marks = len(page.find_elements(By.CSS_SELECTOR, "#wrote .mark"))
    added = "x@y.example or "
    # At once: the marks are where their words are, before Python has read the text.
    seen = run(
        page,
        """at("text").value = given[0] + at("text").value;
        at("text").dispatchEvent(new Event("input"));
        for (const label of at("wrote").querySelectorAll(".type")) label.remove();
        return [at("wrote").textContent, at("wrote").querySelectorAll(".mark").length];""",
        added,
    )
    assert seen == [added + text, marks]
    wait_for(lambda: len(page.find_elements(By.CSS_SELECTOR, "#wrote .mark")) == marks + 1)
    assert "x@y.example" not in at(page, "received").text
    change(page, lambda: run(page, 'at("sample").dispatchEvent(new Event("change"))'))


def test_a_word_is_chosen_and_hidden_in_the_text(page: webdriver.Chrome) -> None:
    select = """
        const from = at("text").value.indexOf(given[0]);
        at("text").setSelectionRange(from + given[1], from + given[2]);
    """
    run(page, f'{select} at("text").dispatchEvent(new Event("click"));', "14.03.1985", 3, 3)
    assert "DATE_OF_BIRTH" in at(page, "details").text
    run(page, select, "appointment", 0, len("appointment"))
    change(page, lambda: at(page, "hide").click())
    assert "appointment" not in at(page, "received").text
    change(page, lambda: at(page, "reset").click())


def test_a_policy_that_one_has(page: webdriver.Chrome) -> None:
    run(page, 'at("loader").open = true')
    given = at(page, "given")
    given.send_keys('id = "team"\ntitle = "Team"\nextends = "default"\n[rules.DATE_OF_BIRTH]\naction = "hunter"')
    at(page, "load").click()
    refused = wait_for(lambda: at(page, "refused").text)
    assert "rules.DATE_OF_BIRTH.action" in refused
    assert "hunter" not in refused
    given.clear()
    given.send_keys('id = "team"\ntitle = "Team"\nextends = "default"\n[rules.DATE_OF_BIRTH]\naction = "keep"')
    change(page, lambda: at(page, "load").click())
    assert at(page, "refused").text == ""
    assert Select(at(page, "policy")).first_selected_option.text == "Team"
    assert "14.03.1985" in at(page, "received").text
    change(page, lambda: Select(at(page, "policy")).select_by_index(0))


def test_requests_have_the_address_of_ones_own_gateway(page: webdriver.Chrome) -> None:
    run(page, 'navigator.clipboard.writeText = async (text) => { at("work").dataset.copied = text; }')
    base = at(page, "base")
    assert base.get_attribute("value") == "http://127.0.0.1:8000/v1"
    base.clear()
    base.send_keys("https://gw.example/it's/v1/")
    begins = {"curl": "'https://gw.example/it%27s/v1/chat", "python": 'base_url="h', "typescript": 'baseURL: "h'}
    for kind, start in begins.items():
        page.find_element(By.CSS_SELECTOR, f"[data-copy={kind}]").click()
        assert start in wait_for(lambda: at(page, "work").get_attribute("data-copied"))
        run(page, "delete at('work').dataset.copied")
    for wrong in ("gw.example/v1", "javascript:alert(1)", "https://key@gw.example/v1", ""):
        base.clear()
        base.send_keys(wrong)
        page.find_element(By.CSS_SELECTOR, "[data-copy=curl]").click()
        assert at(page, "wrong-base").text.startswith("Base URL: ")
    assert at(page, "work").get_attribute("data-copied") is None
    base.clear()
    base.send_keys("http://127.0.0.1:8000/v1")
    page.find_element(By.CSS_SELECTOR, "[data-copy=curl]").click()
    assert at(page, "wrong-base").text == ""


def test_a_hostile_link_stays_closed(page: webdriver.Chrome) -> None:
    at(page, "hostile").click()
    wait_for(lambda: page.find_elements(By.CSS_SELECTOR, "#back .mark.closed"))
    assert "stayed closed" in at(page, "closed").text
    at(page, "plain").click()
    wait_for(lambda: not page.find_elements(By.CSS_SELECTOR, "#back .mark.closed"))


def test_strict_and_another_policy(page: webdriver.Chrome) -> None:
    change(page, lambda: at(page, "strict").click())
    change(page, lambda: at(page, "strict").click())
    change(page, lambda: Select(at(page, "policy")).select_by_visible_text("Secrets only"))
    assert "anna.schmidt@acme.test" in at(page, "received").text
    change(page, lambda: Select(at(page, "policy")).select_by_index(0))


def test_no_connection_is_allowed(page: webdriver.Chrome) -> None:
    said = page.execute_async_script(
        "const done = arguments[0]; fetch('/').then(() => done('sent'), (error) => done(String(error)))"
    )
    assert said.startswith("TypeError")
    refusals = page.get_log("browser")
    assert any("connect-src 'none'" in entry["message"] for entry in refusals)


# Has the page protect a text at once, and returns what its list says.
PROTECT = """
    const [text, names, done] = arguments, work = document.getElementById("work"), before = work.dataset.shown;
    new MutationObserver((_, observer) => {
      if (work.dataset.shown === before) return;
      observer.disconnect();
      done(Array.from(document.querySelectorAll("#findings li"), (item) => item.textContent));
    }).observe(work, { attributes: true });
    document.getElementById("text").value = text;
    document.getElementById("names").checked = names;
    document.getElementById("policy").dispatchEvent(new Event("change"));
"""


class Findings:
    """A gateway's findings of some models, as the page lists them."""

    def __init__(self, *models: Reader) -> None:
        finder = Engines(builtin_detector(), [*map(NameFinder, models)])
        self._session = Session([policy.document for policy in PolicyRegistry(BUILTIN_POLICIES).list()], finder)

    def of(self, text: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._session.protect(text, "default", "standard", [], [])["findings"]
        return found

    def listed(self, text: str) -> list[str]:
        return [
            f"{one['type']}: {one['value']} {'left in clear' if one['kept'] else f'hidden ({one["action"]})'}"
            for one in self.of(text)
        ]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    every = [text for file in VECTORS for text in read_texts(file)]
    chosen = every[:: len(every) // 500]
    assert len(chosen) >= 500
    return chosen


@pytest.mark.parametrize("names", [False, True])
def test_findings_are_the_gateway_s(page: webdriver.Chrome, texts: list[str], names: bool) -> None:
    page.set_script_timeout(60)
    gateway = Findings(*([StudentAlone(builtin_detector().types)] if names else []))
    wrong = [text for text in texts if page.execute_async_script(PROTECT, text, names) != gateway.listed(text)]
    assert wrong == []


def test_the_student_finds_nine_tenths(texts: list[str]) -> None:
    types = builtin_detector().types
    full, student = Findings(BuiltinModel(types)), Findings(StudentAlone(types))
    there, missed, more = Counter[str](), Counter[str](), Counter[str]()
    for text in texts:
        wanted, found = ({(one["type"], *one["span"]) for one in each.of(text)} for each in (full, student))
        there.update(type for type, *_ in wanted)
        missed.update(type for type, *_ in wanted - found)
        more.update(type for type, *_ in found - wanted)
    print(f"of {there.total()} findings, missed: {missed}; others: {more}")
    assert missed.total() <= there.total() / 10
    assert more.total() <= there.total() / 10


def read_texts(file: Path) -> Iterator[str]:
    for line in file.read_text(encoding="utf-8").splitlines():
        if isinstance(case := json.loads(line), dict) and str(case.get("text", "")).strip():
            yield case["text"]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_it_fits_and_is_accessible(page: webdriver.Chrome, width: int, scheme: str) -> None:
    metrics = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = [{"name": "prefers-color-scheme", "value": scheme}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    if folder := os.environ.get("PICTURES_OF_PLAYGROUND"):
        page.save_screenshot(str(Path(folder) / f"playground-{width}-{scheme}.png"))
    if axe := os.environ.get("AXE_CORE"):
        page.execute_script(Path(axe).read_text(encoding="utf-8"))
        found = page.execute_async_script("axe.run().then(arguments[0])")
        wrong = {each["id"]: each["nodes"][0]["html"] for each in found["violations"] if each["impact"] in SERIOUS}
        assert wrong == {}
