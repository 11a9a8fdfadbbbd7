"""Detection that fails, hangs or has much to do refuses the request, and the gateway continues to serve."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from gateway.detection import Detector
from gateway.models import Entity
from tests.e2e.server import gateway
from tests.e2e.upstream import Upstream

CANARY = "canary.law-one@acme.test"
CHAT = {"model": "configured-upstream", "messages": [{"role": "user", "content": f"mail {CANARY}"}]}


def test_a_crowded_text_does_not_hold_up_the_rest(tmp_path: Path, upstream: Upstream) -> None:
    """20,000 different values in one message: work that grew with their square would take minutes.

    Without the model, which would read on for most of the time and find nothing.
    """
    crowded = " ".join(f"user{n}@host{n}.test" for n in range(20000))
    patterns = {"SVC_DETECTION": "patterns"}
    with (
        gateway(tmp_path, "--upstream", f"{upstream.url}/v1", environment=patterns) as running,
        running.client() as client,
    ):
        client.timeout = 60
        for text in (crowded, "4111 " * 50000, "Dear " * 50000):
            body = {**CHAT, "messages": [{"role": "user", "content": text}]}
            assert client.post("/v1/chat/completions", json=body).status_code in {200, 503}
            assert client.post("/v1/chat/completions", json=CHAT).status_code == 200


def raises() -> None:
    raise ValueError(CANARY)


def hangs() -> None:
    time.sleep(60)


def loops() -> None:
    while True:
        pass


def faulty(fault: Callable[[], None]) -> None:
    """Has detection run into the fault at every text with a canary in it."""
    sound = Detector.detect

    def detect(self: Detector, text: str) -> tuple[Entity, ...]:
        if CANARY in text:
            fault()
        return sound(self, text)

    Detector.detect = detect  # type: ignore[method-assign]


@pytest.mark.parametrize("fault", [raises, hangs, loops])
def test_a_faulty_detector(fault: Callable[[], None], tmp_path: Path, upstream: Upstream) -> None:
    """If a detector raises or hangs, the request is refused. Requests that need no detection are still served."""
    environment = {"SVC_DETECTION_TIMEOUT_SECONDS": "0.5"}
    with (
        gateway(
            tmp_path,
            "--upstream",
            f"{upstream.url}/v1",
            environment=environment,
            prepare=partial(faulty, fault),
        ) as running,
        running.client() as client,
    ):
        for path, body in {
            "/v1/chat/completions": CHAT,
            "/v1/protect": {"text": CANARY},
            "/v1/analyze": {"text": CANARY},
            "/v1/explain": {"text": CANARY},
        }.items():
            answer = client.post(path, json=body)
            assert answer.status_code == 503
            assert answer.json()["error"]["code"] == ("detection_failed" if fault is raises else "detection_timeout")
            assert "canary" not in answer.text
        assert client.get("/healthz").status_code == 200
        assert "canary" not in running.output()
    assert not upstream.recorded
