"""The table of metrics, the dashboard and the alerts name what a running gateway exposes."""

import json
import re
import shutil
import ssl
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML

from gateway.api.schemas.errors import CODES, LISTENER_CODES
from tests.certificates import write_certificate
from tests.e2e.conftest import Gateways
from tests.e2e.lacking import lacking
from tests.e2e.server import ROOT, free_port

PACKAGING = ROOT / "packaging"
OPERATING = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
DASHBOARD: dict[str, Any] = json.loads((PACKAGING / "grafana-dashboard.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
ALERT_FILE, ALERT_TESTS = PACKAGING / "prometheus-alerts.yml", PACKAGING / "prometheus-alerts.test.yml"
ALERTS = YAML(typ="safe", pure=True).load(ALERT_FILE.read_text(encoding="utf-8"))["groups"][0]["rules"]
# From Prometheus itself, and from `label_replace` in an alert.
ITS_OWN, ADDED = {"up": {"job", "instance"}}, {"job", "instance", "of"}
FAULTS = {code for code, error in (CODES | LISTENER_CODES).items() if error.status >= 500}
EXPRESSIONS = {
    **{f"panel: {panel['title']}": [each["expr"] for each in panel["targets"]] for panel in PANELS},
    **{f"alert: {alert['alert']}": [alert["expr"]] for alert in ALERTS},
}


@pytest.fixture(scope="module")
def metrics(gateways: Gateways, authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> list[Metric]:
    """Metrics of a gateway with every listener and a certificate, after a call with something private."""
    port = free_port()
    certificate, key = write_certificate(tmp_path_factory.mktemp("tls"), authority=authority)
    options = (*gateways.with_upstream, "--operations-port", str(port))
    served = gateways(*options, web=True, detection="patterns", tls_certificate=str(certificate), tls_key=str(key))
    messages = [{"role": "user", "content": "Who is canary@acme.test?"}]
    with served.client() as client:
        client.post("/v1/chat/completions", json={"model": "configured-upstream", "messages": messages})
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    text = httpx.get(f"https://localhost:{port}/metrics", verify=trust, trust_env=False).text
    assert 'privacy_gateway_entities_total{type="EMAIL_ADDRESS"} 1.0' in text
    assert "canary" not in text
    return list(text_string_to_metric_families(text))


@pytest.fixture(scope="module")
def labels(metrics: list[Metric]) -> dict[str, dict[str, set[str]]]:
    """Each name of a sample with its labels and their values."""
    found: dict[str, dict[str, set[str]]] = {}
    for sample in (sample for metric in metrics for sample in metric.samples):
        values = found.setdefault(sample.name, defaultdict(set))
        for name, value in sample.labels.items():
            values[name].add(value)
    return found


def test_the_table_has_every_metric_with_its_labels_and_meaning(metrics: list[Metric]) -> None:
    rows = []
    for metric in sorted(metrics, key=lambda metric: metric.name):
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        names = sorted({label for sample in metric.samples for label in sample.labels} - {"le"})
        rows.append(f"| `{name}` | {', '.join(names) or '–'} | {metric.documentation} |")
    written = re.findall(r"^\| `privacy_gateway_.*$", OPERATING, re.MULTILINE)
    assert written == rows, "the table should be:\n" + "\n".join(rows)


@pytest.mark.parametrize("place", EXPRESSIONS)
def test_an_expression_names_metrics_labels_and_values_that_exist(
    place: str, labels: dict[str, dict[str, set[str]]]
) -> None:
    outcomes = re.findall(r"`(\w+)`", OPERATING.split("| `outcome` |")[1].split("\n")[0])
    known = {"code": {*CODES, *LISTENER_CODES}, "outcome": set(outcomes), "stage": {"held"}, "instance": {"$instance"}}
    for expression in EXPRESSIONS[place]:
        used: set[str] = set()
        for name, matchers in selectors(expression, [*labels, *ITS_OWN]):
            present = labels.get(name, {})
            used |= present.keys()
            for label, value in re.findall(r'(\w+)(?:=~|!=|=)"([^"]*)"', matchers):
                assert label in present.keys() | ITS_OWN["up"] | {"__name__"}, (name, label)
                permitted = present.get(label, set()) | known.get(label, set()) | {"", "privacy-gateway"}
                assert label == "__name__" or set(value.split("|")) <= permitted, (label, value)
        grouped = {word for words in re.findall(r"by \(([^)]*)\)", expression) for word in words.split(", ")}
        assert grouped <= used | ADDED


def selectors(expression: str, known: list[str]) -> Iterator[tuple[str, str]]:
    """Yields the metrics of an expression, each with its matchers."""
    found = list(re.finditer(r"(\b(?:privacy_gateway_\w+|up\b))?(\{[^}]*\})?", expression))
    for name, matchers in (match.groups(default="") for match in found if match[0]):
        pattern = re.search(r'__name__=~"([^"]*)"', matchers)
        names = [each for each in known if re.fullmatch(pattern[1], each)] if pattern else [name]
        assert names
        for each in names:
            assert each in known, each
            yield each, matchers


def test_legends_name_labels_that_the_results_have() -> None:
    for panel in PANELS:
        for target in panel["targets"]:
            grouped = re.findall(r"by \(([^)]*)\)", target["expr"])
            left = set(grouped[0].split(", ")) if grouped else {"instance"}
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= left, target


def test_the_dashboard_fits_together() -> None:
    every = DASHBOARD["panels"]
    assert len({panel["id"] for panel in every}) == len(every)
    for one, other in combinations([panel["gridPos"] for panel in every], 2):
        apart = any(a[k] + a[n] <= b[k] for a, b in ((one, other), (other, one)) for k, n in (("x", "w"), ("y", "h")))
        assert apart, (one, other)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in every)
    assert all(panel["title"] and panel["description"] and panel["fieldConfig"]["defaults"]["unit"] for panel in PANELS)
    names = [variable["name"] for variable in DASHBOARD["templating"]["list"]]
    assert names == ["datasource", "instance"]
    text = json.dumps(DASHBOARD)
    assert set(re.findall(r'"uid": "([^"]*)"', text)) == {"${datasource}"}
    assert all('instance=~"$instance"' in each["expr"] for panel in PANELS for each in panel["targets"])


def test_the_alert_of_faults_has_all_codes_but_those_of_upstreams_and_of_a_stop() -> None:
    (expression,) = (alert["expr"] for alert in ALERTS if alert["alert"] == "PrivacyGatewayFaults")
    codes = re.findall(r'code=~"([^"]*)"', expression)[0].split("|")
    assert set(codes) == {code for code in FAULTS if not code.startswith("upstream_")} - {"stopping"}
    assert len(codes) == len(set(codes))


def test_every_alert_has_a_test_and_a_row_that_says_what_to_do() -> None:
    names = [alert["alert"] for alert in ALERTS]
    tested = YAML(typ="safe", pure=True).load(ALERT_TESTS.read_text(encoding="utf-8"))["tests"]
    assert {each["alertname"] for test in tested for each in test["alert_rule_test"]} == set(names)
    section = OPERATING.split("\n## Alerts\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(PrivacyGateway\w+)` \| \S.* \| \S.* \|$", section, re.MULTILINE) == names
    for alert in ALERTS:
        assert alert["annotations"]["runbook"] == "docs/operating.md#alerts"
        assert alert["labels"]["severity"] in {"warning", "critical"}


def test_prometheus_accepts_every_expression_and_the_alerts_fire_where_they_should(tmp_path: Path) -> None:
    promtool = shutil.which("promtool") or lacking("promtool is not installed (Debian's package prometheus)")
    rules = [
        {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, expression in enumerate(each for several in EXPRESSIONS.values() for each in several)
    ]
    (tmp_path / "panels.yml").write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    for arguments in (
        ["check", "rules", str(tmp_path / "panels.yml"), str(ALERT_FILE)],
        ["test", "rules", str(ALERT_TESTS)],
    ):
        done = subprocess.run([promtool, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "SUCCESS" in done.stdout
