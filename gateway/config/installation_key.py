"""Loads the installation's key, from which the placeholders of chats are derived."""

from collections.abc import Callable
from contextlib import suppress
from secrets import token_bytes

from gateway.config.durable_files import create, replacing
from gateway.config.private_files import check_account
from gateway.config.settings import Settings, SettingsError

FILE = "installation.key"
_SIZE = 32


def installation_key(settings: Settings, *, used: bool = False) -> bytes:
    """Returns the key from the settings, or else from `data_dir`, where the first start stores 32 random bytes (0600).

    Processes that start at the same time get the same key. `used` says that conversations already depend on the key.
    Raises SettingsError if the file is damaged, or missing while `used`. A new key would silently orphan those
    conversations.
    """
    if settings.installation_key is not None:
        return settings.installation_key.get_secret_value().encode()
    path = settings.make_data_dir() / FILE
    if not path.exists():
        if used:
            raise SettingsError(
                f"{FILE} is missing from data_dir, and earlier conversations depend on it; restore it from the backup "
                f"(or write {_SIZE} random bytes into it to abandon them), or start with another `--data-dir DIR`"
            )
        create(path, token_bytes(_SIZE))
    key = path.read_bytes()
    if len(key) != _SIZE:
        raise SettingsError(f"{FILE} in data_dir is damaged: it must hold {_SIZE} bytes; restore it from a backup")
    return key


def replaced_key(settings: Settings) -> bytes | None:
    """Returns the key that is in `data_dir` now, for a process that read it before. None if it cannot be read."""
    if settings.installation_key is not None:
        return None
    with suppress(OSError):
        key = (settings.data_dir / FILE).read_bytes()
        return key if len(key) == _SIZE else None
    return None


def rotate_installation_key(settings: Settings, prepare: Callable[[bytes], object] = lambda _: None) -> None:
    """Replaces the key in `data_dir`. A running gateway keeps the old one until it is restarted, but for the
    allow and deny lists.

    `prepare` gets the new key before it is in place; if it raises, the old one stays. Raises SettingsError if the key
    is not there, or comes from the settings.
    """
    if settings.installation_key is not None:
        raise SettingsError("installation_key: set a new one where the settings come from, then restart the gateway")
    path = settings.data_dir / FILE
    if not path.exists():
        raise SettingsError(f"{FILE} is not in data_dir; the first start of the gateway creates it")
    check_account(path.parent)
    key = token_bytes(_SIZE)
    prepare(key)
    with replacing(path) as draft:
        draft.write(key)
