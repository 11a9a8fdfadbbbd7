"""mitmweb's replay button, answered: a replayed request has no caller and no key, so none is sent."""

import logging
from collections.abc import Sequence

from mitmproxy import command, flow

_log = logging.getLogger(__name__)


class NoReplay:
    """Stands where mitmproxy's own replaying would."""

    @command.command("replay.client")  # type: ignore[untyped-decorator]
    def replay(self, flows: Sequence[flow.Flow]) -> None:
        """Sends nothing, and says so in the event log."""
        _log.warning("%d not replayed: the gateway sends only what a client asked for; ask the client", len(flows))
