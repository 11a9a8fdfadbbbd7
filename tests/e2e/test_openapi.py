"""schemathesis over the OpenAPI document as it is served: every operation, every phase, one seed."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.server import OPERATOR_KEY, PLAIN, ROOT, Running

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
    command += ["--report", "json,ndjson"]
    command += ["--report-json-path", str(tmp_path / "run.json"), "--report-ndjson-path", str(tmp_path / "run.ndjson")]
    done = subprocess.run(
        command, check=False, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    report = json.loads((tmp_path / "run.json").read_text())
    assert (report["complete"], report["failures"], report["errors"]) == (True, [], [])
    assert {name: report["phases"][name]["status"] for name in PHASES} == dict.fromkeys(PHASES, "success")
    count = sum(len(methods) for methods in document["paths"].values())
    assert report["operations"] == report["operations"] | {"total": count, "tested": count, "errored": 0}
    answers = _answers(tmp_path / "run.ndjson")
    assert {(path, 500) for path, status in answers if status >= 500} == set()
    # Nothing is checked of an operation that never succeeds. Those that need ids get them from others, by links.
    assert {path for path, status in answers if status in {200, 201}} == set(document["paths"])
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


def test_what_every_operation_says_of_itself(document: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"].keys() == {"bearer", "key"}
    ids = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            ids.append(operation["operationId"])
            assert operation["summary"], path
            assert operation["description"], path
            open_to_all = path == "/healthz"
            assert operation["security"] == ([] if open_to_all else [{"bearer": []}, {"key": []}])
            wanted = {"400", "405", "413", "500", "503"} | (set() if open_to_all else {"401", "422", "429"})
            wanted |= {"415"} if method == "post" else set()
            wanted |= {"403"} if "x-svc-scope" in operation else set()
            wanted |= {"404"} if "{" in path else set()
            assert wanted <= operation["responses"].keys(), path
            assert all("ErrorReply" in json.dumps(operation["responses"][status]) for status in wanted)
            done = next(reply for status, reply in operation["responses"].items() if status.startswith("2"))
            assert open_to_all != ("x-svc-request-id" in done.get("headers", {})), path
    assert len(set(ids)) == len(ids)


def test_what_each_operation_may_answer_beside(document: dict[str, Any]) -> None:
    """Statuses that only some operations have."""
    responses = {
        operation["operationId"]: set(operation["responses"])
        for methods in document["paths"].values()
        for operation in methods.values()
    }
    assert {"200", "502", "504"} <= responses["chat"]
    assert "201" in responses["create_policy"]
    assert "409" in responses["create_policy"] & responses["protect"]
    assert "410" in responses["reconstruct"] & responses["protect"]
    assert not {"502", "504"} & responses["protect"]


def test_no_reference_leads_nowhere(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    named = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert named == named & document["components"]["schemas"].keys()
    assert document["components"]["schemas"].keys() - named - {"ErrorReply"} == set()
    assert "HTTPValidationError" not in text
