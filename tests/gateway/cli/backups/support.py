"""Reads, changes and writes the files of backups."""

import json
import tarfile
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any


def contents(file: Path) -> dict[str, bytes]:
    """Returns what a backup holds, by name."""
    with tarfile.open(file) as archive:
        return {each.name: archive.extractfile(each).read() for each in archive}  # type: ignore[union-attr]


def packed(files: Mapping[str, bytes], names: Iterable[str] = (), link: str | None = None) -> bytes:
    """Returns an archive of the files, or those of the names; the one called `link` is a symbolic link."""
    output = BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        for name in names or files:
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            if name == link:
                entry.type, entry.linkname, entry.size = tarfile.SYMTYPE, "/etc/passwd", 0
            archive.addfile(entry, BytesIO(files[name]))
    return output.getvalue()


def attacked(file: Path, attack: dict[str, Any]) -> bytes:
    """Returns a backup as a vector changes it."""
    if "whole" in attack:
        return str(attack["whole"]).encode()
    files = contents(file)
    manifest = json.loads(files["manifest.json"]) | attack.get("manifest", {})
    manifest["files"] |= {name: {"size": 0, "sha256": "0" * 64} for name in attack.get("list", ())}
    for name in attack.get("unlist", ()):
        del manifest["files"][name]
    files["manifest.json"] = json.dumps(manifest).encode()
    files |= {name: text.encode() for name, text in attack.get("content", {}).items()}
    if name := attack.get("flip"):
        files[name] = files[name][:-1] + bytes([files[name][-1] ^ 1])
    return packed(files, attack.get("entries", ()), attack.get("link"))[: attack.get("cut")]
