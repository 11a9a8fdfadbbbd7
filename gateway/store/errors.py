"""The errors that a backend raises besides `gateway.errors.Unavailable`. No message repeats a stored value."""

from gateway.config.settings import SettingsError


class StoreError(SettingsError):
    """The database cannot be used. The message says why and what to do."""


def missing(name: str) -> StoreError:
    """Returns the error for a folder without the database `name`."""
    return StoreError(f"there is no {name} in data_dir; start the gateway once, or name its folder with --data-dir")


class ConstraintViolation(Exception):
    """A row breaks a rule of its table, such as uniqueness. Nothing of the operation was written."""
