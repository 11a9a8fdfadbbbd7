"""Makes `.venv` and installs the locked packages into it, each checked against its hash.

Called by scripts/setup.sh with the Python that the environment is made from:

    python scripts/install.py dev|runtime           installs what is missing
    python scripts/install.py --check dev|runtime   exit status 0 when there is nothing to do

Nothing outside `.venv` changes. A stamp in the environment holds the hash of the lock it was made from.
A second call waits for the first. An install that was interrupted leaves its mark, and the next call starts
from nothing, because pip takes a half-written package for a whole one.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed"
MARK = VENV / "installing"
# The package that meets a requirement: the development set holds the runtime set in the same versions.
SATISFIED_BY = {"runtime": ("runtime", "dev"), "dev": ("dev",)}


class SetupError(Exception):
    """Setup failed. The message is for the person at the terminal."""


def lock(kind: str) -> Path:
    return ROOT / "requirements" / f"{kind}.txt"


def stamp(kind: str, minor: str) -> str:
    """Identifies an installed state: package set, lock file and Python version (`minor` as in `3.13`)."""
    return f"{kind} {minor} {hashlib.sha256(lock(kind).read_bytes()).hexdigest()}\n"


def environment_python() -> str | None:
    """Returns the version of the environment's Python, such as `3.13`; None if there is none with a working pip."""
    script = "import pip, sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([PYTHON, "-I", "-c", script], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def is_current(kind: str, minor: str | None) -> bool:
    if minor is None or MARK.exists() or not STAMP.exists():
        return False
    return STAMP.read_text() in [stamp(each, minor) for each in SATISFIED_BY[kind]]


@contextmanager
def alone() -> Iterator[None]:
    """Holds a lock that only one process can have. The system releases it when the process ends."""
    folder = os.open(ROOT / "requirements", os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up is under way; waiting for it")
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def make_environment() -> str:
    """Creates `.venv` if it is missing, broken or incomplete. Returns the version of its Python."""
    minor = None if MARK.exists() else environment_python()
    if minor is None or tuple(map(int, minor.split("."))) < (3, 12):
        shutil.rmtree(VENV, ignore_errors=True)
        VENV.mkdir(exist_ok=True)
        MARK.touch()
        run(sys.executable, "-I", "-m", "venv", VENV, why="a virtual environment could not be made")
        minor = environment_python()
    if minor is None:
        raise SetupError("the new virtual environment does not run; is this Python complete (venv, pip)?")
    return minor


def install(kind: str) -> None:
    minor = make_environment()
    if is_current(kind, minor):
        return
    MARK.touch()
    STAMP.unlink(missing_ok=True)
    say(f"installing the locked {kind} packages into .venv (Python {minor}); a minute or two at first")
    # Python compiles modules on first import. Compiling all of them would need 25 % more space.
    pip = [str(PYTHON), "-I", "-m", "pip", "install", "-qq", "--no-input", "--require-virtualenv", "--no-compile"]
    # The lock lists every package, so pip need not resolve dependencies.
    wish = ["--disable-pip-version-check", "--no-deps", "--require-hashes", "--requirement", str(lock(kind))]
    run(*pip, *wish, why="pip could not install the locked packages; its message is above")
    STAMP.write_text(stamp(kind, minor))
    MARK.unlink()
    say("ready")


def run(*command: str | Path, why: str) -> None:
    # The user's pip settings may specify another target, which pip rejects inside an environment.
    environ = os.environ | {"PIP_USER": "0", "PIP_TARGET": "", "PIP_PREFIX": ""}
    if subprocess.run(command, cwd=ROOT, env=environ, check=False).returncode:  # noqa: S603
        raise SetupError(why)


def say(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    check = arguments[:1] == ["--check"]
    kind = (arguments[1:] if check else arguments)[0]
    if kind not in SATISFIED_BY:
        say("say dev or runtime")
        return 2
    if check:
        # The environment's own Python runs this script, so its version is known without another process.
        return 0 if is_current(kind, "{}.{}".format(*sys.version_info[:2])) else 1
    try:
        with alone():
            install(kind)
    except SetupError as error:
        say(f"{error}")
        return 1
    except KeyboardInterrupt:
        say("stopped; call it again to finish")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
