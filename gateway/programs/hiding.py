"""Hides folders, sockets and devices from a contained program, by mounts in a namespace of its own.

A folder is hidden under every path that leads to it. The program cannot undo a mount: it has no capabilities here, and
in a namespace that it makes itself, the kernel locks all mounts together.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gateway.programs.kernel import mount, set_read_only

_NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
_SAFE = _NOSUID | _NODEV
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
# Root may write these, whatever namespace it is in.
_OF_ROOT = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi")


def listening_sockets() -> tuple[Path, ...]:
    """Returns the paths of the sockets that programs of this machine have."""
    lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="surrogateescape").splitlines()[1:]
    paths = (line.split(maxsplit=7)[7] for line in lines if line.count(" ") >= 7 and len(line.split(maxsplit=7)) > 7)
    return tuple(dict.fromkeys(Path(path) for path in paths if path.startswith("/")))


@dataclass(frozen=True, slots=True)
class Hidden:
    """Names what a program does not see: `folders`, each with the names of the files in it that stay, and `files`.

    It sees what is in `frozen`, and cannot change it. It is in `working`. Root may write there and below `home` alone.
    """

    folders: Mapping[Path, tuple[str, ...]]
    files: Iterable[Path]
    working: Path
    home: Path | None = None
    frozen: Iterable[Path] = ()
    sockets: Iterable[Path] = field(default_factory=listening_sockets)


class _Mount(NamedTuple):
    device: str
    root: str
    place: str
    kind: str


def linked_elsewhere(folder: Path) -> Path | None:
    """Returns a file in a folder that has another name, under which it would stay visible."""
    with suppress(OSError):
        for each in folder.iterdir():
            found = each.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
                return each
    return None


def hide(hidden: Hidden) -> None:
    """Makes the mounts. Needs the capabilities of a new user, mount and process namespace. Raises OSError."""
    mount("", "/", flags=_REC | _PRIVATE)
    mounts = list(_mounts())
    kept = {path: _contents(path, names) for path, names in hidden.folders.items()}
    aliases = [alias for path in (*hidden.folders, *hidden.files) for alias in _aliases(path, mounts)]
    frozen = [each for path in hidden.frozen for each in (path, *_aliases(path, mounts))]
    others = [each.place for each in mounts if each.kind == "proc" and each.place != "/proc"]
    is_root = os.geteuid() == 0
    if is_root:
        _protect_from_root(hidden)
    wanted = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in (hidden.working, hidden.home) if path}
    _devices()
    _private_folders()
    for path, number in wanted.items():
        if not _is_same(number, path):
            path.mkdir(parents=True, exist_ok=True)
            mount(f"/proc/self/fd/{number}", str(path), flags=_BIND | _REC)
        os.close(number)
    _freeze(frozen, (*hidden.folders, *hidden.files, *aliases))
    for path in sorted(kept, key=lambda path: len(path.parts)):
        _replace(path, kept[path])
    for path in (*aliases, *map(Path, others), *hidden.files, *hidden.sockets):
        _cover(path)
    mount("proc", "/proc", "proc", _SAFE | _NOEXEC)
    if is_root:
        for place in filter(os.path.exists, _OF_ROOT):
            mount(place, place, flags=_BIND | _REC)
            set_read_only(place, read_only=True, below=True)


def _protect_from_root(hidden: Hidden) -> None:
    """Makes all but the working folder and the home read-only."""
    writable = [str(path) for path in (hidden.working, hidden.home) if path is not None and path != Path("/")]
    for path in writable:
        mount(path, path, flags=_BIND | _REC)
    set_read_only("/", read_only=True, below=True)
    for path in writable:
        set_read_only(path, read_only=False, below=False)


def _freeze(frozen: Iterable[Path], covered: Iterable[Path]) -> None:
    """Makes paths read-only. The kernel renames no mount point, so folders above these and `covered` ones become some.

    Otherwise the program could rename such a folder, and put another one in its place.
    """
    found = [path for path in frozen if os.access(path, os.F_OK)]
    outer = {path for path in found if not any(other in path.parents for other in found)}
    above = {
        folder for path in (*outer, *covered) for folder in path.parents if folder.name and os.access(folder, os.F_OK)
    }
    for path in sorted(above, key=lambda path: len(path.parts)):
        if os.access(path.parent, os.W_OK) or path.parent.stat().st_uid == os.geteuid():
            mount(str(path), str(path), flags=_BIND | _REC)
    for path in outer:
        mount(str(path), str(path), flags=_BIND | _REC)
        set_read_only(str(path), read_only=True, below=True)


def _devices() -> None:
    held = {name: os.open(f"/dev/{name}", os.O_PATH | os.O_CLOEXEC) for name in _DEVICES}
    mount("tmpfs", "/dev", "tmpfs", _NOSUID | _NOEXEC, "mode=755")
    for name, number in held.items():
        Path("/dev", name).touch()
        mount(f"/proc/self/fd/{number}", f"/dev/{name}", flags=_BIND)
        os.close(number)
    for name, target in {**_LINKS, "ptmx": "pts/ptmx"}.items():
        Path("/dev", name).symlink_to(target)
    for name in ("pts", "shm"):
        Path("/dev", name).mkdir()
    mount("devpts", "/dev/pts", "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    mount("tmpfs", "/dev/shm", "tmpfs", _SAFE, "mode=1777")  # noqa: S108 # nosec B108


def _private_folders() -> None:
    """Gives the program empty folders in place of those where programs have their sockets."""
    for place in ("/run", "/var/run"):
        if Path(place).is_symlink() or not Path(place).is_dir():
            continue
        # The system may be reached through links there.
        links = {each.name: each.readlink() for each in Path(place).iterdir() if each.is_symlink()}
        mount("tmpfs", place, "tmpfs", _SAFE, "mode=755")
        for name, target in links.items():
            Path(place, name).symlink_to(target)
    if Path("/run").is_dir():
        Path("/run/user").mkdir()
        Path("/run/user", str(os.getuid())).mkdir(mode=0o700)
    mount("tmpfs", "/tmp", "tmpfs", _SAFE, "mode=1777")  # noqa: S108 # nosec B108


def _contents(folder: Path, names: Iterable[str]) -> dict[str, bytes] | None:
    """Returns the files of a folder that stay visible; None if there is no such folder that the program can reach."""
    try:
        if not folder.is_dir():
            return None
        return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}
    except PermissionError:
        return None


def _replace(folder: Path, contents: Mapping[str, bytes] | None) -> None:
    """Covers a folder by one that has these files alone."""
    if contents is None:
        return
    if not folder.is_dir():
        # It was in one of the folders that are empty now.
        if not contents:
            return
        folder.mkdir(parents=True)
    mount("tmpfs", str(folder), "tmpfs", _SAFE | _NOEXEC, "mode=755")
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    set_read_only(str(folder), read_only=True, below=False)


def _cover(path: Path) -> None:
    """Covers a path, if the program could reach it."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return
    if stat.S_ISDIR(mode):
        mount("tmpfs", str(path), "tmpfs", _SAFE | _NOEXEC, "mode=755,size=0")
    elif not stat.S_ISLNK(mode):
        mount("/dev/null", str(path), flags=_BIND)


def _is_same(held: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(held), path.stat())
    except OSError:
        return False


def _mounts() -> Iterator[_Mount]:
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        before, _, after = line.partition(" - ")
        device, root, place = (_plain(word) for word in before.split()[2:5])
        yield _Mount(device, root, place, after.split()[0])


def _plain(word: str) -> str:
    """Reads a path as the kernel writes it, with octal numbers for spaces."""
    for letter in " \t\n\\":
        word = word.replace(f"\\{ord(letter):03o}", letter)
    return word


def _aliases(path: Path, mounts: Iterable[_Mount]) -> Iterator[Path]:
    """Yields the other paths under which a mount shows a folder or file, or a part of it."""
    mounts = list(mounts)
    own = max(
        (each for each in mounts if path.is_relative_to(each.place)), key=lambda each: len(Path(each.place).parts)
    )
    inside = Path(own.root, path.relative_to(own.place))
    for each in mounts:
        if each.device == own.device and inside.is_relative_to(each.root):
            other = Path(each.place, inside.relative_to(each.root))
            if other != path:
                yield other
        elif each.device == own.device and Path(each.root).is_relative_to(inside):
            yield Path(each.place)
