"""The set-up scripts in a checkout of their own, with stand-ins for interpreters and for packages."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
# Says that it fits, and instead of installing, which one it is and what for.
FITTING = 'case "$*" in *-c*) exit 0;; *install.py*) echo "chosen $0 $3";; esac'
OLD = 'echo "is Python 3.9"; exit 1'
INCOMPLETE = 'echo "is Python 3.12 without venv, ensurepip"; exit 1'
SHIM_OF_A_VERSION_NOT_SELECTED = 'echo "command not found" >&2; exit 127'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return new_checkout(tmp_path)


def new_checkout(parent: Path) -> Path:
    folder = parent / "a checkout"
    shutil.copytree(ROOT / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "requirements").mkdir()
    for kind in ("dev", "runtime"):
        (folder / "requirements" / f"{kind}.txt").write_text(f"# {kind}\n")
    (folder / ".python-version").write_text("3.13\n")
    (parent / "bin").mkdir()
    for tool in ("sh", "dirname", "cat", "grep", "tr", "git"):
        (parent / "bin" / tool).symlink_to(shutil.which(tool) or pytest.skip(f"{tool} is not installed"))
    return folder


def interpreter(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def set_up(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs setup.sh on a machine that has nothing but what the test put there."""
    machine = {"PATH": str(checkout.parent / "bin"), "HOME": str(checkout.parent / "home")} | environment
    command = [shutil.which("sh") or "sh", str(checkout / "scripts" / "setup.sh"), *arguments]
    return subprocess.run(command, env=machine, capture_output=True, text=True, check=False, timeout=120)


class TestFindingPython:
    @pytest.mark.parametrize(
        "place",
        [
            "bin/python3.13",
            "bin/python3.12",
            "bin/python3.14",
            "home/.pyenv/versions/3.13.0/bin/python3",
            "home/.pyenv/versions/3.12.7/bin/python3",
            "home/.local/share/uv/python/cpython-3.13.1-linux-x86_64-gnu/bin/python3",
        ],
    )
    def test_the_default_is_too_old_and_another_fits(self, checkout: Path, place: str) -> None:
        interpreter(checkout.parent / "bin" / "python3", OLD)
        wanted = interpreter(checkout.parent / place, FITTING)
        assert set_up(checkout).stdout == f"chosen {wanted} dev\n"

    def test_the_version_of_the_project_comes_first(self, checkout: Path) -> None:
        interpreter(checkout.parent / "bin" / "python3.14", FITTING)
        wanted = interpreter(checkout.parent / "bin" / "python3.13", FITTING)
        assert set_up(checkout, "runtime").stdout == f"chosen {wanted} runtime\n"

    def test_a_shim_that_does_not_run_is_passed_over(self, checkout: Path) -> None:
        interpreter(checkout.parent / "bin" / "python3.13", SHIM_OF_A_VERSION_NOT_SELECTED)
        wanted = interpreter(checkout.parent / "home/.pyenv/versions/3.13.0/bin/python3", FITTING)
        assert set_up(checkout).stdout == f"chosen {wanted} dev\n"

    def test_pyenv_may_lie_elsewhere(self, checkout: Path) -> None:
        wanted = interpreter(checkout.parent / "opt pyenv/versions/3.13.2/bin/python3", FITTING)
        done = set_up(checkout, PYENV_ROOT=str(checkout.parent / "opt pyenv"))
        assert done.stdout == f"chosen {wanted} dev\n"

    def test_the_one_that_is_named_is_taken_or_refused(self, checkout: Path) -> None:
        interpreter(checkout.parent / "bin" / "python3.13", FITTING)
        wanted = interpreter(checkout.parent / "mine", FITTING)
        assert set_up(checkout, PYTHON=str(wanted)).stdout == f"chosen {wanted} dev\n"
        refused = set_up(checkout, PYTHON=str(checkout.parent / "none"))
        assert refused.returncode == 1
        assert "PYTHON names something that does not run as Python" in refused.stderr


class TestSayingWhatIsMissing:
    def test_no_python(self, checkout: Path) -> None:
        done = set_up(checkout)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("The gateway needs Python 3.12 or newer")
        assert not (checkout / ".venv").exists()

    @pytest.mark.parametrize(
        ("script", "reason"), [(OLD, "is Python 3.9"), (INCOMPLETE, "is Python 3.12 without venv, ensurepip")]
    )
    def test_a_python_that_does_not_fit_is_named_with_the_reason(
        self, checkout: Path, script: str, reason: str
    ) -> None:
        path = interpreter(checkout.parent / "bin" / "python3", script)
        done = set_up(checkout)
        assert done.returncode == 1
        assert f"{path} {reason}" in done.stderr
        assert "apt install python3 python3-venv" in done.stderr

    def test_git_is_only_missed(self, checkout: Path) -> None:
        interpreter(checkout.parent / "bin" / "python3", FITTING)
        (checkout.parent / "bin" / "git").unlink()
        done = set_up(checkout)
        assert done.returncode == 0
        assert "git is not installed" in done.stderr

    def test_an_unknown_set_is_refused(self, checkout: Path) -> None:
        done = set_up(checkout, "everything", PYTHON=sys.executable)
        assert done.returncode == 2
        assert "say dev or runtime" in done.stderr


