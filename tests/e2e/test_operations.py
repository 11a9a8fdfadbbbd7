"""The operations listener of a running gateway: health and metrics without a key, also while its process hangs."""

import os
import signal
import time
from pathlib import Path

import httpx
import pytest

from gateway.cli.listeners import Answer, operations_answers
from gateway.config.loading import load_settings
from tests.e2e.server import OPERATOR_KEY, free_port, gateway
from tests.e2e.test_two_processes import child_of
from tests.e2e.upstream import Upstream

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork a process")

CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": "mail canary@acme.test"}]}


def test_it_answers_without_a_key_while_the_gateways_process_hangs_and_sends_nothing(
    tmp_path: Path, upstream: Upstream
) -> None:
    port = free_port()
    arguments = ("--upstream", f"{upstream.url}/v1", "--operations-port", str(port))
    with (
        gateway(tmp_path, *arguments) as running,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client,
    ):
        assert f"Metrics:         http://127.0.0.1:{port}/metrics\n" in running.output()
        with running.client() as caller:
            assert caller.post("/v1/chat/completions", json=CHAT).status_code == 200
            keyed = caller.get("/metrics").text
        assert [client.get(path).status_code for path in ("/livez", "/readyz")] == [200, 200]
        assert operations_answers(load_settings(None, operations_port=port)) is Answer.OURS
        told = client.get("/metrics").text
        assert names(told) == names(keyed)
        assert "\nprivacy_gateway_ready 1.0\n" in told
        assert "canary" not in told
        sent = len(upstream.recorded)
        headers = {"authorization": f"Bearer {OPERATOR_KEY}"}
        assert client.post("/v1/chat/completions", json=CHAT, headers=headers).status_code == 404
        child = child_of(running.process.pid)
        os.kill(child, signal.SIGSTOP)
        began = time.monotonic()
        try:
            assert [client.get(path).status_code for path in ("/livez", "/readyz")] == [503, 503]
            without = client.get("/metrics").text
        finally:
            os.kill(child, signal.SIGCONT)
        assert time.monotonic() - began < 20
        assert "\nprivacy_gateway_up 0.0\n" in without
        assert names(without) < names(told)
        assert client.get("/readyz").status_code == 200
        assert len(upstream.recorded) == sent
        assert 'code="not_found"' not in client.get("/metrics").text
        assert running.faults() == []


def names(text: str) -> set[str]:
    return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
