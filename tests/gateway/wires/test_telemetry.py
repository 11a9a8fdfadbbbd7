"""Reports of clients on their own use are found by host and path."""

import pytest

from gateway.wires.telemetry import report_of


@pytest.mark.parametrize(
    ("origin", "path", "status"),
    [
        ("https://localhost:8443", "/v1/traces/ingest", 202),
        ("https://api.anthropic.com", "/api/event_logging/v2/batch", 202),
        ("https://chatgpt.com", "/backend-api/codex/analytics-events/events", 200),
        ("https://AB.chatgpt.com:443", "/otlp/v1/metrics", 200),
        ("https://cloudcode-pa.googleapis.com", "/v1internal:recordCodeAssistMetrics", 200),
        ("https://play.googleapis.com", "/log", 200),
        ("https://telemetry.individual.githubcopilot.com", "/telemetry", 200),
    ],
)
def test_reports(origin: str, path: str, status: int) -> None:
    report = report_of(origin, path)
    assert report is not None
    assert report.status == status


@pytest.mark.parametrize(
    ("origin", "path"),
    [
        ("https://api.openai.com", "/v1/responses"),
        ("https://chatgpt.com", "/backend-api/codex/responses"),
        ("https://chatgpt.com", "/otlp/v1/metrics"),
        ("https://example.test", "/log"),
        ("https://api.individual.githubcopilot.com", "/telemetry"),
        ("", "/log"),
    ],
)
def test_other_calls(origin: str, path: str) -> None:
    assert report_of(origin, path) is None
