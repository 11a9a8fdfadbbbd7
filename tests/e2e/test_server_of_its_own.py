"""Law 3 for `gateway.api.app` on uvicorn: its log holds no more than that of `serve`, at the most verbose level."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.e2e.raw import connection
from tests.e2e.server import OPERATOR_KEY, PLAIN, ROOT, free_port, wait_until_served

CANARY = "canary.own-server@acme.test"
# A fault in a route, whose exception quotes the text of the request.
FAULTY = """
import asyncio, sys, uvicorn
from gateway.exchange.operations import Operations

async def analyze(self, question, caller):
    asyncio.get_running_loop().call_soon(int, question.text)
    raise ValueError(question.text)

Operations.analyze = analyze
uvicorn.run("gateway.api.app:create_app", factory=True, port=int(sys.argv[1]), log_level=sys.argv[2])
"""
UPGRADE = {"Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}


@pytest.mark.parametrize("level", ["info", "trace"])
def test_no_canary_and_no_key_is_logged(tmp_path: Path, level: str) -> None:
    port, log = free_port(), tmp_path / "server.log"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    settings = {"SVC_API_KEY": OPERATOR_KEY, "SVC_DATA_DIR": str(tmp_path / "data"), "SVC_DETECTION": "patterns"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", FAULTY, str(port), level],
            env=clean | settings | {"SVC_CERTS_DIR": str(tmp_path / "certs")},
            stdout=output,
            stderr=output,
            cwd=ROOT,
        )
    try:
        wait_until_served(f"http://127.0.0.1:{port}", process, log)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, verify=PLAIN, timeout=30) as client:
            assert client.get(f"/v1beta/{CANARY}", params={"q": CANARY, "key": OPERATOR_KEY}).status_code == 404
            authorized = {"authorization": f"Bearer {OPERATOR_KEY}"}
            assert client.post("/v1/analyze", json={"text": CANARY}, headers=authorized).status_code == 500
        head = {"Host": "localhost", "Authorization": f"Bearer {OPERATOR_KEY}", "Connection": "Upgrade"} | UPGRADE
        lines = [f"GET /v1/x?q={CANARY} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
        with connection(port) as sock:
            sock.sendall("\r\n".join([*lines, "", ""]).encode())
            assert b" 403 " in sock.recv(4096)
    finally:
        process.terminate()
        process.wait(30)
    said = log.read_text()
    assert "Application startup complete" in said
    assert "(ValueError)" in said
    assert "canary" not in said
    assert OPERATOR_KEY not in said
