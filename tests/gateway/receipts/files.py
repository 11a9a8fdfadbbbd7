"""Files that the gateway wrote, and the attacks on them in tests/vectors/receipt_files, one file each.

Each vector says which `file` is attacked (a name of `Originals`) and how, in this order: `lines` are the lines that
remain, in their order (a number, or `name:number` for a line of another file); `remove` and `set` change members, by
`line/member/member…` (a value `{"from": "name:path"}` is copied); `rehash` has an attacker without the key recompute
every hash and link, and `sign_with` one who signs all of it with the key of the installation `foreign`; `replace`
changes the text. `fails` are the checks that fail: these and no others.
"""

import asyncio
import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.receipt_log.audit import prove, prove_extension
from gateway.receipt_log.export import export, export_days
from gateway.receipt_log.signing_key import FILE as SIGNING_KEY
from gateway.receipt_log.signing_key import load_signer
from gateway.receipts import records
from gateway.receipts.checkpoint import sign_checkpoint
from gateway.receipts.drafts import OutcomeDraft
from gateway.receipts.signing import Signer
from gateway.store import open_read_only
from tests.conftest import ROOT
from tests.gateway.receipt_log.support import draft, opened
from tests.gateway.receipts.verifier import canonical_form, tree_root

FOLDER = ROOT / "tests" / "vectors" / "receipt_files"
VECTORS: dict[str, Any] = {file.stem: json.loads(file.read_bytes()) for file in FOLDER.glob("*.json")}

type Lines = list[dict[str, Any]]


class Originals:
    """An export and proofs of a log of six records, and of others that an attacker may take pieces from.

    `older` is of its first three records. `fork` has them too, and three others. `foreign` is of another key. `day` is
    the export of the second of two days.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.lines: dict[str, Lines] = {}
        for name in ("good", "foreign"):
            (folder / name).mkdir(mode=0o700)
            asyncio.run(_append(folder / name, "req_01", "req_02", outcome_of="req_01"))
        self._keep("good", "older")
        shutil.copytree(folder / "good", folder / "fork")
        for name, requests in {"good": ("03", "04"), "fork": ("05", "06"), "foreign": ("03", "04")}.items():
            first, second = (f"req_{number}" for number in requests)
            asyncio.run(_append(folder / name, first, outcome_of=first))
            asyncio.run(_append(folder / name, second))
            self._keep(name, name)
        self.key = self.signer("good").public_bytes.hex()
        self._keep_day()

    def signer(self, name: str) -> Signer:
        return load_signer(self._folder / name)

    def text(self, name: str) -> bytes:
        return _text(self.lines[name])

    def _keep(self, folder: str, name: str) -> None:
        signer = self.signer(folder)
        with open_read_only(self._folder / folder) as store:
            size = store.read(lambda stored: stored.receipts.count())
            self.lines[name] = list(export(store, signer, lambda _: None))
            self.lines[f"{name}-proof"] = [prove(store, signer, "req_01", None)]
            self.lines[f"{name}-consistency"] = [prove_extension(store, signer, 3, None)]
            if size > 3:
                self.lines[f"{name}-second-proof"] = [prove(store, signer, "req_02", None)]

    def _keep_day(self) -> None:
        folder = self._folder / "days"
        folder.mkdir(mode=0o700)
        shutil.copy(self._folder / "good" / SIGNING_KEY, folder)
        for day, requests in ((2, ("req_01", "req_02")), (3, ("req_03", "req_04"))):
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(records, "_now", lambda day=day: f"2026-03-0{day}T12:00:00.000Z")
                asyncio.run(_append(folder, *requests, outcome_of=requests[0]))
        with open_read_only(folder) as store:
            *_, (file, _) = export_days(store, self.signer("days"), self._folder, lambda _: None)
        self.lines["day"] = [json.loads(line) for line in file.read_bytes().splitlines()]


async def _append(folder: Path, *request_ids: str, outcome_of: str | None = None) -> None:
    with opened(folder) as log:
        for request_id in request_ids:
            await log.append(draft(request_id), "key_anna")
        if outcome_of is not None:
            guard = {"action": "flag", "findings": {"forged_placeholder": 2}}
            log.append_outcome(outcome_of, OutcomeDraft("answered", 200, (5, 7), guard), "key_anna")


def attacked(originals: Originals, vector: dict[str, Any]) -> bytes:
    """Returns the file that an attack leaves."""
    of = vector["file"]
    lines = orjson.loads(orjson.dumps(originals.lines[of]))
    lines = [_line(originals, of, each) for each in vector.get("lines", range(len(lines)))]
    for path in vector.get("remove", ()):
        parent, name = _member(lines, path)
        del parent[name]
    for path, value in vector.get("set", {}).items():
        parent, name = _member(lines, path)
        if isinstance(value, dict) and "from" in value:
            source, _, place = value["from"].partition(":")
            there, its = _member(originals.lines[source], place)
            value = there[its]  # noqa: PLW2901
        parent[name] = value
    if vector.get("rehash") or "sign_with" in vector:
        _rewrite(lines, originals.signer(vector["sign_with"]) if "sign_with" in vector else None)
    text = _text(lines)
    for old, new in vector.get("replace", ()):
        changed = text.replace(old.encode(), new.encode("utf-8", "surrogateescape"), 1)
        assert changed != text, f"the file has no {old}"
        text = changed
    assert text != originals.text(of), "the attack changes something"
    return text


def _text(lines: Lines) -> bytes:
    return b"".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines)


def _line(originals: Originals, of: str, name: int | str) -> dict[str, Any]:
    source, _, number = str(name).rpartition(":")
    line: dict[str, Any] = orjson.loads(orjson.dumps(originals.lines[source or of][int(number)]))
    return line


def _member(lines: Any, path: str) -> tuple[Any, Any]:
    *parents, name = (int(part) if part.isdigit() else part for part in path.split("/"))
    for each in parents:
        lines = lines[each]
    return lines, name


def _rewrite(lines: Lines, signer: Signer | None) -> None:
    previous, contents = "0" * 64, list[bytes]()
    for line in lines[1:-1]:
        record = line["record"]
        record["previous_hash"] = previous
        if signer is not None:
            record["key_id"] = signer.key_id
        content = canonical_form({name: record[name] for name in record if name not in {"hash", "signature"}}).encode()
        digest = sha256(content)
        contents.append(content)
        record["hash"] = previous = digest.hexdigest()
        if signer is not None:
            record["signature"] = signer.sign(digest.digest()).hex()
    lines[-1]["hash"] = previous
    if signer is not None:
        lines[-1]["checkpoint"] = sign_checkpoint(len(contents), tree_root(contents), signer).note
