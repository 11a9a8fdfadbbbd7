"""Takes over a log of a version that signed the hash of the last record, not the root of a tree.

Its checkpoint is a note of the origin `privacy-gateway/receipts`, in the database and in the file beside it. Each is
replaced only if its signature and all records before it are as they were; otherwise the start reports it.
"""

import re
from base64 import b64decode
from hashlib import sha256
from pathlib import Path

from gateway.receipts.checkpoint import Checkpoint, parse_checkpoint, sign_checkpoint
from gateway.receipts.checkpoint_file import FILE, read_checkpoint, write_checkpoint
from gateway.receipts.records import decoded
from gateway.receipts.signing import Signer
from gateway.receipts.verify import ChainWalk
from gateway.store import Store
from gateway.store.interfaces import Receipts
from gateway.store.rows import NodeRow

_ORIGIN = "privacy-gateway/receipts"
_NOTE = re.compile(rf"({_ORIGIN}\n([0-9]{{1,16}})\n([A-Za-z0-9+/]{{43}}=)\n)\n— {_ORIGIN} ([A-Za-z0-9+/]{{91}}=)\n")
_KEY_HASH = 4
_CHUNK = 1000


def upgrade(store: Store, signer: Signer, folder: Path) -> None:
    """Brings the checkpoints of a store and its folder to the present form. Does nothing where they have it."""
    head = store.read_now(lambda stored: stored.receipts.head())
    if head is not None and _NOTE.fullmatch(decoded(head.checkpoint)):
        store.submit(lambda stored: _upgrade_log(stored.receipts, signer)).result()
    remembered = read_checkpoint(folder)
    if remembered is not None and (old := _signed_end(remembered.note, signer)) is not None:
        _upgrade_file(store, folder, *old)


def _upgrade_log(receipts: Receipts, signer: Signer) -> None:
    head = receipts.head()
    if head is None or _signed_end(decoded(head.checkpoint), signer) != (head.size, decoded(head.hash)):
        return
    walk, nodes, last = ChainWalk(), list[NodeRow](), None
    while rows := receipts.after(last, _CHUNK):
        walk.feed(rows)
        nodes += [NodeRow(*node) for node in walk.completed]
        last = rows[-1].sequence
    if walk.broken is None and (walk.size, walk.head) == (head.size, decoded(head.hash)):
        receipts.add_nodes(nodes)
        receipts.set_head(head.size, walk.head, sign_checkpoint(head.size, walk.state.root, signer).note)


def _upgrade_file(store: Store, folder: Path, size: int, hash: str) -> None:
    def read(receipts: Receipts) -> Checkpoint | None:
        head = receipts.head()
        extends = head is not None and head.size >= size and (not size or receipts.hash_at(size) == hash.encode())
        return parse_checkpoint(decoded(head.checkpoint)) if head is not None and extends else None

    current = store.read_now(lambda stored: read(stored.receipts))
    if current is not None:
        (folder / FILE).unlink()
        write_checkpoint(folder, current)


def _signed_end(note: str, signer: Signer) -> tuple[int, str] | None:
    """Returns size and hash of an old note, or None unless the installation signed it."""
    match = _NOTE.fullmatch(note)
    if match is None:
        return None
    text, signature = match[1].encode(), b64decode(match[4])
    key_hash = sha256(_ORIGIN.encode() + b"\n\x01" + signer.public_bytes).digest()[:_KEY_HASH]
    if signature[:_KEY_HASH] != key_hash or not signer.verify(signature[_KEY_HASH:], text):
        return None
    return int(match[2]), b64decode(match[3]).hex()