def wheel(folder: Path) -> str:
    """Makes the smallest package there is, `tiny` 1.0. Returns its hash."""
    file = folder / "tiny-1.0-py3-none-any.whl"
    info = "tiny-1.0.dist-info"
    with ZipFile(file, "w") as content:
        content.writestr("tiny.py", "here = True\n")
        content.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        content.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        content.writestr(f"{info}/RECORD", f"tiny.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return hashlib.sha256(file.read_bytes()).hexdigest()


@dataclass
class InstalledTwice:
    """A checkout in which two processes installed at once, and what they said."""

    checkout: Path
    told: str
    statuses: list[int]

    def give_environment(self, checkout: Path) -> None:
        """Gives another checkout a copy of this environment as it was before the installation: only pip is in it."""
        shutil.copytree(self.checkout / ".venv", checkout / ".venv", symlinks=True)
        (checkout / ".venv" / "installed").unlink()


@pytest.fixture(scope="module")
def installed_twice(tmp_path_factory: pytest.TempPathFactory) -> InstalledTwice:
    checkout = new_checkout(tmp_path_factory.mktemp("installed"))
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "installing").touch()  # as an interrupted install leaves it
    (checkout / ".venv" / "half-written").touch()
    command = [sys.executable, "-I", str(checkout / "scripts/install.py"), "dev"]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = "".join(process.communicate(timeout=120)[1] for process in both)
    return InstalledTwice(checkout, told, [process.returncode for process in both])


class TestInstalling:
    def install(self, checkout: Path, lock: str) -> subprocess.CompletedProcess[str]:
        """As on a machine whose only index is the folder with `tiny` in it."""
        (checkout / "requirements" / "dev.txt").write_text(lock)
        offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(checkout.parent), "PIP_CONFIG_FILE": os.devnull}
        return set_up(checkout, PYTHON=sys.executable, PIP_USER="1", **offline)

    def test_a_package_with_its_hash_is_installed_into_the_checkout(self, checkout: Path) -> None:
        done = self.install(checkout, f"tiny==1.0 --hash=sha256:{wheel(checkout.parent)}\n")
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr.splitlines()[-1] == "setup: ready"
        assert list((checkout / ".venv").rglob("tiny.*.pyc")) == [], "compiled only when imported"
        subprocess.run([checkout / ".venv/bin/python", "-c", "import tiny"], check=True, timeout=60)

    def test_the_development_set_is_added_to_the_runtime_set(
        self, checkout: Path, installed_twice: InstalledTwice
    ) -> None:
        """`make run` and then `make test`."""
        installed_twice.give_environment(checkout)
        (checkout / "requirements" / "runtime.txt").write_text("# nothing\n")
        assert set_up(checkout, "runtime", PYTHON=sys.executable).returncode == 0
        (checkout / ".venv" / "kept").touch()
        assert (self.check(checkout, "runtime"), self.check(checkout, "dev")) == (0, 1)
        done = self.install(checkout, f"tiny==1.0 --hash=sha256:{wheel(checkout.parent)}\n")
        assert (done.returncode, done.stdout) == (0, "")
        assert (self.check(checkout, "runtime"), self.check(checkout, "dev")) == (0, 0)
        assert (checkout / ".venv" / "kept").exists(), "the environment was made anew"

    @pytest.mark.parametrize(
        ("pin", "reason"),
        [
            ("tiny==1.0", "Hashes are required"),
            ("tiny==1.0 --hash=sha256:" + "0" * 64, "DO NOT MATCH THE HASHES"),
            ("tiny==2.0 --hash=sha256:" + "0" * 64, "No matching distribution found"),
        ],
        ids=["no hash", "wrong hash", "not to be had"],
    )
    def test_a_package_that_is_not_the_locked_one_is_refused(
        self, checkout: Path, installed_twice: InstalledTwice, pin: str, reason: str
    ) -> None:
        installed_twice.give_environment(checkout)
        wheel(checkout.parent)
        done = self.install(checkout, f"{pin}\n")
        assert done.returncode == 1
        assert reason in done.stderr
        assert "setup: pip could not install" in done.stderr
        assert not (checkout / ".venv" / "installed").exists()

    def state(self, checkout: Path) -> str:
        lock = (checkout / "requirements" / "dev.txt").read_bytes()
        return "dev {}.{} {}\n".format(*sys.version_info[:2], hashlib.sha256(lock).hexdigest())

    def check(self, checkout: Path, kind: str) -> int:
        command = [str(checkout / ".venv/bin/python"), "-I", str(checkout / "scripts/install.py"), "--check", kind]
        return subprocess.run(command, check=False, timeout=60).returncode

    def test_two_at_once_and_then_nothing_to_do(self, installed_twice: InstalledTwice) -> None:
        checkout = installed_twice.checkout
        assert installed_twice.statuses == [0, 0]
        assert installed_twice.told.count("installing the locked dev packages") == 1
        assert {each.name for each in (checkout / ".venv").iterdir()} & {"installing", "half-written"} == set()
        assert (checkout / ".venv" / "installed").read_text() == self.state(checkout)
        again = set_up(checkout)  # no Python is on that machine's path: the environment's own is enough
        assert (again.returncode, again.stdout, again.stderr) == (0, "", "")

    def test_check_reports_missing_packages(self, checkout: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", checkout / ".venv"], check=True, timeout=60)
        assert self.check(checkout, "dev") == 1
        (checkout / ".venv" / "installed").write_text(self.state(checkout))
        assert self.check(checkout, "dev") == 0
        assert self.check(checkout, "runtime") == 0, "the development set holds the runtime set"
        (checkout / ".venv" / "installing").touch()
        assert self.check(checkout, "dev") == 1
        (checkout / ".venv" / "installing").unlink()
        (checkout / "requirements" / "dev.txt").write_text("# another lock\n")
        assert self.check(checkout, "dev") == 1
        assert self.check(checkout, "runtime") == 1


def test_running_needs_no_test_tools() -> None:
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.findall(r"^(run|test): ([a-z-]+) ##", rules, re.MULTILINE) == [
        ("run", "setup-runtime"),
        ("test", "setup"),
    ]
