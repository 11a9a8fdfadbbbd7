"""No process or command reports to a third party: neither the gateway nor a library that it loads.

Each runs with no variable of a CI container, which some libraries are silent under, and with a home of its own.
"""

import ast
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.server import OPERATOR_KEY, ROOT, Running, gateway
from tests.e2e.syscalls import Calls, can_trace, tracing

TEXT = "Write to Anna Smith at anna@acme.test"
COMMANDS = ("serve-patterns", "serve-full", "try-patterns", "try-full")
needs_tracing = pytest.mark.skipif(not can_trace(), reason="strace is not installed, or may not trace here")


@dataclass(frozen=True)
class Ran:
    """A command that ended: the folder it ran in, and what it asked the kernel for where that can be seen."""

    folder: Path
    calls: Calls | None

    def seen(self) -> Calls:
        assert self.calls is not None
        return self.calls


def clean(folder: Path, **variables: str) -> list[str]:
    """`env` with a fresh home and nothing else, traced where that is possible."""
    for name in ("home", "tmp"):
        (folder / name).mkdir()
    given = {"HOME": folder / "home", "TMPDIR": folder / "tmp", "PATH": os.environ["PATH"]}
    words = [f"{name}={value}" for name, value in (given | {"PYTHONDONTWRITEBYTECODE": "1"} | variables).items()]
    return ["env", "-i", *words, *(tracing(folder / "traces") if can_trace() else [])]


def ran(folder: Path) -> Ran:
    return Ran(folder, Calls.read(folder / "traces") if can_trace() else None)


@contextmanager
def serving(folder: Path, detection: str) -> Iterator[Running]:
    """A gateway with all of its listeners, which has protected a text."""
    command = [*clean(folder, SVC_DETECTION=detection, SVC_API_KEY=OPERATOR_KEY), sys.executable]
    with gateway(folder, web=True, command=[*command, str(ROOT / "run_proxy.py")]) as running:
        with running.client() as client:
            protected = client.post("/v1/protect", json={"text": TEXT})
            assert protected.status_code == 200
            assert "anna@acme.test" not in protected.json()["protected_text"]
            assert client.get(f"/v1/receipts/{protected.json()['request_id']}/verify").json()["valid"] is True
            assert client.get("/docs").status_code == 200
        yield running


def policies_try(folder: Path, detection: str) -> None:
    command = [*clean(folder, SVC_DETECTION=detection), sys.executable, str(ROOT / "run_proxy.py"), "policies", "try"]
    done = subprocess.run([*command, "default", "--text", TEXT], cwd=folder, capture_output=True, check=True)
    assert b"EMAIL_ADDRESS" in done.stdout


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """`serve` and a command, in both detections, after they ended."""
    folders = {name: tmp_path_factory.mktemp(name) for name in COMMANDS}
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(folders[f"serve-{each}"], each)) for each in ("patterns", "full")]
        started = time.monotonic()
        for detection in ("patterns", "full"):
            policies_try(folders[f"try-{detection}"], detection)
        if can_trace():
            # onnxruntime 1.31 uploads for the first time nine seconds after it was loaded.
            time.sleep(max(0.0, started + 14 - time.monotonic()))
    assert [server.process.returncode for server in servers] == [0, 0]
    return {name: ran(folder) for name, folder in folders.items()}


@pytest.fixture(params=COMMANDS)
def each(request: pytest.FixtureRequest, every: dict[str, Ran]) -> Ran:
    return every[request.param]


def test_no_file_appears_elsewhere(each: Ran) -> None:
    """Lists its home, its folder of temporary files and the current folder afterwards."""
    ours = {"data", "certs", "gateway.log", "traces"}
    found = {path.relative_to(each.folder) for path in each.folder.rglob("*")}
    assert {str(path) for path in found if path.parts[0] not in ours} == {"home", "tmp"}


@needs_tracing
def test_no_file_is_made_elsewhere_not_even_for_a_moment(each: Ran) -> None:
    allowed = [each.folder / "data", each.folder / "certs", Path("/dev"), Path("/proc")]
    made = [path for path in each.seen().made() if path.parent.name != "__pycache__"]
    assert [path for path in made if not any(map(path.is_relative_to, allowed))] == []


@needs_tracing
def test_no_address_beyond_this_machine_is_reached(each: Ran) -> None:
    assert list(each.seen().reached()) == []


