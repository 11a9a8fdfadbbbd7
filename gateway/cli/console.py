"""What the commands share: JSON or words on the terminal, progress beside them, and a look at the store."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gateway.config.settings import Settings, SettingsError
from gateway.errors import GatewayError
from gateway.store import ReadOnlyStore, open_read_only

type Loader = Callable[[argparse.Namespace], Settings]
type AddFolders = Callable[[argparse.ArgumentParser], None]
type Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]
type LookAction = Callable[[ReadOnlyStore, Settings, argparse.Namespace], int]


def add_look(
    parser: argparse.ArgumentParser, add_folders: AddFolders, load: Loader, action: LookAction, *, json: bool = True
) -> None:
    """Makes a command of `action`: it reads the store in `data_dir`, also while a gateway runs, and changes nothing.

    Its exit status is what `action` returns; 1 for what is not there, 2 for a store that cannot be read.
    """
    add_folders(parser)
    if json:
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(options: argparse.Namespace) -> int:
        as_json = getattr(options, "json", False)
        try:
            settings = load(options)
            with open_read_only(settings.data_dir) as look:
                return action(look, settings, options)
        except SettingsError as error:
            say_error("; ".join(error.problems), "unusable_settings", None, as_json=as_json)
            return 2
        except GatewayError as error:
            say_error(error.message, error.code, error.param, as_json=as_json)
        except BrokenPipeError:
            # Whoever read our output has seen enough; the interpreter is not to complain of it when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            say_error(f"{error.filename}: {error.strerror}", "unwritable", None, as_json=as_json)
        return 1

    parser.set_defaults(run=run)


def print_json(value: Any) -> None:
    """To standard output, for people too."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def say_error(message: str, code: str, param: str | None, *, as_json: bool) -> None:
    """In words to standard error, or as JSON to standard output."""
    if as_json:
        print_json({"ok": False, "error": {"code": code, "message": message, "param": param}})
    else:
        sys.stderr.write(message + "\n")


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error that goes when it is done; none where that is no terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda count: bar.advance(task, count)
