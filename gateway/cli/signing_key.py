"""`run_proxy.py keys rotate --signing`: replaces the key that signs receipts."""

import argparse

from gateway.cli.console import print_error, print_json
from gateway.config.settings import Settings, SettingsError
from gateway.errors import GatewayError
from gateway.receipts import ReceiptLog
from gateway.receipts.key_loading import signer_of
from gateway.receipts.rotation import rotate_signing_key
from gateway.receipts.signing import Verifier
from gateway.store import open_store


def rotate_signing(settings: Settings, options: argparse.Namespace) -> int:
    """Replaces the key. Returns 0, 1 if the log is broken, 2 for unusable settings."""
    try:
        old, new = _rotate(settings)
    except SettingsError as error:
        print_error("; ".join(error.problems), "unusable_settings", None, as_json=options.json)
        return 2
    except GatewayError as error:
        print_error(error.message, error.code, error.param, as_json=options.json)
        return 1
    if options.json:
        print_json({name: _key(key) for name, key in (("old", old), ("new", new))})
    else:
        print(f"{new.key_id} signs receipts now, in place of {old.key_id}.")
        print(f"Verify with both public keys:\n{old.public_bytes.hex()} (old)\n{new.public_bytes.hex()} (new)")
    return 0


def _rotate(settings: Settings) -> tuple[Verifier, Verifier]:
    if settings.signing_key is not None:
        raise SettingsError("signing_key is set, so its key cannot be replaced here; remove the setting first")
    folder = settings.make_data_dir()
    store = open_store(folder)
    try:
        old = signer_of(store, folder)
        log = ReceiptLog(store, old, folder)
        log.check()
        return old, rotate_signing_key(log, folder)
    finally:
        store.close()


def _key(key: Verifier) -> dict[str, str]:
    return {"key_id": key.key_id, "public_key": key.public_bytes.hex()}
