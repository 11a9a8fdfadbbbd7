"""The process tells why it cannot start, and removes its folder if its parent has ended.

`tests/e2e/test_inspect.py` runs a whole one.
"""

import io
import json
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from addons import inspected_gateway
from addons.inspected_gateway import Events
from gateway.config.loading import load_settings

CODE = "import sys; sys.path[:] = {path}; from addons.inspected_gateway import main; main()"


@pytest.mark.slow
def test_a_failed_start_is_told_and_the_log_is_left_for_the_parent(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(0o700)
    (tmp_path / "certs").write_text("no folder")
    settings = load_settings(
        data_dir=tmp_path / "data",
        certs_dir=tmp_path / "certs",
        gateway_port=0,
        proxy_port=0,
        web=False,
        detection="patterns",
    )
    command = [sys.executable, "-I", "-c", CODE.format(path=sys.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pickle.dumps((settings, False)))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["event"] == "failed"
        assert process.stdout.read() == b""
    assert (tmp_path / "data").exists()


def test_an_event_is_a_line() -> None:
    file = io.BytesIO()
    events = Events(file)
    events({"event": "end", "text": "a\nb"})
    assert (file.getvalue(), events.served) == (b'{"event":"end","text":"a\\nb"}\n', False)
    events({"event": "ready"})
    assert events.served


@pytest.mark.parametrize("served", [False, True])
def test_it_ends_with_its_parent(served: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO()))
    signals: list[int] = []
    monkeypatch.setattr("os.kill", lambda _, number: signals.append(number))
    events = Events(io.BytesIO())
    events.served = served
    (tmp_path / "data").mkdir()
    inspected_gateway._end_with_parent(tmp_path / "data", events)
    # While it serves, the folder is in use; it is removed at the end.
    assert (signals, (tmp_path / "data").exists()) == ([signal.SIGTERM], served)
