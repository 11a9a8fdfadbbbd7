"""A newcomer clones the repository and copies every command out of the README; each does what the README says.

Ports, keys and the provider's address are the only things that are changed on the way. A command that is added to the
README is run here, unless NOT_RUN lists it with a reason.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import trustme

from tests.commands import output_of
from tests.e2e.lacking import lacking
from tests.e2e.readme import Block, Step, blocks, differs, steps
from tests.e2e.server import PLAIN, ROOT, free_port
from tests.e2e.upstream import Recorded, Reply, Upstream, completion

PRIVATE = ("Anna", "Schmidt", "acme.example")
PROVIDER_KEY = "the-provider-key-of-a-newcomer"
# Commands that are not run here, and why.
NOT_RUN = {
    "make test": "these are the tests",
    "make check": "runs a part of these tests",
    "make lint": "takes minutes, and is run next to the tests in continuous integration",
    "make bench": "takes minutes; tests/test_benchmarks.py runs it in short",
    "pip install --require-hashes --no-deps -r requirements/runtime.txt && pip install --no-deps .": "downloads;"
    " tests/test_package.py runs it",
    "pip install .": "downloads; tests/test_package.py installs the wheel",
    "uv tool install . --constraints requirements/runtime.txt": "downloads",
    "uvx --from . privacy-gateway serve": "downloads",
}
# Commands that print nothing, or that print something different on each machine.
SAYS_NOTHING_FIXED = re.compile(
    r"^KEY=|echo |make (run|setup-runtime)|\S+ run_proxy\.py (--help|keys|ca|env|policies list|receipts export)"
)
README = ROOT / "README.md"


def bare(command: str) -> str:
    """Returns a command without the comment after it."""
    return re.sub(r"\s+# .*", "", command).strip()


@dataclass
class Newcomer:
    """A terminal in a fresh clone, and the gateway that runs in another."""

    clone: Path
    ports: Mapping[str, int]
    provider: Upstream
    secure_provider: Upstream
    environment: dict[str, str]
    key: str = ""
    server: subprocess.Popen[bytes] | None = None

    def command(self, command: str) -> str:
        """The command with this machine's ports, keys and provider."""
        for written, port in self.ports.items():
            command = command.replace(f"127.0.0.1:{written}", f"127.0.0.1:{port}")
        command = command.replace("the-key-that-make-run-printed", self.key)
        command = command.replace("your-provider-key", PROVIDER_KEY)
        command = command.replace("https://api.openai.com/v1", f"{self.provider.url}/v1")
        own = " ".join(
            f"--{name}-port {port}" for name, port in zip(("gateway", "proxy", "web"), self.ports.values(), strict=True)
        )
        command = re.sub(r"make run ARGS=\"", f'make run ARGS="{own} ', command)
        command = re.sub(r"make run$", f'make run ARGS="{own}"', command)
        return command.replace("--no-web", f"--no-web {own}")

    def run(self, command: str) -> str:
        """Runs a command, which has to succeed, and returns its output."""
        if assigned := re.fullmatch(r"KEY=(\S+)", command):
            self.environment["KEY"] = assigned[1]
            return ""
        return output_of(["sh", "-c", command], self.clone, self.environment)

    def serve(self, command: str) -> str:
        """Starts a gateway in place of the one that ran before, and waits until it says how to stop it."""
        self.stop()
        log = self.clone.parent / f"gateway-{time.monotonic_ns()}.log"
        with log.open("wb") as output:
            self.server = subprocess.Popen(
                ["sh", "-c", command],
                cwd=self.clone,
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline and self.server.poll() is None:
            if "Stop with Ctrl-C." in (told := log.read_text()):
                return told
            time.sleep(0.1)
        raise AssertionError(f"{command}\n{log.read_text()}")

    def stop(self) -> None:
        """Ctrl-C: what a terminal sends to all that runs in it."""
        if self.server is not None:
            os.killpg(self.server.pid, signal.SIGINT)
            try:
                self.server.wait(30)
            finally:
                if self.server.poll() is None:
                    os.killpg(self.server.pid, signal.SIGKILL)
            self.server = None


def greeting(request: Recorded) -> Reply:
    """A provider greets whomever it was told of."""
    person = re.search(r"\[PERSON_\w+\]", request.body.decode())
    return completion({"role": "assistant", "content": f"Good morning, {person[0] if person else 'nobody'}!"})


def cloned(folder: Path) -> Path:
    """A clone with what is not committed yet laid over it, and with the environment that is here already."""
    for tool in ("git", "make", "curl", "sh"):
        if shutil.which(tool) is None:
            lacking(f"{tool} is not installed")
    if not (ROOT / ".git").exists():
        lacking("this is no checkout of git")
    clone = folder / "privacy-gateway"
    subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(clone)], check=True, timeout=120)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--modified", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=60,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    _with_compiled_files(clone)
    (clone / ".venv").symlink_to(ROOT / ".venv")
    check = [str(clone / ".venv/bin/python"), "-I", str(clone / "scripts/install.py"), "--check", "dev"]
    if not (ROOT / ".venv/bin/python").exists() or subprocess.run(check, check=False, timeout=60).returncode:
        lacking("the packages in .venv are not those of the lock: run `make setup`; a clone would download them")
    return clone


