"""How long the playground takes until it shows its first result, in Chromium on this machine.

    python -m benchmarks.playground [--runs N]

Cold is a new profile of the browser, warm the second time in the same one. The files come from the export, served by
Python's own web server on loopback without compression. Seconds are the browser's, from the start of the navigation;
processor seconds are those of all of the browser's processes, which compile in other threads, too. Needs Debian's
`chromium` and `chromium-driver`, and the playground's files (docs/playground.md).
"""

import argparse
import functools
import http.server
import os
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver

from gateway.api.playground.site import write_site

_FLAGS = "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
# In which the browser writes compiled code to its cache.
_PAUSE = 8
_TICK = os.sysconf("SC_CLK_TCK")
_LONGEST = 300
# Notes when the page shows a result.
_NOTE = """
    new MutationObserver((_, observer) => {
      if (!document.querySelector("#work[data-shown]")) return;
      observer.disconnect();
      window.shownAfter = performance.now();
    }).observe(document, { subtree: true, attributes: true, childList: true });
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Logs nothing."""

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves a folder, and yields its address."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


@contextmanager
def chromium(profile: Path) -> Iterator[webdriver.Chrome]:
    """Starts a browser with a profile of its own."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*_FLAGS.split(), f"--user-data-dir={profile}"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _NOTE})
        yield browser
    finally:
        browser.quit()


def load(browser: webdriver.Chrome, address: str) -> tuple[float, float]:
    """Returns the seconds until the first result, and the processor seconds for them."""
    browser.get("about:blank")
    driver = browser.service.process.pid
    before = processor_seconds(driver)
    browser.get(address)
    end = time.monotonic() + _LONGEST
    while (shown := browser.execute_script("return window.shownAfter")) is None:
        step = browser.execute_script("return document.getElementById('step').textContent")
        if time.monotonic() > end or "could not" in step:
            raise RuntimeError(step)
        time.sleep(0.1)
    return shown / 1000, processor_seconds(driver) - before


def processor_seconds(pid: int) -> float:
    """Returns what a process and all that it started have used, those that ended included."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = [child for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()]
    return sum(map(int, fields[11:15])) / _TICK + sum(map(processor_seconds, map(int, children)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    figures: dict[str, list[tuple[float, float]]] = {"cold": [], "warm": []}
    with tempfile.TemporaryDirectory() as made:
        write_site(Path(made) / "site")
        with served(Path(made) / "site") as address:
            for number in range(options.runs):
                with chromium(Path(made) / f"profile{number}") as browser:
                    figures["cold"].append(load(browser, address))
                    time.sleep(_PAUSE)
                    figures["warm"].append(load(browser, address))
    for name, each in figures.items():
        seconds, processor = (statistics.median(column) for column in zip(*each, strict=True))
        print(f"{name}: {seconds:.1f} s, {processor:.1f} s of a processor (median of {options.runs})")


if __name__ == "__main__":
    main()
