"""Replaces the signing key. The replacement is a record of the log, so receipts of the old key stay verifiable."""

import os
from pathlib import Path

from gateway.config.durable_files import replacing
from gateway.receipt_log.checkpoint_file import locked
from gateway.receipt_log.log import ReceiptLog
from gateway.receipts.signing import FILE, NEXT, Signer, Verifier, new_key


def rotate_signing_key(log: ReceiptLog, data_dir: Path) -> Verifier:
    """Replaces the key in `data_dir` and returns the new one. A gateway that is running takes it over.

    The new key is durable before anything is signed with it, and takes the place of the old one once the record of it
    is. A start completes what a crash interrupts between the two. Raises Unavailable, OSError.
    """
    with locked(data_dir) as folder:
        with replacing(data_dir / NEXT) as draft:
            draft.write(new_key())
        if folder is not None:
            os.fsync(folder)
        new = Signer.read(data_dir / NEXT)
        log.rotate(new)
        (data_dir / NEXT).replace(data_dir / FILE)
        if folder is not None:
            os.fsync(folder)
    return new
