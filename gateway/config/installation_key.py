"""The installation's key: what the placeholders of chats are derived from."""

import os
from contextlib import suppress
from secrets import token_bytes
from tempfile import NamedTemporaryFile

from gateway.config.settings import Settings, SettingsError

FILE = "installation.key"
_SIZE = 32


def installation_key(settings: Settings, *, used: bool = False) -> bytes:
    """The key from the settings, else from `data_dir`, where the first start puts 32 random bytes (0600).

    Several processes may start at once; all of them get the same key. `used` says that work was done with it already.
    Raises SettingsError when the file is damaged, or missing although it was used. It is not replaced: a new key would
    silently cut earlier conversations off.
    """
    if settings.installation_key is not None:
        return settings.installation_key.get_secret_value().encode()
    path = settings.make_data_dir() / FILE
    if not path.exists():
        if used:
            raise SettingsError(
                f"{FILE} in data_dir is missing, and earlier conversations depend on it; restore it from the backup "
                f"(or write {_SIZE} random bytes into it to cut them off), or start with another `--data-dir DIR`"
            )
        # Written aside and linked into place, so that nobody ever reads half a key, and the first link wins.
        with NamedTemporaryFile(dir=path.parent, prefix=FILE) as draft, suppress(FileExistsError):
            draft.write(token_bytes(_SIZE))
            draft.flush()
            os.fsync(draft.fileno())
            path.hardlink_to(draft.name)
    key = path.read_bytes()
    if len(key) != _SIZE:
        raise SettingsError(f"{FILE} in data_dir is damaged: it must hold {_SIZE} bytes; restore it from a backup")
    return key
