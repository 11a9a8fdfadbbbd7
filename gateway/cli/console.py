"""Prints output and errors for the commands. Every command loads this module, so it loads little."""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from gateway.config.settings import Settings, SettingsError
from gateway.errors import GatewayError

type Loader = Callable[[argparse.Namespace], Settings]
type AddFolders = Callable[[argparse.ArgumentParser], None]
type Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def print_json(value: Any) -> None:
    """Writes indented JSON to standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def print_error(message: str, code: str, param: str | None, *, as_json: bool) -> None:
    """Writes an error to standard error as text, or to standard output as JSON."""
    if as_json:
        print_json({"ok": False, "error": {"code": code, "message": message, "param": param}})
    else:
        sys.stderr.write(message + "\n")


def exit_status(action: Callable[[], int], *, as_json: bool) -> int:
    """Returns the exit status of `action`; after printing its error 1, or 2 for unusable settings."""
    try:
        return action()
    except SettingsError as error:
        print_error("; ".join(error.problems), "unusable_settings", None, as_json=as_json)
        return 2
    except GatewayError as error:
        print_error(error.message, error.code, error.param, as_json=as_json)
        return 1