def _with_compiled_files(clone: Path) -> None:
    """Adds what Python has compiled here, which is valid for a file of the same time: compiling takes seconds."""
    for compiled in (folder for place in ("addons", "gateway") for folder in (ROOT / place).rglob("__pycache__")):
        package = compiled.relative_to(ROOT).parent
        for file in (clone / package).glob("*.py"):
            shutil.copystat(ROOT / package / file.name, file)
        if (clone / package).is_dir():
            shutil.copytree(compiled, clone / package / "__pycache__")


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    folder = tmp_path_factory.mktemp("newcomer")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "provider.pem")
    clone = cloned(folder)
    foreign = re.compile(r"SVC_|OPENAI_|MAKE|MFLAGS|VIRTUAL_ENV|PYTHON|SSL_CERT|.*_proxy$", re.IGNORECASE)
    environment = {name: value for name, value in os.environ.items() if not foreign.match(name)}
    ports = {written: free_port() for written in ("8000", "8080", "8081")}
    with Upstream().running() as provider, Upstream(authority).running() as secure:
        provider.answer = secure.answer = greeting
        # A stand-in for the provider, which is on the internet: whom the proxy looks into, and whom a program asks.
        environment |= {
            "SVC_INTERCEPT_ALSO": f"localhost:{secure.port}",
            "SVC_UPSTREAM_CA": str(folder / "provider.pem"),
            "OPENAI_BASE_URL": f"https://localhost:{secure.port}/v1",
            "COLUMNS": "80",
        }
        person = Newcomer(clone, ports, provider, secure, environment)
        yield person
        person.stop()


def saved_programs(newcomer: Newcomer) -> None:
    """Saves the programs that the README has the reader save."""
    text = README.read_text(encoding="utf-8")
    for name, program in re.findall(r"saved as `([^`]+)`:\n\n```python\n(.*?)```", text, re.DOTALL):
        (newcomer.clone / name).write_text(program)


def test_every_command_of_the_readme_does_what_it_says(newcomer: Newcomer) -> None:
    wrong, ran = [], []
    for step in steps(README):
        written = bare(step.command)
        if written in NOT_RUN:
            continue
        command = newcomer.command(written)
        if "make run" in written or "run_proxy.py serve" in written:
            told = newcomer.serve(command)
            if file := re.search(r"KEY=\$\(cat (\S+)\)", told):
                newcomer.key = Path(file[1]).read_text().strip()
            saved_programs(newcomer)
        else:
            told = newcomer.run(command)
            if step.expected is not None and (difference := differs(step.expected, told)):
                wrong.append(f"{written}\nREADME says {difference}\nit printed {told}")
        ran.append(written)
    assert wrong == [], "\n\n".join(wrong)
    assert len(ran) + len(NOT_RUN) == len(steps(README))


def test_the_provider_saw_placeholders_only(newcomer: Newcomer) -> None:
    for provider in (newcomer.provider, newcomer.secure_provider):
        assert [each.path for each in provider.recorded] == ["/v1/chat/completions"]
        (request,) = provider.recorded
        assert [word for word in PRIVATE if word in request.body.decode()] == []
        assert request.json["model"] == "gpt-4o-mini"
        assert request.header("authorization") == f"Bearer {PROVIDER_KEY}"


def test_the_addresses_of_the_readme_answer(newcomer: Newcomer) -> None:
    """Asks the last gateway that was started, which is in production, so without mitmweb."""
    addresses = re.findall(r"<(http://127\.0\.0\.1[^>]+)>", README.read_text(encoding="utf-8"))
    answers = {
        each: httpx.get(newcomer.command(each), timeout=30, trust_env=False, verify=PLAIN).status_code
        for each in addresses
    }
    assert answers == dict.fromkeys((f"http://127.0.0.1:8000/{path}" for path in ("", "playground/", "docs")), 200)


def test_every_command_of_the_readme_is_read() -> None:
    assert {block.language for block in blocks(README)} <= {"sh", "json", "python", ""}
    assert set(NOT_RUN) <= {bare(step.command) for step in steps(README)}, "a reason for what is not there any more"
    unsaid = [bare(step.command) for step in steps(README) if step.expected is None]
    assert [each for each in unsaid if each not in NOT_RUN and not SAYS_NOTHING_FIXED.search(each)] == []


@pytest.mark.parametrize(
    ("language", "says", "printed", "same"),
    [
        ("", "a … c\n", "a  b c\n", True),
        ("", "a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("", "a\n", "a\nb\n", False),
        ("", "b\n", "a\nb\n", False),
        ("", "a\nb\n", "a\n", False),
        ("json", '{"a": "x…", "…": "…"}', '{"a": "xyz", "b": 1}', True),
        ("json", '{"a": "x…"}', '{"a": "xyz", "b": 1}', False),
        ("json", '{"a": [{"b": 1}]}', '{"a": [{"b": 2}]}', False),
        ("json", '{"a": "x", "…": "…"}', '{"b": "x"}', False),
        ("json", "[1]", "[1, 2]", False),
    ],
)
def test_what_the_readme_says_is_compared_strictly(language: str, says: str, printed: str, *, same: bool) -> None:
    assert (differs(Block(language, says), printed) is None) is same


def test_a_command_is_copied_whole(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\ncurl -s \\\n  -d x\n# a comment\nls   # this too\n```\n\n```\nprinted\n```\n")
    assert steps(page) == [Step("curl -s -d x", None), Step("ls   # this too", Block("", "printed\n"))]
