"""`run_proxy.py keys rotate --signing`: replaces the key that signs receipts."""

import argparse

from gateway.cli.console import exit_status, print_json
from gateway.cli.receipt_log import open_log
from gateway.config.settings import Settings, SettingsError
from gateway.receipt_log.signing_key import rotate_signing_key
from gateway.receipts.signing import Verifier


def rotate_signing(settings: Settings, options: argparse.Namespace) -> int:
    """Replaces the key. Returns 0, or 1 if the log is broken. Raises SettingsError."""
    return exit_status(lambda: _rotate(settings, as_json=options.json), as_json=options.json)


def _rotate(settings: Settings, *, as_json: bool) -> int:
    if settings.signing_key is not None:
        raise SettingsError("signing_key is set, so its key cannot be replaced here; remove the setting first")
    with open_log(settings) as (_, log, old):
        new = rotate_signing_key(settings.data_dir, log.rotate)
    if as_json:
        print_json({name: _key(key) for name, key in (("old", old), ("new", new))})
    else:
        print(f"{new.key_id} signs receipts now, in place of {old.key_id}.")
        print(f"Verify with both public keys:\n{old.public_bytes.hex()} (old)\n{new.public_bytes.hex()} (new)")
    return 0


def _key(key: Verifier) -> dict[str, str]:
    return {"key_id": key.key_id, "public_key": key.public_bytes.hex()}
