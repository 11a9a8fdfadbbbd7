"""Prints output and errors for the commands. Every command loads this module, so it loads little."""

import argparse
import json
import os
import sys
from codecs import lookup
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EBADF, EDQUOT, EFBIG, ENOSPC, EPIPE
from getpass import getpass
from pathlib import Path
from typing import Any

from gateway.config.settings import Settings, SettingsError
from gateway.errors import BadRequest, NotFound, Unprocessable

type Action = Callable[[Settings, argparse.Namespace], int]
type Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_LARGEST_PAGE = 500
_UNWRITABLE = frozenset({EBADF, EDQUOT, EFBIG, ENOSPC, EPIPE})


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The parser of all commands. `add_folders` adds the options from which `load` makes the settings."""

    commands: Subparsers
    add_folders: Callable[[argparse.ArgumentParser], None]
    load: Callable[[argparse.Namespace], Settings]

    def add_group(self, name: str, help: str) -> Subparsers:
        """Adds a command that has actions, and returns what to add these to."""
        parser = self.commands.add_parser(name, help=help)
        return parser.add_subparsers(title="actions", required=True, metavar="ACTION")

    def finish(self, parser: argparse.ArgumentParser, action: Action, *, json: bool = True) -> None:
        """Adds the options that all commands have, `--json` unless it is unknown to `action`, which `parser` runs."""
        self.add_folders(parser)
        if json:
            parser.add_argument("--json", action="store_true", help="print JSON")
        parser.set_defaults(run=lambda options: action(self.load(options), options))


class Misused(Exception):
    """An argument that cannot be used. Unlike that of other failures, the exit status is 2."""

    def __init__(self, message: str, code: str, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.param = param


@contextmanager
def argument() -> Iterator[None]:
    """Takes what the block refuses, or does not find, for an argument that cannot be used. Raises Misused."""
    try:
        yield
    except (BadRequest, NotFound, Unprocessable) as error:
        raise Misused(error.message, error.code, error.param) from None


def integer_between(least: int, most: int) -> Callable[[str], int]:
    """Returns the type of an argument that is an integer in these bounds, inclusive."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least} to {most}")
        return value

    return number


def utf8_text(given: str) -> str:
    """The type of an argument that is a text. It is UTF-8, whatever the locale says."""
    try:
        return os.fsencode(given).decode()
    except UnicodeError:
        raise argparse.ArgumentTypeError("must be UTF-8 text") from None


def read_stdin(param: str) -> str:
    """Reads a text from standard input, which is empty if it is closed. Raises BadRequest if it is not UTF-8."""
    try:
        return sys.stdin.buffer.read().decode() if sys.stdin is not None else ""
    except UnicodeDecodeError:
        raise BadRequest(f"The {param} must be UTF-8 text.", param=param) from None


def read_text(file: str, param: str, most: int = -1) -> str:
    """Reads a text file, or a text from standard input for `-`. Raises BadRequest if it is not UTF-8, and OSError.

    `most` bounds the bytes that are read of a file.
    """
    if file == "-":
        return read_stdin(param)
    with Path(file).open("rb") as source:
        content = source.read(most)
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise BadRequest("The file is not UTF-8 text.", param="file") from None


def read_hidden(name: str, longest: int) -> str:
    """Reads a value from the terminal, which does not show it, or from standard input. Raises BadRequest."""
    try:
        is_terminal = sys.stdin is not None and sys.stdin.isatty()
        value = getpass(f"{name.capitalize()}: ") if is_terminal else read_stdin(name)
    except EOFError:
        value = ""
    value = value.rstrip("\r\n")
    if not 0 < len(value) <= longest:
        raise BadRequest(f"Give the {name} on standard input; it has at most {longest} characters.", param=name)
    return value


def add_page(parser: argparse.ArgumentParser, default: int) -> None:
    """Adds `--limit` and `--offset` to a command that lists the newest entries first."""
    limit, offset = integer_between(1, _LARGEST_PAGE), integer_between(0, 2**53)
    parser.add_argument("--limit", type=limit, default=default, metavar="N", help=f"default: {default}")
    parser.add_argument("--offset", type=offset, default=0, metavar="N", help="skip the newest N")


def print_json(value: Any) -> None:
    """Writes indented JSON to standard output, with JSON's escapes if that is not UTF-8."""
    escaped = lookup(sys.stdout.encoding or "utf-8").name != "utf-8"
    sys.stdout.write(json.dumps(value, ensure_ascii=escaped, indent=2) + "\n")


def report(options: argparse.Namespace, value: Any, text: str) -> int:
    """Prints what a command did: `value` if JSON is asked for, else `text`. Returns 0, the exit status of success."""
    if options.json:
        print_json(value)
    else:
        print(text)
    return 0


def print_error(message: str, code: str, param: str | None, *, as_json: bool) -> None:
    """Writes an error to standard error as text, or to standard output as JSON."""
    if as_json:
        print_json({"ok": False, "error": {"code": code, "message": message, "param": param}})
    else:
        sys.stderr.write(message + "\n")


def flush_streams() -> None:
    """Writes what is buffered before another program uses the streams. One that was closed before the start is None."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def flush_output() -> None:
    """Writes what is buffered, since it is too late to tell when the interpreter ends. Raises OSError."""
    if sys.stdout is None:
        # It was closed before the start; `print` says nothing then.
        raise OSError(EBADF, os.strerror(EBADF))
    sys.stdout.flush()


def unreadable(error: OSError, *, as_json: bool) -> int:
    """Prints which file cannot be read or written. Returns the exit status of that.

    Raises the error again if it names no file. Those of `replacing` do, so it is about standard output.
    """
    if error.filename is None:
        raise error
    writing = error.errno in _UNWRITABLE
    code = "unwritable" if writing else "unreadable"
    print_error(f"{error.filename}: {error.strerror}", code, None, as_json=as_json)
    return 1 if writing else 2


def unwritable(error: OSError) -> int:
    """Prints why standard output cannot be written. Returns the exit status of that.

    Raises the error again if it is of another kind.
    """
    if error.filename is not None or error.errno not in _UNWRITABLE:
        raise error
    if sys.stdout is not None:
        # Keeps the interpreter from trying once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    notes = getattr(error, "__notes__", ())
    # A reader that closes its pipe, as `head` does, has read what it wants.
    if notes or error.errno != EPIPE:
        sys.stderr.write("; ".join((f"standard output: {error.strerror}", *notes)) + "\n")
    return 1


def unusable(error: SettingsError, *, as_json: bool) -> int:
    """Prints why the settings cannot be used. Returns the exit status of that."""
    problems = "; ".join(error.problems) if as_json else "\n".join(("Cannot run:", *error.problems))
    print_error(problems, "unusable_settings", None, as_json=as_json)
    return 2
