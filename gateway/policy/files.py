"""Reads policies in TOML, and files of policies (TOML or JSON), strictly and with a size limit."""

import tomllib
from pathlib import Path
from typing import Any

from gateway.errors import GatewayError, TooLarge, Unprocessable
from gateway.http.strict_json import parse_object
from gateway.policy.document import MAX_BYTES

_TOO_LARGE = f"The policy is larger than {MAX_BYTES // 1024} KiB."
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
        raise TooLarge(_TOO_LARGE)
    data = path.read_bytes()
    return dict(parse_object(data)) if path.suffix == ".json" else parse_toml(data)


def parse_toml(data: bytes, what: str = "file") -> dict[str, Any]:
    """Parses a policy in TOML without validating it. Raises Unprocessable and TooLarge, in which `what` is named."""
    if len(data) > MAX_BYTES:
        raise TooLarge(_TOO_LARGE)
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise Unprocessable(f"The {what} is not valid UTF-8.") from None
    except ValueError as error:
        # The parser's message may quote the file, so report only the position. A number that is too long has none.
        _, found, place = str(error).rpartition(" (at ")
        raise Unprocessable(f"The {what} is not valid TOML{found}{place if found else ''}.") from None
    except RecursionError:
        raise Unprocessable(f"The {what} is nested too deeply.") from None
