"""The image without a daemon: its file is linted and read, its steps are run, and its program runs as it would there.

The steps run with this machine's Python in place of the base image's, in a folder in place of the root. As root, the
program then gets what compose.yaml gives it: another account, no capabilities, and a root that nothing can write to.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import httpx
import pytest
from ruamel.yaml import YAML

from addons.preflight import _unaccepted_risks
from gateway.config.loading import load_settings
from tests.e2e.lacking import lacking
from tests.e2e.server import free_port
from tests.e2e.service import documented
from tests.test_package import has_registry, registry

__all__ = ["has_registry", "registry"]

ROOT = Path(__file__).resolve().parent.parent
STATE = "/var/lib/privacy-gateway"
# Folders of the image that the steps write to.
MAPPED = ("/opt/privacy-gateway", STATE, "/build", "/dist", "/src")
USER = 10001


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, each on one line."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(line.split()[0], line.partition(" ")[2]) for line in lines if line]


def values(keyword: str) -> list[str]:
    return [rest for name, rest in instructions() if name == keyword]


def environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for rest in values("ENV") for pair in shlex.split(rest))


def copied() -> list[list[str]]:
    """The words of each COPY from the context: sources, and the destination last."""
    return [rest.split() for rest in values("COPY") if not rest.startswith("--from")]


@pytest.fixture(scope="module")
def compose() -> Any:
    return YAML(typ="safe", pure=True).load((ROOT / "compose.yaml").read_text())


def test_hadolint_finds_nothing() -> None:
    program = shutil.which("hadolint", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    command = [program or lacking("hadolint is not installed"), str(ROOT / "Dockerfile")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_base_is_the_python_of_the_project() -> None:
    version = (ROOT / ".python-version").read_text().strip()
    assert {rest.split()[0] for rest in values("FROM")} == {f"python:{version}-slim"}


def test_the_build_gets_what_it_copies_and_no_secret() -> None:
    def ignored(path: str) -> bool:
        """As Docker reads it: the last pattern that fits the path or a folder above it decides."""
        parts = [*Path(path).parents, Path(path)]
        result = False
        for line in (ROOT / ".dockerignore").read_text().splitlines():
            pattern = line.removeprefix("!").removeprefix("**/")
            names = [each.name for each in parts] if "**/" in line else map(str, parts)
            if line and line[0] != "#" and any(fnmatch(each, pattern) for each in names if each not in {"", "."}):
                result = not line.startswith("!")
        return result

    sources = [source for *each, _ in copied() for source in each]
    assert [source for source in sources if ignored(source) or not (ROOT / source).exists()] == []
    assert not ignored("gateway/api/app.py")
    kept_out = "data/gateway.db certs/mitmproxy-ca.pem secrets/upstream_key svc.toml .git/config .venv/bin/pip"
    kept_out += " gateway/__pycache__/errors.cpython-313.pyc requirements/dev.txt tests/conftest.py"
    assert [path for path in kept_out.split() if not ignored(path)] == []


def test_the_program_is_not_root_and_has_one_folder_to_write_to() -> None:
    assert values("USER") == [f"{USER}:{USER}"]
    assert values("VOLUME") == [STATE]
    variables = environment()
    assert {Path(variables[name]).parent for name in ("SVC_DATA_DIR", "SVC_CERTS_DIR")} == {Path(STATE)}
    assert variables["HOME"] == STATE
    assert values("STOPSIGNAL") == ["SIGTERM"]
    assert json.loads(values("HEALTHCHECK")[0].partition("CMD ")[2]) == ["privacy-gateway", "healthcheck"]


def test_compose_locks_it_in_and_publishes_on_loopback_only(compose: Any) -> None:
    service = compose["services"]["gateway"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert [each.partition(":")[0] for each in service["tmpfs"]] == ["/tmp"]
    assert [each.partition(":")[2] for each in service["volumes"]] == [STATE]
    assert [each.rpartition(":")[0].rpartition(":")[0] for each in service["ports"]] == ["127.0.0.1"] * 2
    assert [each.rpartition(":")[2] for each in service["ports"]] == values("EXPOSE")[0].split()
    assert {each.partition(":")[0] for each in service["volumes"]} == set(compose["volumes"])
    assert set(service["secrets"]) == set(compose["secrets"])


def test_its_settings_are_accepted_and_its_secret_is_a_file(
    compose: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, secret = compose["services"]["gateway"], tmp_path / "upstream_key"
    secret.write_text("a-key-of-a-provider\n")
    given = environment() | service["environment"]
    assert given["SVC_UPSTREAM_KEY"] == f"file:/run/secrets/{service['secrets'][0]}"
    for name, value in given.items():
        if name.startswith("SVC_"):
            monkeypatch.setenv(name, value.replace("/run/secrets", str(tmp_path)))
    settings = load_settings()
    settings.check_upstreams()
    assert list(_unaccepted_risks(settings, [])) == []
    assert settings.upstream_key is not None
    assert settings.upstream_key.get_secret_value() == "a-key-of-a-provider"
    assert float(service["stop_grace_period"].removesuffix("s")) >= settings.shutdown_seconds + 15


@dataclass
class Image:
    """The result of the steps of the Dockerfile, below `root`."""

    root: Path
    variables: dict[str, str] = field(default_factory=dict)

    def mapped(self, text: str) -> str:
        return re.sub(rf"(?<![\w/])({'|'.join(MAPPED)})\b", rf"{self.root}\1", text)

    def build(self) -> None:
        work = self.root
        for keyword, rest in instructions():
            if keyword == "WORKDIR":
                work = Path(self.mapped(rest))
                work.mkdir(parents=True)
            elif keyword == "COPY" and not rest.startswith("--from"):
                *sources, target = rest.split()
                for source in sources:
                    self._copy(ROOT / source, work / target / ("" if (ROOT / source).is_dir() else Path(source).name))
            elif keyword == "RUN":
                command = rest if os.geteuid() == 0 else re.sub(r"--(owner|group) \d+ ", "", rest)
                command = self.mapped(command)
                (self.root / STATE[1:]).parent.mkdir(parents=True, exist_ok=True)
                path = f"{self.root / 'python'}:{os.environ['PATH']}"
                variables = os.environ | {"PATH": path, "PIP_QUIET": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
                subprocess.run(["sh", "-c", command], cwd=work, env=variables, check=True, timeout=600)

    @staticmethod
    def _copy(source: Path, target: Path) -> None:
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)

    def command(self, *words: str) -> list[str]:
        """A command in the image, contained as far as this account may."""
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            return [*words]
        drop = f"setpriv --reuid {USER} --regid {USER} --clear-groups --bounding-set=-all --inh-caps=-all"
        script = f"""set -e
            mount --make-rprivate /
            mount --bind {self.root} {self.root}
            mkdir -p {self.root}/base; mount --bind {sys.base_prefix} {self.root}/base
            {self._open_the_way()}
            mount --bind {self.root}/base {sys.base_prefix}
            for each in $(findmnt --noheadings --raw --output TARGET | grep -Ev '^/(proc|sys|dev)(/|$)'); do
                mount --options remount,bind,ro "$each"
            done
            for each in {self.root}{STATE} {self.root}/tmp; do
                mount --bind "$each" "$each"; mount --options remount,bind,rw "$each"
            done
            for each in / {self.root}/opt/privacy-gateway {tempfile.gettempdir()}; do
                if touch "$each/x" 2>/dev/null; then echo "$each is not read-only"; exit 99; fi
            done
            exec {drop} --no-new-privs "$@" """
        return ["unshare", "--mount", "sh", "-c", script, "sh", *words]

    @staticmethod
    def _open_the_way() -> str:
        """Covers the first folder on the way to this machine's Python that other accounts may not enter."""
        for folder in reversed(Path(sys.base_prefix).parents):
            if not folder.stat().st_mode & 0o001:
                return f"mount -t tmpfs -o mode=755 tmpfs {folder}; mkdir -p {sys.base_prefix}"
        return ""

    def environment(self, **settings: str) -> dict[str, str]:
        found = {name: self.mapped(value) for name, value in environment().items()}
        found["PATH"] = found["PATH"].replace("$PATH", os.defpath)
        return found | {"TMPDIR": f"{self.root}/tmp", "LANG": "C.UTF-8"} | settings

    @contextmanager
    def running(self, log: Path, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
        words = [*json.loads(values("ENTRYPOINT")[0]), *json.loads(values("CMD")[0])]
        with log.open("wb") as output:
            process = subprocess.Popen(
                self.command(*words), env=self.environment(**settings), cwd="/", stdout=output, stderr=output
            )
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def run(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            env=self.environment(**settings),
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


@pytest.fixture(scope="module")
def image(has_registry: bool) -> Iterator[Image]:
    if not has_registry:
        lacking("pip reaches no registry of packages")
    # Not below a folder of pytest, which other accounts may not enter.
    root = Path(tempfile.mkdtemp(prefix="image-of-tests-"))
    try:
        root.chmod(0o755)
        for folder in ("python", "tmp"):
            (root / folder).mkdir()
        (root / "tmp").chmod(0o1777)
        (root / "python" / "python").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
        made = Image(root)
        made.build()
        yield made
    finally:
        shutil.rmtree(root)


TEXT = "My name is Anna Schmidt."


def wait_for_line(line: str, log: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while line not in log.read_text() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.1)
    assert line in log.read_text(), log.read_text()


def client_of(image: Image, port: str) -> httpx.Client:
    key = Path(image.mapped(STATE), "data", "operator.key").read_text().strip()
    headers = {"authorization": f"Bearer {key}"}
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, trust_env=False, timeout=60)


def words_of(command: str) -> list[str]:
    """The words that a documented command of compose runs in the image."""
    ran = command.partition(" gateway ")[2].split()
    return ran if " exec " in command else [*json.loads(values("ENTRYPOINT")[0]), *ran]


@pytest.mark.slow
def test_without_an_accepted_risk_the_image_does_not_start(image: Image) -> None:
    done = image.run("privacy-gateway", "serve")
    assert done.returncode == 2
    assert "add `plain_http` to the setting `accept_risks`" in done.stderr


@pytest.mark.slow
def test_it_serves_and_stops_with_nothing_to_write_to_but_its_volume(image: Image, tmp_path: Path) -> None:
    port, log = str(free_port()), tmp_path / "log"
    settings = {"SVC_GATEWAY_PORT": port, "SVC_PROXY_PORT": str(free_port())}
    settings["SVC_ACCEPT_RISKS"] = "plain_http,public_demo"
    health = json.loads(values("HEALTHCHECK")[0].partition("CMD ")[2])
    with image.running(log, **settings) as process:
        wait_for_line("Stop with Ctrl-C.", log, process)
        assert image.run(*health, **settings).stdout == "healthy\n"
        state = Path(image.mapped(STATE))
        with client_of(image, port) as client:
            answer = client.post("/v1/protect", json={"text": TEXT})
        assert "[PERSON_" in answer.json()["protected_text"]
        if os.geteuid() == 0:
            assert f"Uid:\t{USER}" in Path(f"/proc/{process.pid}/status").read_text()
            assert (state / "data" / "gateway.db").stat().st_uid == USER
        process.send_signal(signal.Signals[values("STOPSIGNAL")[0]])
        assert process.wait(60) == 0
    assert image.run(*health, **settings).returncode == 1
    assert {file.name for file in state.iterdir()} == {"data", "certs"}
    assert "Traceback" not in log.read_text()


@pytest.mark.slow
def test_it_is_reloaded_backed_up_and_restored_into_another_volume(image: Image, tmp_path: Path) -> None:
    backup, copy, remove = documented(after="docker compose exec gateway privacy-gateway backup", before=" rm /")
    own, restore, _, verify = documented(after="sudo chown 10001 ~/gateway.tar", before="receipts verify")
    port, state, file = str(free_port()), Path(image.mapped(STATE)), image.root / "tmp" / "svc.toml"
    file.write_text('default_policy = "default"\n')
    settings = {"SVC_GATEWAY_PORT": port, "SVC_PROXY_PORT": str(free_port()), "SVC_CONFIG": str(file)}
    settings["SVC_ACCEPT_RISKS"] = "plain_http,public_demo"
    log = tmp_path / "log"
    with image.running(log, **settings) as process:
        wait_for_line("Stop with Ctrl-C.", log, process)
        with client_of(image, port) as client:
            made = client.post("/v1/protect", json={"text": TEXT}).json()
            file.write_text('default_policy = "strict"\n')
            process.send_signal(signal.SIGHUP)
            wait_for_line("changed settings: default_policy\n", log, process)
            assert client.post("/v1/protect", json={"text": TEXT}).json()["policy"]["id"] == "strict"
            # Other tests may have used the volume before.
            written = client.get("/v1/receipts").json()["total"]
        assert written >= 2
        assert image.run(*map(image.mapped, words_of(backup)), **settings).returncode == 0
        process.terminate()
        assert process.wait(60) == 0
    # Docker mounts the file, and another volume, where the image looks for them.
    assert copy.endswith("~/gateway.tar")
    assert own.endswith("~/gateway.tar")
    moved = {"SVC_DATA_DIR": f"{state}/other/data", "SVC_CERTS_DIR": f"{state}/other/certs"}
    words = [word.replace("/gateway.tar", f"{state}/gateway.tar") for word in words_of(restore)]
    done = image.run(*words, **settings | moved)
    assert f"({written} records) verifies" in done.stdout, done.stderr
    assert image.run(*map(image.mapped, words_of(remove)), **settings).returncode == 0
    with image.running(log, **settings | moved) as process:
        wait_for_line(f"{state}/other/certs", log, process)
        session = {name: made["session"][name] for name in ("session_id", "session_token")}
        with client_of(image, port) as client:
            body = {"text": made["protected_text"], "session": session}
            assert client.post("/v1/reconstruct", json=body).json()["text"] == TEXT
        assert "Valid: 4 records" in image.run(*words_of(verify), **settings | moved).stdout
        process.terminate()
        assert process.wait(60) == 0
    assert {each.name for each in state.iterdir()} == {"data", "certs", "other"}
    shutil.rmtree(state / "other")
    assert "Traceback" not in log.read_text()
