"""Disables mitmweb's replay button: a replayed request would have no caller and no key."""

import logging
from collections.abc import Sequence

from mitmproxy import command, flow

_log = logging.getLogger(__name__)


class NoReplay:
    """Takes the place of mitmproxy's own replay command."""

    @command.command("replay.client")  # type: ignore[untyped-decorator]
    def replay(self, flows: Sequence[flow.Flow]) -> None:
        """Sends nothing and logs a warning."""
        _log.warning("%d not replayed: the gateway sends only what a client asked for; ask the client", len(flows))
