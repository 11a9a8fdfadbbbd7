"""The gateway as a package: what wheel and source archive hold, and the installed command far from a checkout.

It runs with the packages that pip chooses from the registry; where there is none, with those that all tests run with.
"""

import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import sysconfig
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import httpx
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gateway import __version__
from tests.certificates import write_certificate
from tests.commands import output_of
from tests.e2e.lacking import lacking
from tests.e2e.readme import steps
from tests.e2e.service import CONFIGURATION, PROGRAM, STATE, Machine, documented

ROOT = Path(__file__).resolve().parent.parent
TEXT = "My name is Anna Schmidt, write to anna.schmidt@acme.example."

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive, built from this tree without a network."""
    folder = tmp_path_factory.mktemp("built")
    build(ROOT, folder)
    return folder


def build(source: Path, folder: Path, **environment: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--target", "sdist"]
    command += ["--directory", str(folder)]
    subprocess.run(command, cwd=source, env=os.environ | environment, check=True, capture_output=True, timeout=120)


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (file,) = built.glob("*.whl")
    return file


@dataclass
class Installed:
    """The wheel in an environment of its own, as for a new user without a checkout."""

    program: Path
    home: Path
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.defpath, "LANG": "C.UTF-8", "COLUMNS": "100"}

    def run(self, *arguments: str) -> str:
        """Runs a command and returns what it prints. It has to succeed."""
        return output_of([self.program, *arguments], self.folder, self.environment)


@pytest.fixture(scope="session")
def has_registry(tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Whether pip reaches a registry of packages."""
    folder = str(tmp_path_factory.mktemp("probe"))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "h11==0.16.0"]
    return subprocess.run(command, check=False, capture_output=True, timeout=120).returncode == 0


@pytest.fixture
def registry(has_registry: bool) -> None:
    """Skips a test where no registry of packages can be reached."""
    if not has_registry:
        lacking("pip reaches no registry of packages")


def new_environment(folder: Path, *options: str) -> Path:
    """Makes a virtual environment and returns its folder of programs."""
    subprocess.run([sys.executable, "-m", "venv", *options, folder / "env"], check=True, timeout=120)
    for name in ("home", "elsewhere"):
        (folder / name).mkdir()
    return folder / "env" / "bin"


