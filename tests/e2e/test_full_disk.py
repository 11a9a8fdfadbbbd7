"""While the store cannot write, every request is refused and has its line; the failure and its end have one each."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Gateways
from tests.e2e.full_disk import full_disk
from tests.e2e.mitmweb import wait_for
from tests.e2e.server import Running
from tests.e2e.traces import count_lines, counted, line_of, lines_of, pages
from tests.e2e.upstream import Upstream

CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": "Write to anna@acme.test"}]}
CALLS: list[tuple[str, Any]] = [("/v1/chat/completions", CHAT), ("/v1/protect", {"text": "anna@acme.test"})]


def others(running: Running) -> list[tuple[str, str]]:
    """The level and message of each line that is not of a request."""
    lines = [json.loads(line) for line in running.output().splitlines() if line.startswith("{")]
    return [(line["level"], line["message"]) for line in lines if line["logger"] != "gateway.requests"]


@pytest.mark.skipif(sys.platform != "linux", reason="limits another process")
def test_the_failure_and_its_end_are_logged_once(gateways: Gateways, upstream: Upstream) -> None:
    running = gateways(*gateways.with_upstream, log_json="true", web=False)
    with running.client() as client:
        assert client.post(*CALLS[0][:1], json=CHAT).status_code == 200
        before = others(running)
        upstream.recorded.clear()
        refused: list[str] = []
        with full_disk(running):
            for number in range(6):
                path, body = CALLS[number % 2]
                answer = client.post(path, json=body)
                assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_unavailable"), answer.text
                refused.append(answer.headers["x-svc-request-id"])
            # The counts of quotas and of the audit are written each second, and fail meanwhile.
            time.sleep(2)
            assert client.get("/readyz").status_code == 503
            assert not upstream.recorded
            (failed,) = others(running)[len(before) :]
        assert failed[0] == "error"
        assert failed[1].startswith("the store could not commit: ")
        assert client.post(CALLS[0][0], json=CHAT).status_code == 200
        assert others(running)[len(before) :] == [failed, ("info", "the store writes again")]
        for request_id in refused:
            line = line_of(running, request_id)
            assert (line["outcome"], line["status"], line["code"]) == ("refused", 503, "store_unavailable")
            assert line["key_id"] == "key_environment"
        time.sleep(0.3)
        expected = count_lines(lines_of(running))
        assert counted(client) == expected

        def audited() -> int | None:
            uses = pages(client, "/v1/keys/audit")
            return sum(use["count"] for use in uses if use["outcome"] == "store_unavailable") or None

        assert wait_for(audited) == len(refused)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_lines_that_the_log_file_does_not_take_follow_elsewhere(gateways: Gateways, upstream: Upstream) -> None:
    running = gateways(*gateways.with_upstream, log_json="true", log_file="/dev/full")
    with running.client() as client:
        ids = [client.post("/v1/chat/completions", json=CHAT).headers["x-svc-request-id"] for _ in range(3)]
    assert [line_of(running, request_id)["outcome"] for request_id in ids] == ["answered"] * 3
    errors = [message for level, message in others(running) if level == "error"]
    # One of each process that has had something to say.
    assert 1 <= len(errors) <= 2
    assert {message[:30] for message in errors} == {"log_file cannot be written (No"}
