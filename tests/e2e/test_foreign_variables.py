"""The gateway starts next to a Kubernetes Service whose name begins with `svc`, and says which variables it ignores."""

from pathlib import Path

from tests.e2e.server import gateway
from tests.gateway.config.test_foreign_variables import HOST, service


def test_a_gateway_starts_next_to_a_service_named_like_it(tmp_path: Path) -> None:
    variables = service("svc-gateway", (80, "tcp")) | service("svc-api", (443, "tcp"))
    with gateway(tmp_path, environment=variables | {"SVC_DETECTION": "patterns"}) as running:
        told = [line for line in running.output().splitlines() if "ignored variables" in line]
    assert len(told) == 1
    assert all(name in told[0] for name in variables)
    assert HOST not in running.output()