@needs_tracing
def test_no_name_is_looked_up(each: Ran) -> None:
    assert each.seen().lookups() == []


TATTLER = """
import ctypes, os, pathlib, socket
libc = ctypes.CDLL(None)
libc.getaddrinfo(b"gateway.invalid", None, None, ctypes.byref(ctypes.c_void_p()))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    address = b"\\x02\\x00\\x01\\xbb" + socket.inet_aton("192.0.2.7") + bytes(8)
    libc.connect(sock.fileno(), address, len(address))
home = os.open(os.environ["HOME"], os.O_RDONLY)
if os.fork() == 0:
    file = libc.openat(home, b"device", os.O_CREAT | os.O_WRONLY, 0o600)
    libc.renameat(home, b"device", home, b"moved")
    libc.unlinkat(home, b"moved", 0)
    os._exit(0)
os.wait()
"""


@needs_tracing
def test_what_native_code_does_is_seen(tmp_path: Path) -> None:
    """Else the tests above would prove nothing."""
    subprocess.run([*clean(tmp_path), sys.executable, "-c", TATTLER], cwd=tmp_path, check=True)
    calls = ran(tmp_path).seen()
    assert calls.lookups()
    assert "192.0.2.7" in set(calls.reached())
    assert {tmp_path / "home" / "device", tmp_path / "home" / "moved"} <= set(calls.made())


LIBRARY = """
import os
print("loaded with", os.environ.get("ORT_DISABLE_TELEMETRY"))
def disable_telemetry_events():
    print("switched off")
"""


def test_telemetry_is_disabled_before_and_after_onnxruntime_is_loaded(tmp_path: Path) -> None:
    """By the variable, which it reads while it is loaded, and by its interface."""
    (tmp_path / "onnxruntime.py").write_text(LIBRARY)
    environment = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "ORT_DISABLE_TELEMETRY": "0"}
    for module, said in (
        ("gateway.detection.onnx_runtime", "loaded with 1\nswitched off\n"),
        ("training; import onnxruntime", "loaded with 1\n"),
    ):
        command = [sys.executable, "-c", f"import {module}"]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == said


def test_only_the_module_that_disables_its_telemetry_loads_onnxruntime() -> None:
    folders = ("addons", "benchmarks", "gateway", "scripts", "tests")
    files = [ROOT / "run_proxy.py", *(file for folder in folders for file in (ROOT / folder).rglob("*.py"))]
    assert [file.relative_to(ROOT).as_posix() for file in files if "onnxruntime" in imported(file)] == [
        "gateway/detection/onnx_runtime.py"
    ]


def imported(file: Path) -> set[str]:
    names: set[str] = set()
    source = file.read_bytes()
    if b"onnxruntime" not in source:
        return names
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


# Providers of spans and logs such as an operator's instrumentation sets for the whole process.
INSTRUMENTED = """
import asyncio, sys
import httpx
from opentelemetry import _logs, trace

class Tracers(trace.TracerProvider):
    def get_tracer(self, *args, **options):
        print("a tracer"); return trace.NoOpTracer()

class Loggers(_logs.LoggerProvider):
    def get_logger(self, *args, **options):
        print("a logger"); return _logs.NoOpLogger("")

trace.set_tracer_provider(Tracers())
_logs.set_logger_provider(Loggers())

from fastapi import FastAPI
from gateway.api.app import create_app
from gateway.container import Container
from gateway.config.loading import load_settings

async def ask(app, status):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway") as client:
        headers = {"authorization": "Bearer " + "k" * 40}
        answer = await client.post("/v1/protect", json={"text": 1, "anna@acme.test": 2}, headers=headers)
        assert answer.status_code == status

async def main():
    async with await Container.start(load_settings(None, detection="patterns", api_key="k" * 40)) as container:
        await ask(create_app(container), 422)

asyncio.run(main() if sys.argv[1] == "ours" else ask(FastAPI(), 404))
"""


@pytest.mark.parametrize(("app", "said"), [("ours", set()), ("any", {"a tracer", "a logger"})])
def test_the_framework_tells_no_instrumentation_of_requests(app: str, said: set[str], tmp_path: Path) -> None:
    command = [sys.executable, "-c", INSTRUMENTED, app]
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()) == said
