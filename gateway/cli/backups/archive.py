"""The file of a backup: an uncompressed tar archive, in which the manifest comes first.

manifest.json      {"format": "privacy-gateway/backup", "version": 1, "gateway": "0.9.0",
                    "created_at": "2026-11-28T10:00:00Z", "records": 616,
                    "files": {"data/gateway.db": {"size": 151552, "sha256": "…"}, …}}
data/gateway.db    and what belongs to it
certs/…            if it was asked for
"""

import os
import re
import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Annotated, Literal, NoReturn

from pydantic import BaseModel, Field, ValidationError

from gateway import __version__
from gateway.config.durable_files import replacing
from gateway.config.installation_key import FILE as INSTALLATION_KEY
from gateway.errors import BadRequest
from gateway.receipt_log.checkpoint_file import FILE as CHECKPOINT
from gateway.receipt_log.signing_key import FILE as SIGNING_KEY
from gateway.receipt_log.signing_key import NEXT as NEXT_SIGNING_KEY
from gateway.store import FILE as DATABASE

BESIDE = (CHECKPOINT, INSTALLATION_KEY, SIGNING_KEY, NEXT_SIGNING_KEY)
"""The files of a data folder that belong to its database."""

_MANIFEST = "manifest.json"
_LONGEST_MANIFEST = 1 << 20
_NAMES = rf"^(data/({'|'.join(map(re.escape, (DATABASE, *BESIDE)))})|certs/[A-Za-z0-9_][A-Za-z0-9._-]{{0,99}})$"
_CHUNK = 1 << 20


class Entry(BaseModel, frozen=True, extra="forbid", strict=True):
    """A file of a backup."""

    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Manifest(BaseModel, frozen=True, extra="forbid", strict=True):
    """The contents of a backup. `records` are those that the log ever had."""

    format: Literal["privacy-gateway/backup"] = "privacy-gateway/backup"
    version: Literal[1] = 1
    gateway: str = Field(pattern=r"^[0-9A-Za-z.+-]{1,64}$")
    created_at: str = Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$")
    records: int = Field(ge=0)
    files: dict[Annotated[str, Field(pattern=_NAMES)], Entry]


def write_archive(path: Path, files: Mapping[str, Path], records: int) -> Manifest:
    """Writes the files under their names in the archive, readable by its owner only. Raises OSError."""
    listed = {}
    for name, file in files.items():
        with file.open("rb") as source:
            listed[name] = Entry(size=file.stat().st_size, sha256=file_digest(source, "sha256").hexdigest())
    created = datetime.now(UTC)
    stated = created.strftime("%Y-%m-%dT%H:%M:%SZ")
    manifest = Manifest(gateway=__version__, created_at=stated, records=records, files=listed)
    with replacing(path) as output, tarfile.open(fileobj=output, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        content = manifest.model_dump_json(indent=2).encode() + b"\n"
        archive.addfile(_entry(_MANIFEST, len(content), created), BytesIO(content))
        for name, file in files.items():
            with file.open("rb") as source:
                archive.addfile(_entry(name, listed[name].size, created), source)
    return manifest


def is_archive(path: Path) -> bool:
    """Whether a file is a backup, at least by its first entry. Raises OSError."""
    try:
        with tarfile.open(path, mode="r|") as archive:
            first = archive.next()
    except tarfile.TarError:
        return False
    return first is not None and first.name == _MANIFEST


def extract(path: Path, folder: Path) -> Manifest:
    """Writes the files of a backup below an empty folder, each as the manifest says.

    Raises BadRequest for another file and for one that was changed, OSError.
    """
    try:
        with tarfile.open(path, mode="r|") as archive:
            manifest = _read_manifest(archive)
            found = set[str]()
            while (member := archive.next()) is not None:
                listed = manifest.files.get(member.name)
                source = archive.extractfile(member) if member.type == tarfile.REGTYPE else None
                if source is None or listed is None or member.size != listed.size or member.name in found:
                    _refuse("it has other entries than its manifest says")
                if _write(folder / member.name, source) != listed.sha256:
                    _refuse(f"{member.name} has another digest than its manifest says")
                found.add(member.name)
    except (tarfile.TarError, EOFError):
        _refuse("it is not a complete tar archive")
    if found != manifest.files.keys():
        _refuse("it lacks entries that its manifest names")
    return manifest


def _read_manifest(archive: tarfile.TarFile) -> Manifest:
    member = archive.next()
    source = archive.extractfile(member) if member is not None and member.name == _MANIFEST else None
    if source is None:
        _refuse("it does not begin with a manifest")
    try:
        manifest = Manifest.model_validate_json(source.read(_LONGEST_MANIFEST))
    except ValidationError:
        _refuse("its manifest is not one of this version of the gateway; restore it with the version that made it")
    if f"data/{DATABASE}" not in manifest.files:
        _refuse(f"it has no {DATABASE}")
    return manifest


def _write(path: Path, source: IO[bytes]) -> str:
    """Writes a file durably, readable by its owner only, and returns its digest."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    digest = sha256()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as output:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            output.write(chunk)
        output.flush()
        os.fsync(output.fileno())
    return digest.hexdigest()


def _entry(name: str, size: int, created: datetime) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o600, int(created.timestamp())
    return entry


def _refuse(reason: str) -> NoReturn:
    raise BadRequest(f"The file cannot be restored: {reason}.", param="file")
