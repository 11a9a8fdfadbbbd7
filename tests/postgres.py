"""A PostgreSQL server of the tests' own, on a socket in a temporary folder. Each worker starts one when needed."""

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest

from gateway.config.database_url import Database

_PORT = 5432
"""In the name of the socket; without other options, no server listens on it."""
_USER = "gateway"


def programs() -> Path | None:
    """The folder of the newest server that is installed, as Debian has it, or of the one in the path."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda each: int(each.parts[-3]))
    found = versions[-1] if versions else shutil.which("initdb")
    return Path(found).resolve().parent if found else None


class Server(NamedTuple):
    """A running server."""

    folder: Path
    process: "subprocess.Popen[bytes]"
    port: int

    def url(self, name: str) -> str:
        return f"postgresql://{_USER}@/{name}?host={self.folder}&port={self.port}"

    def sql(self, statement: str, name: str = "postgres") -> list[tuple[object, ...]]:
        """Runs a statement as the server's owner."""
        import psycopg

        with psycopg.connect(
            f"host={self.folder} port={self.port} user={_USER} dbname={name}", autocommit=True
        ) as conn:
            done = conn.execute(statement.encode())
            return done.fetchall() if done.description else []

    def database(self, folder: Path) -> Database:
        """The database that belongs to a test's folder. It need not exist."""
        return Database(self.url("t" + sha256(str(folder).encode()).hexdigest()[:16]))

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        self.process.send_signal(how)
        self.process.wait(30)


def as_another() -> list[str]:
    """How to run a program that refuses to run as root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def start(folder: Path, *options: str, port: int = _PORT) -> Server:
    """Makes the data folder if it is missing, and starts a server on it, with settings such as `fsync=off`."""
    found = programs()
    assert found is not None
    data = folder / "data"
    if not data.exists():
        data.mkdir()
        if as_another():
            for each in (folder, data):
                shutil.chown(each, "nobody", "nogroup")
        options_of_initdb = ["-U", _USER, "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
        _run(found / "initdb", "-D", data, *options_of_initdb)
    settings = [word for option in options for word in ("-c", option)]
    server = [str(found / "postgres"), "-D", str(data), "-k", str(folder), "-p", str(port), "-c", "listen_addresses="]
    with (folder / "log").open("ab") as log:
        # Signals go to the server, which `setpriv` becomes.
        process = subprocess.Popen([*as_another(), *server, *settings], stdout=log, stderr=log, cwd="/")
    wait = [str(found / "pg_isready"), "-q", "-h", str(folder), "-p", str(port)]
    for _ in range(600):
        if subprocess.run(wait, check=False).returncode == 0:
            return Server(folder, process, port)
        if process.poll() is not None:
            break
        subprocess.run(["sleep", "0.1"], check=True)
    raise RuntimeError((folder / "log").read_text(errors="replace")[-2000:])


def new_folder() -> Path:
    """A short path, since a socket's may have a hundred characters, in memory if possible."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="pg", dir=memory if os.access(memory, os.W_OK) else None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def missing() -> str | None:
    """Why there can be no server here."""
    if sys.platform == "win32":
        return "the tests start servers on Unix only"
    try:
        import psycopg  # noqa: F401
        import psycopg_pool  # noqa: F401
    except ImportError:
        return "needs psycopg"
    if programs() is None:
        return "needs a PostgreSQL server (Debian: postgresql)"
    if as_another() and shutil.which("setpriv") is None:
        return "needs setpriv, since the server refuses to run as root"
    return None


@cache
def shared() -> Server:
    """The server of this worker. Skips the test where there can be none."""
    if (reason := missing()) is not None:
        pytest.skip(reason)
    server = start(new_folder())
    atexit.register(server.stop, signal.SIGQUIT)
    return server


def made(folder: Path) -> Database:
    """The database that belongs to a test's folder, which is made if it does not exist."""
    server = shared()
    database = server.database(folder)
    name = database.url.rpartition("@/")[2].partition("?")[0]
    if not server.sql(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
        server.sql(f"CREATE DATABASE {name} STRATEGY wal_log")
    return database


def _run(*command: object) -> None:
    done = subprocess.run([*as_another(), *map(str, command)], capture_output=True, check=False, cwd="/")
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace"))
