"""The OpenAPI document describes every operation, and its page consists of what its policy allows."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import httpx
import pytest

from gateway.api.app import create_app
from gateway.api.model_lists import _METHODS
from gateway.wires.base import Wires
from tests.openapi import native


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app().openapi()


async def test_the_page_runs_its_own_scripts_alone(client: httpx.AsyncClient, document: dict[str, Any]) -> None:
    page = await client.get("/docs")
    (script,) = re.findall(r"<script>([^<]*)</script>", page.text)
    assert f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in page.headers["content-security-policy"]
    assert "http" not in re.sub(r"<!DOCTYPE.*?>", "", page.text).replace("http-equiv", "")
    for asset in re.findall(r'"(/docs/assets/[^"]+)"', page.text):
        assert (await client.get(asset)).status_code == 200
    assert (await client.get("/openapi.json")).json() == document


def test_every_operation_is_described(document: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"].keys() == {"bearer", "key"}
    ids = []
    for path, methods in native(document).items():
        for method, operation in methods.items():
            ids.append(operation["operationId"])
            assert operation["summary"], path
            assert operation["description"], path
            open_to_all = path in {"/healthz", "/livez", "/readyz"}
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


def test_every_call_of_every_wire_is_listed(document: dict[str, Any]) -> None:
    listed = document["paths"]
    ids = [operation["operationId"] for methods in listed.values() for operation in methods.values()]
    assert len(set(ids)) == len(ids)
    for wire in Wires.discover():
        # A wire that serves no path reads the bodies of other calls.
        assert wire.routes or not hasattr(wire, "path"), wire.id
        for method, path in wire.routes:
            assert wire.serves(method, re.sub(r"{\w+}", "x", path)), path
            assert "docs/wires.md" in listed[path][method.lower()]["description"] or path == "/v1/chat/completions"
    assert {f"/v1beta/models/{{model}}:{method}" for method in _METHODS} <= listed.keys()
    assert {"/models", "/openai/models", "/v1beta/models/{model}"} <= listed.keys()


def test_some_operations_answer_with_further_statuses(document: dict[str, Any]) -> None:
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
