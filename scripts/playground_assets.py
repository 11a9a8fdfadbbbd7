"""Fetches and builds what the playground needs besides the gateway: `python -m scripts.playground_assets`.

Everything is locked by digest in requirements/playground.toml: packages by what npm and pip verify, and each file that
the site gets. RE2 is compiled to WebAssembly here. Needs npm, pip and a Linux machine with an x86-64 processor.
"""

import json
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from base64 import b64encode
from hashlib import sha256, sha512
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "playground.toml"
VENDOR = ROOT / "gateway" / "api" / "playground" / "vendor"
SOURCES = ROOT / "packaging" / "playground"
_HEADERS = (
    *("base/call_once", "base/macros", "base/thread_annotations", "container/fixed_array", "container/flat_hash_map"),
    *("container/flat_hash_set", "container/inlined_vector", "hash/hash", "log/absl_check", "log/absl_log"),
    *("strings/ascii", "strings/str_format", "strings/string_view", "synchronization/mutex", "types/span"),
)
_RE2 = (
    *("re2/bitmap256", "re2/bitstate", "re2/compile", "re2/dfa", "re2/nfa", "re2/onepass", "re2/parse"),
    *("re2/perl_groups", "re2/prog", "re2/re2", "re2/regexp", "re2/set", "re2/simplify", "re2/tostring"),
    *("re2/unicode_casefold", "re2/unicode_groups", "util/rune", "util/strutil"),
)
_FLAGS = (
    *("-target", "wasm32-wasi", "-mexec-model=reactor", "-O3", "-std=c++20", "-fno-exceptions", "-fno-rtti"),
    *("-fvisibility=hidden", "-DNDEBUG", "-Wl,--export-dynamic", "-Wl,--strip-all"),
)


class WrongDigest(Exception):
    """Something is not what the lock file says."""


def main() -> int:
    lock = tomllib.loads(LOCK.read_text(encoding="utf-8"))
    with TemporaryDirectory() as made:
        work = Path(made)
        vendor = work / "vendor"
        vendor.mkdir()
        for name, package in lock["npm"].items():
            folder = fetch_npm(name, package, work)
            for file in package["files"]:
                shutil.copy(folder / file, vendor)
        fetch_wheels(lock["pip"], vendor)
        build_re2(work / "re2" / "package" / "vendor" / "re2", lock["pip"]["compiler"], work, vendor / "re2.wasm")
        check_files(vendor, lock["files"])
        shutil.rmtree(VENDOR, ignore_errors=True)
        shutil.copytree(vendor, VENDOR, copy_function=shutil.copyfile)
    return 0


def fetch_npm(name: str, package: dict[str, Any], work: Path) -> Path:
    """Returns the folder of an npm package. Raises WrongDigest."""
    packed = _run("npm", "pack", "--ignore-scripts", "--json", f"{name}@{package['version']}", cwd=work)
    data = (work / json.loads(packed)[0]["filename"]).read_bytes()
    digest = f"sha512-{b64encode(sha512(data).digest()).decode()}"
    if digest != package["integrity"]:
        raise WrongDigest(f"{name} has {digest}; {LOCK.name} has another.")
    with tarfile.open(work / json.loads(packed)[0]["filename"]) as archive:
        archive.extractall(work / name, filter="data")
    return work / name / "package"


def fetch_wheels(locked: dict[str, Any], vendor: Path) -> None:
    """Has pip fetch the wheels for Pyodide, whose digests it checks."""
    wanted = vendor.parent / "wheels.txt"
    wanted.write_text("\n".join(locked["wheels"]), encoding="utf-8")
    target = ("--platform", locked["platform"], "--python-version", locked["python"])
    _pip("-r", str(wanted), *target, "--only-binary=:all:", "-d", str(vendor))


def build_re2(source: Path, compiler: str, work: Path, target: Path) -> None:
    """Compiles RE2 with our `re2.cc`, and `absl.h` in place of Abseil."""
    wanted = work / "compiler.txt"
    wanted.write_text(compiler, encoding="utf-8")
    _pip("-r", str(wanted), "--only-binary=:all:", "-d", str(work))
    (wheel,) = work.glob("ziglang-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(work / "zig")  # noqa: S202 - verified by its digest  # nosec B202
    zig = work / "zig" / "ziglang" / "zig"
    zig.chmod(0o755)
    headers = work / "include"
    for name in _HEADERS:
        file = headers / "absl" / f"{name}.h"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('#include "absl.h"\n', encoding="utf-8")
    # Relative names, so that no path of this machine is in the result.
    shutil.copy(SOURCES / "absl.h", headers)
    shutil.copy(SOURCES / "re2.cc", work)
    files = ["re2.cc", *(str((source / f"{name}.cc").relative_to(work)) for name in _RE2)]
    includes = ("-I", "include", "-I", str(source.relative_to(work)))
    _run(str(zig), "c++", *_FLAGS, *includes, "-o", str(target), *files, cwd=work)


def check_files(vendor: Path, locked: dict[str, str]) -> None:
    """Raises WrongDigest unless the folder has the locked files and no other."""
    found = {file.name: sha256(file.read_bytes()).hexdigest() for file in vendor.iterdir()}
    for name in sorted(found.keys() | locked.keys()):
        if found.get(name) != locked.get(name):
            raise WrongDigest(
                f"{name}: {found.get(name)}, in {LOCK.name} {locked.get(name)}. If meant, write it there."
            )


def _pip(*arguments: str) -> None:
    _run(sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes", "--no-deps", *arguments)


def _run(*command: str, cwd: Path = ROOT) -> str:
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
