"""`run_proxy.py receipts key`: the public key that receipts are verified with."""

import argparse
from typing import Any

from gateway.cli.console import print_json
from gateway.cli.receipt_log import installed_signer
from gateway.config.settings import Settings
from gateway.receipt_log.consistency import read_history
from gateway.receipts.checkpoint import verifier_key
from gateway.receipts.signing import Verifier
from gateway.store import ReadOnlyStore


def show_key(store: ReadOnlyStore, settings: Settings, options: argparse.Namespace) -> int:
    """Prints the key in PEM; as JSON in every form, with those that signed before it. Changes nothing."""
    signer = installed_signer(store, settings)
    if not options.json:
        print(signer.pem, end="")
        return 0
    spans = store.read(lambda stored: read_history(stored.receipts, signer).spans)
    earlier = [{"first_sequence": first, **_forms(key)} for first, key in spans if key.key_id != signer.key_id]
    print_json({**_forms(signer), "algorithm": "ed25519", "pem": signer.pem, "earlier": earlier})
    return 0


def _forms(key: Verifier) -> dict[str, Any]:
    """Returns the members that name the key in an anchor payload."""
    return {"key_id": key.key_id, "public_key": key.public_bytes.hex(), "verifier_key": verifier_key(key)}
