"""schemathesis over the OpenAPI document as it is served: every operation, every phase, one seed."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.server import OPERATOR_KEY, PLAIN, ROOT, Running
from tests.openapi import native

PHASES = ("examples", "coverage", "fuzzing", "stateful")


@pytest.fixture(scope="module")
def server(gateways: Gateways) -> Running:
    """A gateway of this module's own: it ends with hundreds of policies and receipts of no meaning."""
    return gateways(detection="patterns")


@pytest.fixture(scope="module")
def document(server: Running) -> dict[str, Any]:
    answer = httpx.get(f"{server.url}/openapi.json", trust_env=False, verify=PLAIN)
    assert answer.status_code == 200
    return dict(answer.json())


@pytest.mark.slow
def test_every_operation_keeps_to_what_it_says(server: Running, document: dict[str, Any], tmp_path: Path) -> None:
    environment = os.environ | {
        "GATEWAY_KEY": OPERATOR_KEY,
        "SCHEMATHESIS_HOOKS": "tests.e2e.schemathesis_hooks",
        "PYTHONPATH": str(ROOT),
        "NO_PROXY": "127.0.0.1",
        "NETRC": os.devnull,  # requests would look for one in the home folder before each request
        # Hypothesis' tables of characters take seconds to compute, and it looks for them in the current folder.
        "HYPOTHESIS_STORAGE_DIRECTORY": str(ROOT / ".hypothesis"),
    }
    command = [sys.executable, "-m", "schemathesis.cli"]
    command += ["--config-file", str(ROOT / "tests" / "e2e" / "schemathesis.toml"), "--no-color"]
    command += ["run", f"{server.url}/openapi.json", "--phases", ",".join(PHASES), "--max-examples", "8"]
    # Their schemas are those of providers, and say nothing here.
    command += ["--exclude-tag", "Calls of providers' APIs"]
    command += ["--report", "json,ndjson"]
    command += ["--report-json-path", str(tmp_path / "run.json"), "--report-ndjson-path", str(tmp_path / "run.ndjson")]
    done = subprocess.run(
        command, check=False, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    report = json.loads((tmp_path / "run.json").read_text())
    assert (report["complete"], report["failures"], report["errors"]) == (True, [], [])
    assert {name: report["phases"][name]["status"] for name in PHASES} == dict.fromkeys(PHASES, "success")
    count = sum(len(methods) for methods in native(document).values())
    assert report["operations"] == report["operations"] | {"tested": count, "errored": 0}
    answers = _answers(tmp_path / "run.ndjson")
    assert {(path, 500) for path, status in answers if status >= 500} == set()
    # Nothing is checked of an operation that never succeeds. Those that need ids get them from others, by links.
    assert {path for path, status in answers if status in {200, 201}} == set(native(document))
    assert server.process.poll() is None


def _answers(file: Path) -> Counter[tuple[str, int]]:
    """How often each path gave each status, by schemathesis' own report."""
    counted: Counter[tuple[str, int]] = Counter()
    for line in file.read_text().splitlines():
        event = json.loads(line).get("ScenarioFinished")
        recorder = event["recorder"] if event else {}
        for case, interaction in recorder.get("interactions", {}).items():
            status = (interaction.get("response") or {}).get("status_code", 0)
            counted[recorder["cases"][case]["value"]["path"], status] += 1
    return counted
