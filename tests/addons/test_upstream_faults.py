"""mitmproxy's message about an upstream is mapped to a kind of fault; its text is not repeated."""

import ast
import inspect
import logging

import pytest
from mitmproxy.connection import ConnectionState
from mitmproxy.flow import Error
from mitmproxy.proxy import tunnel
from mitmproxy.proxy.layers import http as layer
from mitmproxy.proxy.layers import tls
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.test import tflow

from addons.upstream_faults import _FAULTS, fault_in, fault_of
from gateway.http.upstream_failures import Fault
from tests.conftest import vectors

SAID = vectors("upstreams/messages")


@pytest.mark.parametrize("said", SAID)
def test_the_kind(said: str, caplog: pytest.LogCaptureFixture) -> None:
    fault = fault_in(said)
    assert fault is Fault[SAID[said]]
    with caplog.at_level(logging.WARNING):
        fault.report("`acme`", "req_7")
    (line,) = caplog.messages
    assert line.startswith("upstream `acme` ")
    assert line.endswith(f"({fault.kind}) req_7")
    assert "canary" not in line + fault.error("acme").message


def test_the_beginnings_are_those_of_mitmproxy() -> None:
    """A newer mitmproxy may say it in other words; then this table is to be looked at."""
    written = "".join(
        str(node.value)
        for module in (tunnel, tls, layer, _http1)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Constant)
    )
    own = {
        beginning
        for beginning in _FAULTS
        # OpenSSL and h11 write the text after the first words, and mitmproxy builds these messages from parts.
        if not beginning.startswith(("Certificate verify failed: ", "HTTP/1 protocol error: ", "Response body"))
    }
    own |= {"Certificate verify failed: ", "HTTP/1 protocol error: ", " body exceeds"}
    assert {beginning for beginning in own if beginning not in written} == set()


def test_a_client_that_left_and_a_flow_that_was_stopped_are_no_fault_of_the_upstream() -> None:
    flow = tflow.tflow(err=Error("server closed connection"))
    flow.client_conn.state = ConnectionState.OPEN
    assert fault_of(flow) is Fault.CLOSED
    flow.client_conn.state = ConnectionState.CAN_WRITE
    assert fault_of(flow) is None
    flow.client_conn.state = ConnectionState.OPEN
    flow.error = Error(Error.KILLED_MESSAGE)
    assert fault_of(flow) is None
