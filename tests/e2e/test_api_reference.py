"""docs/api.md says what is true: it is what `make docs` writes, leaves nothing out, and its examples work."""

import json
import os
import re
import shutil
import subprocess
from typing import Any

import httpx
import pytest

from scripts.api_reference import page
from tests.e2e.server import OPERATOR_KEY, PLAIN, ROOT, Running
from tests.openapi import native

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```sh\n(curl .*?)```", PAGE, re.DOTALL)


def test_the_page_is_current() -> None:
    assert page() == PAGE, "run `make docs`"


def test_every_operation_is_there(running: Running) -> None:
    document = httpx.get(f"{running.url}/openapi.json", trust_env=False, verify=PLAIN).json()
    named = re.findall(r"^`([A-Z]+) (/\S*)` · key: ", PAGE, re.MULTILINE)
    wanted = [(method.upper(), path) for path, methods in native(document).items() for method in methods]
    assert sorted(named) == sorted(wanted)
    listed = re.findall(r"^\| `([A-Z]+) (/\S*)` \|", PAGE, re.MULTILINE)
    every = [(method.upper(), path) for path, methods in document["paths"].items() for method in methods]
    assert sorted(listed) == sorted(every)
    assert len(EXAMPLES) == len(wanted)


def test_every_field_of_every_request_is_there(running: Running) -> None:
    document = httpx.get(f"{running.url}/openapi.json", trust_env=False, verify=PLAIN).json()
    for path, methods in native(document).items():
        for operation in methods.values():
            section = PAGE.split(f"\n### {operation['summary']}\n")[1].split("\n### ")[0]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            fields = document["components"]["schemas"][body["$ref"].rsplit("/", 1)[1]]["properties"] if body else {}
            for field in fields:
                assert f"\n| `{field}` | " in section, f"{path}: {field}"
            for parameter in operation.get("parameters", ()):
                assert f"\n| `{parameter['name']}` ({parameter['in']}) | " in section


def test_every_link_within_the_page_leads_somewhere() -> None:
    headings = [re.sub(r"[^a-z0-9 -]", "", title.lower()) for title in re.findall(r"^##+ (.+)$", PAGE, re.MULTILINE)]
    assert len(set(headings)) == len(headings)
    anchors = {heading.replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) - anchors == set()


def test_the_page_is_for_people() -> None:
    assert not re.search(r"\$ref|anyOf|additionalProperties|Reply\b|\bNone\b|\bTrue\b|\bFalse\b", PAGE)


@pytest.fixture(scope="module")
def variables(running: Running) -> dict[str, str]:
    """Returns the values that a reader has from earlier answers."""
    with running.client() as client:
        made = client.post("/v1/protect", json={"text": "Write to anna.schmidt@acme.example."}).json()
        assert client.post("/v1/policies", json={"id": "house-rules", "title": "House rules"}).status_code == 201
    names = {"SESSION_ID": "session_id", "SESSION_TOKEN": "session_token"}
    grant = {variable: made["session"][name] for variable, name in names.items()}
    return grant | {"KEY": OPERATOR_KEY, "REQUEST_ID": made["request_id"]}


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=[re.sub(r"[^\w/?]", "", each.split("8000")[1].split()[0]) for each in EXAMPLES]
)
def test_the_examples_work(running: Running, variables: dict[str, str], example: str) -> None:
    if shutil.which("curl") is None or shutil.which("sh") is None:
        pytest.skip("curl and sh are not on this machine")
    assert example.count("http://127.0.0.1:8000/") == 1
    script = example.replace("http://127.0.0.1:8000", running.url)
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()} | variables
    done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, check=True, timeout=60)
    if "8000/metrics" in example:
        assert b"privacy_gateway_requests_total" in done.stdout
        return
    answer: Any = json.loads(done.stdout)
    assert "error" not in answer
    assert answer.keys() & {"request_id", "data", "status", "id", "total_operations"}
