"""Where processes cannot be forked, listeners and gateway share one. Clients get the same answers as from two."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.server import ROOT, Running, gateway
from tests.e2e.upstream import Upstream

WITHOUT_FORK = (
    f"import os, sys; sys.path.insert(0, {str(ROOT)!r}); "
    "hasattr(os, 'fork') and delattr(os, 'fork'); from run_proxy import main; sys.exit(main(sys.argv[1:]))"
)


def wrong_answers(running: Running, caller: int) -> list[str]:
    """Sends texts that hold a value of their own, over one connection, and returns those that did not come back."""
    texts = [f"Write to person{caller}x{number}@acme.test. " + "All is well. " * 40 * number for number in range(6)]
    wrong = []
    with running.client() as client:
        for text in texts:
            chat = {"model": "echo", "messages": [{"role": "user", "content": text}]}
            answer = client.post("/v1/chat/completions", json=chat)
            if answer.status_code != 200 or text not in answer.json()["choices"][0]["message"]["content"]:
                wrong.append(text[:40])
    return wrong


def test_every_answer_is_whole_and_restored_when_many_ask_at_once(tmp_path: Path, upstream: Upstream) -> None:
    command = (sys.executable, "-c", WITHOUT_FORK)
    with gateway(tmp_path, "--upstream", f"{upstream.url}/v1", command=command) as running:
        with ThreadPoolExecutor(8) as callers:
            wrong = [text for each in callers.map(lambda n: wrong_answers(running, n), range(8)) for text in each]
        if hasattr(os, "fork"):
            listed = subprocess.run(["ps", "-A", "-o", "ppid="], capture_output=True, text=True, check=True).stdout
            assert str(running.process.pid) not in listed.split()
    assert wrong == []
    assert len(upstream.recorded) == 48
    assert not any(b"@acme.test" in each.body for each in upstream.recorded)
