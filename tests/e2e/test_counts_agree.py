"""Log, metrics, receipts, usage and mitmweb tell the same of a mix of requests, each by its request id."""

import time
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.e2e import traffic
from tests.e2e.api_keys import new_key
from tests.e2e.conftest import Gateways
from tests.e2e.mitmweb import everything, operator, wait_for
from tests.e2e.server import Running
from tests.e2e.traces import Trace, count_lines, counted, disagreements, lines_of, pages
from tests.e2e.traffic import Traffic
from tests.e2e.upstream import Upstream


@pytest.fixture(scope="module")
def served(gateways: Gateways, _plain: Upstream) -> Iterator[Running]:
    config = "streaming = true\n" + traffic.upstream_config(_plain.url)
    yield gateways(web=True, config=config, log_json="true", rate_limit_per_minute="125")


def settled(running: Running) -> list[Trace]:
    """Returns all lines, once there are no more of them."""
    lines = lines_of(running)
    while True:
        time.sleep(0.5)
        before, lines = lines, lines_of(running)
        if len(lines) == len(before):
            return lines


def test_all_traces_agree(served: Running, upstream: Upstream, tls_upstream: Upstream) -> None:
    upstream.answer = tls_upstream.answer = traffic.answer
    sender = Traffic(served, upstream, tls_upstream, new_key(served, "limited"))
    start = len(settled(served))
    for kind, send in sender.kinds().items():
        before = len(lines_of(served))
        sent = send()
        if kind == "beyond its rate":
            assert sent
        # Each leaves one, also where the client gets no answer.
        wait_for(lambda before=before: len(lines_of(served)) > before)
    assert len(settled(served)) - start == sender.sent.total()
    with served.client() as client:

        def complete() -> list[Trace] | None:
            found = pages(client, "/v1/receipts")
            return found if disagreements(settled(served), found) == [] else None

        try:
            receipts = wait_for(complete, 5)
        except TimeoutError:
            receipts = pages(client, "/v1/receipts")
        assert disagreements(settled(served), receipts) == []
        lines = settled(served)
        assert counted(client) == count_lines(lines)
        used = client.get("/v1/usage").json()
        # All that came with a key, and is not for everyone. It is written once a second.
        time.sleep(1.5)
        with_key = [line for line in settled(served) if "key_id" in line or line.get("code") == "unauthorized"]
        assert sum(use["count"] for use in pages(client, "/v1/keys/audit")) == len(with_key) - sender.sent["public"]
    outcomes = Counter(receipt["outcome"]["outcome"] for receipt in receipts if "outcome" in receipt)
    assert used["outcomes"] == outcomes
    assert outcomes.keys() >= {"answered", "refused", "cancelled", "upstream_error"}
    assert {line["outcome"] for line in lines} == {*outcomes, "tunnel"}
    with operator(served) as web:
        comments = " ".join(flow["comment"] for flow in web.get("/flows").json())
        assert [receipt["request_id"] for receipt in receipts if receipt["request_id"] not in comments] == []
        shown = everything(web).decode(errors="replace")
    kept = b"".join(path.read_bytes() for path in served.data.iterdir() if path.is_file())
    for place in (served.output(), shown, kept.decode(errors="replace")):
        assert traffic.CANARY not in place
        assert "sk-canary" not in place
