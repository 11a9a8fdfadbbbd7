"""`run_proxy.py sessions revoke`: ends a session whose token is in the wrong hands.

Only its client can open, continue or extend a session, over the API: that needs the token, which the gateway never
keeps.
"""

import argparse
import asyncio

from gateway.cli.console import AddFolders, Loader, Subparsers, exit_status, print_json
from gateway.cli.store_commands import open_kept_store
from gateway.config.settings import Settings
from gateway.vault import Vault


def add_commands(commands: Subparsers, add_folders: AddFolders, load: Loader) -> None:
    """Registers `sessions`."""
    sessions = commands.add_parser("sessions", help="end sessions of the vault")
    actions = sessions.add_subparsers(title="actions", required=True, metavar="ACTION")
    revoke = actions.add_parser("revoke", help="delete a session and its values, immediately and permanently")
    revoke.add_argument("session_id")
    add_folders(revoke)
    revoke.add_argument("--json", action="store_true", help="print JSON")

    def run(options: argparse.Namespace) -> int:
        return exit_status(lambda: asyncio.run(_revoke(load(options), options)), as_json=options.json)

    revoke.set_defaults(run=run)


async def _revoke(settings: Settings, options: argparse.Namespace) -> int:
    store = open_kept_store(settings.data_dir)
    try:
        await Vault(store).delete(options.session_id)
    finally:
        store.close()
    if options.json:
        print_json({"session_id": options.session_id, "revoked": True})
    else:
        print("The session and its values are deleted.")
    return 0
