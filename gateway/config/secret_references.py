"""Reads secrets from where a setting says they are: `file:PATH` or `env:NAME`."""

import os
import re
from pathlib import Path

_REFERENCE = re.compile(r"(file|env):(.+)", re.DOTALL)


def is_reference(value: object) -> bool:
    """Tells whether a setting says where a secret is, instead of being the secret."""
    return isinstance(value, str) and _REFERENCE.fullmatch(value) is not None


def referenced_file(value: str) -> Path | None:
    """Returns the file that a reference names, if any."""
    match = _REFERENCE.fullmatch(value)
    return Path(match[2]) if match is not None and match[1] == "file" else None


def resolve(value: object) -> object:
    """Returns the secret that a reference leads to, without the line break at its end; any other value unchanged.

    Raises ValueError, whose message does not repeat the reference.
    """
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return value
    if match[1] == "env":
        secret = os.environ.get(match[2], "")
    else:
        try:
            secret = Path(match[2]).read_text(encoding="utf-8")
        except OSError as error:
            raise ValueError(f"the file that it refers to cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ValueError("the file that it refers to is not text in UTF-8") from None
    if not (secret := secret.rstrip("\r\n")):
        raise ValueError(f"the {'variable' if match[1] == 'env' else 'file'} that it refers to is empty or not set")
    return secret


def header_secret(secret: str) -> str:
    """Returns a secret for a header without the line break at its end, which mounted secrets often have.

    Raises ValueError if a header cannot hold it: a line break would start another header, or the body.
    """
    secret = secret.rstrip("\r\n")
    if not (secret and secret.isascii() and secret.isprintable()):
        raise ValueError("a header cannot hold this key; write it in printable ASCII characters, without line breaks")
    return secret