def packages_of(programs: Path) -> dict[str, str]:
    """Returns the versions of the packages in an environment."""
    command = [str(programs / "python"), "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    return {canonicalize_name(each["name"]): each["version"] for each in json.loads(listed)}


def locked_packages() -> dict[str, str]:
    """Returns the versions of the packages in the lock that this machine needs."""
    lines = (ROOT / "requirements" / "runtime.txt").read_text().splitlines()
    wanted = [Requirement(line.rstrip(" \\")) for line in lines if re.match(r"\w", line)]
    return {
        canonicalize_name(each.name): next(iter(each.specifier)).version
        for each in wanted
        if each.marker is None or each.marker.evaluate()
    }


@pytest.fixture(scope="module")
def installed(wheel: Path, has_registry: bool, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    if has_registry:
        programs = new_environment(folder)
        pip = [
            str(programs / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-compile",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, wheel], check=True, timeout=600)
    else:
        programs = new_environment(folder, "--without-pip")
        pip = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--quiet", "--no-index"]
        subprocess.run([*pip, "--no-deps", wheel], check=True, timeout=120)
        # The dependencies are those of the environment that runs the tests; the gateway itself is not among them.
        paths = {"base": str(folder / "env"), "platbase": str(folder / "env")}
        libraries = Path(sysconfig.get_path("purelib", "venv", vars=paths))
        added = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
        (libraries / "dependencies.pth").write_text(added)
    return Installed(programs / "privacy-gateway", folder / "home", folder / "elsewhere")


@dataclass
class Serving:
    """`privacy-gateway serve`, under way."""

    url: str
    key: str
    told: str


@pytest.fixture(scope="module")
def serving(installed: Installed) -> Iterator[Serving]:
    log = installed.folder.parent / "serve.log"
    ports = ["--gateway-port", "0", "--proxy-port", "0"]
    with log.open("w") as output:
        process = subprocess.Popen(
            [installed.program, "serve", "--no-web", *ports],
            cwd=installed.folder,
            env=installed.environment,
            stdout=output,
            stderr=output,
            text=True,
        )
    try:
        deadline = time.monotonic() + 90
        while "Stop with Ctrl-C." not in log.read_text() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.1)
        told = log.read_text()
        url, file = re.search(r"listens on (\S+)", told), re.search(r"KEY=\$\(cat (\S+)\)", told)
        assert url, told
        assert file, told
        yield Serving(url[1], Path(file[1]).read_text().strip(), told)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        finally:
            process.kill()


def test_the_wheel_holds_the_product_and_nothing_else(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    info = f"privacy_gateway-{__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"addons", "gateway", "run_proxy.py", info}
    modules = {str(file.relative_to(ROOT)) for place in ("addons", "gateway") for file in (ROOT / place).rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == modules | {"run_proxy.py"}
    policies = {f"gateway/policies/{file.name}" for file in (ROOT / "policies").glob("*.toml")}
    assert policies <= set(names)
    data = {
        str(file.relative_to(ROOT)) for kind in ("sql", "toml", "html") for file in ROOT.glob(f"gateway/**/*.{kind}")
    }
    assert data <= set(names)
    assert ZipFile(wheel).read(f"{info}/sboms/sbom.cdx.json") == (ROOT / "requirements/sbom.cdx.json").read_bytes()
    playground = ROOT / "gateway" / "api" / "playground"
    files = {str(file.relative_to(ROOT)) for file in playground.rglob("*") if file.is_file()}
    assert {name for name in files if "__pycache__" not in name} <= set(names)
    assert {Path(name).name for name in names if "/model/" in name} >= {
        *("model.onnx", "student.onnx", "tokenizer.json", "labels.json")
    }
    suffixes = {Path(name).suffix for name in names if not name.startswith(info)}
    assert suffixes <= set(".py .toml .md .json .onnx .txt .sql .html .css .js .mjs .wasm .whl .zip".split())


def test_the_source_archive_holds_what_the_wheel_is_made_from(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    tops = {name.split("/")[0] for name in names}
    assert {"addons", "gateway", "policies", "run_proxy.py", "pyproject.toml", "LICENSE"} <= tops
    assert tops.isdisjoint({"data", "tests", "training", "benchmarks", ".venv", "svc.toml"})
    assert {name for name in names if name.startswith("certs/")} == {"certs/README.md"}


def test_a_wheel_can_be_built_from_the_source_archive(built: Path, wheel: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as content:
        content.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=120)
    (again,) = tmp_path.glob("*.whl")
    assert again.read_bytes() == wheel.read_bytes()


def test_the_same_source_gives_the_same_bytes_wherever_and_whenever_it_is_built(tmp_path: Path) -> None:
    kept = (
        "addons gateway policies certs/README.md requirements run_proxy.py pyproject.toml .gitignore README.md LICENSE"
    )
    built: list[dict[str, bytes]] = []
    for number, mask in enumerate((0o022, 0o077)):
        source, out = tmp_path / ("place", "another place")[number], tmp_path / f"out{number}"
        # Written in another order, with other modes and times.
        for each in sorted([*kept.split(), "CHANGELOG.md", "SECURITY.md"], reverse=bool(number)):
            (source / each).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / each).is_dir():
                shutil.copytree(ROOT / each, source / each, copy_function=shutil.copyfile)
            else:
                shutil.copyfile(ROOT / each, source / each)
        for file in source.rglob("*"):
            file.chmod((0o777 if file.is_dir() else 0o666) & ~mask)
            os.utime(file, (1_700_000_000 + number,) * 2)
        build(source, out, SOURCE_DATE_EPOCH="1790000000", TZ=("UTC", "Asia/Tokyo")[number])
        built.append({file.name: file.read_bytes() for file in out.iterdir()})
    assert len(built[0]) == 2
    assert built[0] == built[1]
    (wheel,) = (tmp_path / "out0").glob("*.whl")
    assert {entry.date_time[:3] for entry in ZipFile(wheel).infolist()} == {(2026, 9, 21)}


def test_pip_chooses_no_client_of_a_hub_and_the_tested_mitmproxy(registry: None, installed: Installed) -> None:
    chosen, locked = packages_of(installed.program.parent), locked_packages()
    assert {"huggingface-hub", "hf-xet", "tokenizers"}.isdisjoint(chosen)
    # Their internals are used.
    assert (chosen["mitmproxy"], chosen["h11"]) == (locked["mitmproxy"], locked["h11"])


def test_the_documented_command_installs_the_locked_packages(registry: None, tmp_path: Path) -> None:
    (command,) = [step.command for step in steps(ROOT / "README.md") if "--require-hashes" in step.command]
    programs = new_environment(tmp_path)
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "PIP_QUIET": "1", "PIP_COMPILE": "0"}
    subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment, check=True, timeout=600)
    assert packages_of(programs) == locked_packages() | {"privacy-gateway": __version__}
    told = subprocess.run([programs / "privacy-gateway", "--version"], check=True, capture_output=True, text=True)
    assert told.stdout == f"privacy-gateway {__version__}\n"


def test_it_says_its_name_and_version(installed: Installed, wheel: Path) -> None:
    assert installed.run("--version") == f"privacy-gateway {__version__}\n"
    assert installed.run("--help").startswith("usage: privacy-gateway ")
    metadata = ZipFile(wheel).read(f"privacy_gateway-{__version__}.dist-info/METADATA").decode()
    assert f"\nVersion: {__version__}\n" in metadata


def test_the_first_protected_answer(installed: Installed, serving: Serving) -> None:
    headers = {"authorization": f"Bearer {serving.key}"}
    with httpx.Client(base_url=serving.url, headers=headers, timeout=60, trust_env=False) as client:
        messages = [{"role": "user", "content": TEXT}]
        answer = client.post("/v1/chat/completions", json={"model": "svc-demo", "messages": messages}).json()
        protected = client.post("/v1/protect", json={"text": TEXT}).json()
    assert "Anna Schmidt" in answer["choices"][0]["message"]["content"]
    assert answer["svc"]["receipt"]["entity_counts"] == {"EMAIL_ADDRESS": 1, "PERSON": 1}
    assert re.fullmatch(r"My name is \[PERSON_\w+\], write to \[EMAIL_ADDRESS_\w+\]\.", protected["protected_text"])
    verified = json.loads(installed.run("receipts", "verify", "--json"))
    assert verified["valid"] is True
    assert verified["log"]["size"] >= 2


def test_the_playground_is_written_and_served(installed: Installed, serving: Serving, tmp_path: Path) -> None:
    installed.run("playground", "--output", str(tmp_path))
    with httpx.Client(base_url=f"{serving.url}/playground/", timeout=60, trust_env=False) as client:
        for file in tmp_path.iterdir():
            assert client.get(file.name).content == file.read_bytes()


def test_it_keeps_its_files_in_the_data_folder_of_the_user(installed: Installed, serving: Serving) -> None:
    (database,) = installed.home.rglob("gateway.db")
    own = database.parent.parent
    assert own.name == "privacy-gateway"
    assert database.parent.stat().st_mode & 0o077 == 0
    authority = json.loads(installed.run("ca", "--json"))
    assert Path(authority["certificate"]) == (own / "certs" / "mitmproxy-ca-cert.pem").resolve()
    assert list(installed.folder.iterdir()) == [], "nothing is left in the folder it was started from"


def test_its_hints_name_what_there_is(installed: Installed, serving: Serving) -> None:
    guide = installed.run("ca").splitlines()[-1].partition(": ")[2]
    assert Path(guide).read_text(encoding="utf-8") == (ROOT / "certs" / "README.md").read_text(encoding="utf-8")
    assert "how to trust it: privacy-gateway ca" in serving.told
    assert "run_proxy" not in serving.told


def test_policies_are_those_of_the_wheel(installed: Installed) -> None:
    listed = json.loads(installed.run("policies", "list", "--json"))
    assert {each["id"] for each in listed} == {file.stem for file in (ROOT / "policies").glob("*.toml")}


def test_a_labelled_line_is_evaluated_with_the_model(installed: Installed, tmp_path: Path) -> None:
    labelled = tmp_path / "labelled.jsonl"
    spans = [{"start": 11, "end": 23, "label": "PERSON"}, {"start": 34, "end": 59, "label": "EMAIL_ADDRESS"}]
    labelled.write_text(json.dumps({"text": TEXT, "spans": spans}) + "\n")
    assert "2 of 2 private spans wholly hidden" in installed.run("evaluate", str(labelled), "--detection", "full")


TLS = (f'tls_certificate = "{CONFIGURATION}/tls/listener.pem"', f'tls_key = "{CONFIGURATION}/tls/listener.key"')


def client_of(machine: Machine, key: str) -> httpx.Client:
    trust = ssl.create_default_context(cafile=machine.path(f"{CONFIGURATION}/tls/listener.pem"))
    headers = {"authorization": f"Bearer {key}"}
    return httpx.Client(
        base_url=f"https://127.0.0.1:{machine.port}", headers=headers, verify=trust, timeout=60, trust_env=False
    )


def test_a_service_is_reloaded_backed_up_and_restored_on_another_machine(installed: Installed, tmp_path: Path) -> None:
    one, other = (Machine(installed.program, tmp_path / name, tmp_path / "backups") for name in ("one", "other"))
    for machine in (one, other):
        write_certificate(machine.path(f"{CONFIGURATION}/tls"))
        machine.configure(*TLS)
    with one.started() as service:
        key = one.run(f"sudo cat {STATE}/data/operator.key").strip()
        with client_of(one, key) as client:
            first = client.post("/v1/protect", json={"text": TEXT, "session_ttl_seconds": 7200}).json()
            assert first["policy"]["id"] == "default"
            one.configure(*TLS, 'default_policy = "strict"', 'log_level = "debug"', "workers = 3")
            write_certificate(one.path(f"{CONFIGURATION}/tls"))
            service.reload()
            assert "changed settings: default_policy, log_level; the certificate expires on " in service.journal
            assert "needs a restart: workers\n" in service.journal
            # On the connection with the old certificate.
            body = {"model": "svc-demo", "messages": [{"role": "user", "content": TEXT}]}
            chat = client.post("/v1/chat/completions", json=body).json()
        assert "Anna Schmidt" in chat["choices"][0]["message"]["content"]
        assert chat["svc"]["policy"]["id"] == "strict"
        (backup,) = documented(after=f"{PROGRAM} backup", before=f"{PROGRAM} backup")
        assert "The receipt log (3 records) verifies." in one.run(backup)
        with client_of(one, key) as client:
            later = client.post("/v1/protect", json={"text": TEXT}).json()
        begin = later["request_id"].removeprefix("req_")[:8]
        assert begin in service.follow("tail --lines 1", begin)
        assert one.command("healthcheck") == "healthy\n"
        assert "No problems" in one.command("doctor")
        assert one.command("usage").startswith("3 operations\n")

        *restore, start, verify = documented(after="sudo install --directory", before="receipts verify --config")
        assert start == "sudo systemctl start privacy-gateway"
        told = [other.run(command) for command in restore]
        assert any("Its receipt log (3 records) verifies." in each for each in told)
        with other.started() as moved:
            session = {name: first["session"][name] for name in ("session_id", "session_token")}
            sealed: dict[str, Any] = {"text": first["protected_text"], "session": session}
            with client_of(other, key) as client:
                assert client.post("/v1/reconstruct", json=sealed).json()["text"] == TEXT
                assert client.get(f"/v1/receipts/{chat['svc']['request_id']}/verify").json()["valid"] is True
                assert client.get(f"/v1/receipts/{later['request_id']}").status_code == 404
            for machine in (one, other):
                assert machine.run(verify).endswith("Valid: 4 records, none altered or missing.\n")
        assert [part for part in ("anna.schmidt@", key) if part in service.journal + moved.journal] == []
        assert f"`privacy-gateway keys create LABEL --data-dir {one.path(STATE)}/data` makes another" in service.journal
        public, proof = tmp_path / "key.pem", tmp_path / "proof.json"
        public.write_text(one.command("receipts key"))
        proof.write_text(other.command(f"receipts prove {first['request_id']}"))
        assert "Valid" in installed.run("receipts", "verify", str(proof), "--key", str(public))
    written = [file for machine in (one, other) for file in machine.path(STATE).rglob("*")]
    assert [file for file in written if file.stat().st_mode & 0o077] == []
