"""Metrics of the listeners, from the lines of requests."""

from addons.metrics import Metrics

LINE = {
    "request_id": "req_1",
    "key_label": "canary-4711",
    "client": "198.51.100.7",
    "listener": "proxy",
    "wire": "responses",
    "operation": "chat",
    "model": "canary-4711",
    "entities": {"PERSON": 2},
    "actions": {"placeholder": 2},
    "guard": {"action": "flag", "findings": {"new_sensitive_value": 3}},
    "outcome": "answered",
    "status": 200,
    "bytes": {"received": 10, "sent": 20},
    "ms": {"protect": 20.0, "upstream": 700.0},
}


def test_a_line_is_counted_without_what_clients_choose() -> None:
    metrics = Metrics()
    metrics.read("connections", "Open connections.", lambda: 7)
    metrics.observe(LINE)
    metrics.observe(LINE)
    metrics.observe({"listener": "gateway", "outcome": "refused", "code": "unauthorized"})
    text = metrics.exposition().decode()
    for sample in (
        'requests_total{code="",listener="proxy",operation="chat",outcome="answered",wire="responses"} 2.0',
        'requests_total{code="unauthorized",listener="gateway",operation="",outcome="refused",wire=""} 1.0',
        'stage_seconds_bucket{le="0.025",listener="proxy",stage="protect"} 2.0',
        'stage_seconds_bucket{le="0.5",listener="proxy",stage="upstream"} 0.0',
        'stage_seconds_sum{listener="proxy",stage="upstream"} 1.4',
        'bytes_total{direction="sent",listener="proxy"} 40.0',
        'entities_total{type="PERSON"} 4.0',
        'actions_total{action="placeholder"} 4.0',
        'guard_findings_total{action="flag",kind="new_sensitive_value"} 6.0',
        "connections 7.0",
    ):
        assert f"privacy_gateway_{sample}\n" in text
    assert "canary" not in text
    assert "198.51" not in text
    assert "_created" not in text
