"""On Linux, connections past the gateway are told, and the program is otherwise undisturbed."""

import os
import sys

import pytest

from gateway.cli.inspection.program import Program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports connections")

# 192.0.2.0/24 is for documentation (RFC 5737).
CONNECTS = "import socket, sys; s = socket.socket(); s.settimeout(0.2); s.connect_ex(('192.0.2.1', 443)); sys.exit(7)"


def test_a_connection_is_told_and_the_status_is_the_programs() -> None:
    lines: list[str] = []
    running = Program(sys.executable, ["python", "-c", CONNECTS], os.environ, lines.append)
    assert running.wait() == 7
    assert len(lines) == 1
    assert lines[0].endswith(" connects to 192.0.2.1:443, past the gateway") or "not reported" in lines[0]
    assert not lines[0].startswith("inspect")


def test_a_signal_and_a_program_that_cannot_run_have_the_usual_status(capfd: pytest.CaptureFixture[str]) -> None:
    ends = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert Program(sys.executable, ["python", "-c", ends], os.environ, lambda _: None).wait() == 143
    assert Program("/etc/passwd", ["/etc/passwd"], os.environ, lambda _: None).wait() == 126
    assert "/etc/passwd" in capfd.readouterr().err
