"""Makes the first operator key. It is shown before it is stored, so that a start that fails cannot lose it."""

from functools import partial
from pathlib import Path
from shlex import quote
from typing import TextIO

from gateway.auth.api_keys import KeyRing
from gateway.config.private_files import on_terminal, write_secret
from gateway.models import Scope

FILE = "operator.key"


async def make_first_key(keys: KeyRing, folder: Path, hints: TextIO) -> None:
    """Makes an operator key and prints it to `hints`; without a terminal, the path of a file in `folder` that has it.

    Raises SettingsError if the file cannot be written, and Unavailable if the key cannot be stored.
    """
    await keys.create("first operator", Scope.OPERATOR, show=partial(_show, folder, hints))


def _show(folder: Path, hints: TextIO, secret: str) -> None:
    if on_terminal():
        lines = ["Your operator key, shown this once:", "", f"  KEY={secret}"]
    else:
        path = folder.resolve() / FILE
        write_secret(path, secret)
        lines = [f"Your operator key is in {path}.", "Move or delete the file once you have stored the key elsewhere."]
        lines += ["", f"  KEY=$(cat {quote(str(path))})"]
    print("\n".join(["", *lines]), file=hints, flush=True)
