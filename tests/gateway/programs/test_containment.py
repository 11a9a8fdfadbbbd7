"""A contained program sees nothing that is hidden, and is not run where it cannot be contained."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gateway.programs.hiding import linked_elsewhere, listening_sockets
from tests.e2e.lacking import lacking, skip_unless_seen

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")]

CODE = """
import os, shutil, sys
from pathlib import Path
from gateway.programs.containment import ContainingSupervisor
from gateway.programs.hiding import Hidden
from gateway.programs.supervision import NotStarted, Program, run
folder, *words = sys.argv[1:]
place = Path(folder)
hidden = Hidden({place / "data": (), place / "certs": ("bundle.pem",)}, [place / "tls.key"], Path.cwd(), Path.home(),
                [place / "work" / "gate" / "way", place / "work" / "gate" / "file"])
program = Program(shutil.which(words[0]), words, os.environ)
try:
    sys.exit(run(program, ContainingSupervisor([("127.0.0.1", 8080)], hidden, "exec")))
except NotStarted as error:
    sys.exit(error.message)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    # A contained program has a folder /tmp of its own.
    with TemporaryDirectory(dir="/var/tmp") as name:
        path = Path(name).resolve()
        for each in ("data", "certs", "work"):
            (path / each).mkdir()
        for file in ("data/gateway.db", "certs/bundle.pem", "certs/ca.pem", "tls.key", "seen"):
            (path / file).write_text(f"content of {file}")
        yield path


def contained(folder: Path, *words: str, before: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
    if subprocess.run(["unshare", "--user", "--map-root-user", "--net", "true"], check=False).returncode:
        lacking("the system does not permit namespaces")
    command = [*before, sys.executable, "-c", CODE, str(folder), *words]
    variables = os.environ | {"PYTHONPATH": str(Path.cwd())}
    return subprocess.run(
        command,
        cwd=folder / "work",
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        start_new_session=True,
    )


def test_hidden_folders_have_only_the_files_that_stay(folder: Path) -> None:
    names = " ".join(f"{folder}/{name}" for name in ("certs/*", "data/*", "tls.key", "seen"))
    done = contained(folder, "sh", "-c", f"cat {names}; umount {folder}/data; touch {folder}/certs/x")
    assert done.stdout == "content of certs/bundle.pemcontent of seen", done.stderr
    assert "Read-only" in done.stderr


def test_the_kernel_lets_no_namespace_of_the_programs_own_undo_it(folder: Path) -> None:
    undone = f"umount {folder}/data; umount -l {folder}/certs; mount --bind {folder} /mnt"
    script = f"echo in; {undone}; cat {folder}/data/* /mnt/data/*"
    done = contained(folder, "unshare", "--user", "--keep-caps", "--mount", "sh", "-c", script)
    assert done.stdout == "in\n", done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_other_paths_to_a_hidden_folder_are_hidden(folder: Path) -> None:
    (folder / "other").mkdir()
    script = 'mount --bind "$0" "$0/other" && exec "$@"'
    before = ("unshare", "--mount", "sh", "-c", script, str(folder))
    done = contained(
        folder, "sh", "-c", f"cat {folder}/other/data/* {folder}/other/tls.key {folder}/other/seen", before=before
    )
    assert done.stdout == "content of seen", done.stderr


def test_what_is_frozen_is_seen_and_cannot_be_changed_or_replaced(folder: Path) -> None:
    way = folder / "work" / "gate" / "way"
    (way / "hooks").mkdir(parents=True)
    for file in (way / "code", way.parent / "file"):
        file.write_text("kept ")
    tries = ["echo x > gate/way/code", "echo x > gate/file", "touch gate/way/hooks/x", "rm gate/file", "mv gate gone"]
    tries += ["mv gate/way gate/gone", "mv gate/file gone", "ln gate/way/code linked", "chmod 777 gate/way/code"]
    script = f"{'; '.join(f'{each} && echo did' for each in tries)}; cat gate/way/code gate/file; echo y > gate/more"
    done = contained(folder, "sh", "-c", script)
    assert (done.stdout, done.returncode) == ("kept kept ", 0), done.stderr
    assert (way.parent / "more").read_text() == "y\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_other_paths_to_what_is_frozen_are_frozen(folder: Path) -> None:
    (folder / "work" / "gate" / "way" / "inner").mkdir(parents=True)
    (folder / "work" / "other").mkdir()
    script = 'mount --bind "$0/gate/way/inner" "$0/other" && exec "$@"'
    before = ("unshare", "--mount", "sh", "-c", script, str(folder / "work"))
    done = contained(folder, "touch", "other/x", before=before)
    assert "Read-only" in done.stderr


def test_a_hard_link_prevents_the_start(folder: Path) -> None:
    assert linked_elsewhere(folder / "data") is None
    (folder / "link").hardlink_to(folder / "data" / "gateway.db")
    done = contained(folder, "echo", "runs")
    assert (done.stdout, done.returncode) == ("", 1)
    assert "has another name" in done.stderr


def test_the_program_gets_its_status_terminal_and_signals(folder: Path) -> None:
    assert contained(folder, "sh", "-c", "exit 7").returncode == 7
    assert contained(folder, "sh", "-c", "kill -TERM $$").returncode == -15
    done = contained(folder, "sh", "-c", "ps -e -o pid= | wc -l; setsid sleep 100 & echo $$")
    assert int(done.stdout.split()[0]) < 8


def test_connections_that_are_blocked_are_reported_once(folder: Path) -> None:
    skip_unless_seen(sys.executable)
    code = "import socket\nfor port in (443, 443, 9): print(socket.socket().connect_ex(('192.0.2.1', port)))"
    done = contained(folder, sys.executable, "-c", code)
    assert done.stdout == f"{errno.ENETUNREACH}\n" * 3
    reports = [line.partition(") ")[2] for line in done.stderr.splitlines()]
    assert reports == [f"connects to 192.0.2.1:{port}, which `--contain` blocks" for port in (443, 9)]


@pytest.mark.parametrize(
    ("prepared", "message"),
    [
        ("echo 0 > /proc/sys/user/max_user_namespaces", "sysctl user.max_user_namespaces=10000"),
        ("mount -t tmpfs none /proc/sys", "namespaces"),
    ],
)
def test_without_namespaces_the_program_is_not_run(folder: Path, prepared: str, message: str) -> None:
    before = ("unshare", "--map-root-user", "--mount", "sh", "-c", f'{prepared} && exec "$@"', "sh")
    done = contained(folder, "touch", str(folder / "work" / "ran"), before=before)
    assert done.returncode == 1
    assert done.stderr.startswith("--contain: the system does not permit the namespaces that it needs")
    assert message in done.stderr
    assert not (folder / "work" / "ran").exists()


def test_sockets_of_this_machine_are_known(folder: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(folder / "a b.sock"))
        sock.listen()
        assert folder / "a b.sock" in listening_sockets()
    shutil.rmtree(folder / "work")
