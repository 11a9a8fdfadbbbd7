"""Reads policy files (TOML or JSON) strictly and with a size limit."""

import tomllib
from pathlib import Path
from typing import Any

from gateway.errors import GatewayError, TooLarge, Unprocessable
from gateway.http.strict_json import parse_object
from gateway.policy.document import MAX_BYTES

_SUFFIXES = frozenset({".toml", ".json"})


def read_policy_file(path: Path) -> dict[str, Any]:
    """Reads the document in a `.toml` or `.json` file without validating it.

    Raises GatewayError with a message that starts with the file's name, or OSError if the file cannot be read.
    """
    try:
        return _read(path)
    except GatewayError as error:
        raise type(error)(f"{path.name}: {error.message}", code=error.code, param=error.param) from None


def _read(path: Path) -> dict[str, Any]:
    if path.suffix not in _SUFFIXES:
        raise Unprocessable("The name of a policy file must end in .toml or .json.")
    if path.stat().st_size > MAX_BYTES:
        raise TooLarge(f"The policy is larger than {MAX_BYTES // 1024} KiB.")
    data = path.read_bytes()
    if path.suffix == ".json":
        return dict(parse_object(data))
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise Unprocessable("The file is not valid UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        # The parser's message may quote the file, so report only the position.
        place = str(error).rpartition("(at ")[2].rstrip(")")
        raise Unprocessable(f"The file is not valid TOML (at {place}).") from None
    except RecursionError:
        raise Unprocessable("The file is nested too deeply.") from None
