"""`run_proxy.py sessions revoke`: ends a session whose token is in the wrong hands.

Only its client can open, continue or extend a session, over the API: that needs the token, which the gateway never
keeps.
"""

import argparse
import asyncio
from contextlib import closing

from gateway.cli.console import CommandLine, report
from gateway.cli.store_commands import open_kept_store
from gateway.config.settings import Settings
from gateway.vault import Vault


def add_commands(line: CommandLine) -> None:
    """Registers `sessions`."""
    actions = line.add_group("sessions", "end sessions of the vault")
    revoke = actions.add_parser("revoke", help="delete a session and its values, immediately and permanently")
    revoke.add_argument("session_id")
    line.finish(revoke, _revoke)


def _revoke(settings: Settings, options: argparse.Namespace) -> int:
    with closing(open_kept_store(settings)) as store:
        asyncio.run(Vault(store).delete(options.session_id))
    revoked = {"session_id": options.session_id, "revoked": True}
    return report(options, revoked, "The session and its values are deleted.")
