"""The system's limit of open files, which bounds how many connections there can be."""

import logging
import sys
from contextlib import suppress

_log = logging.getLogger(__name__)

# For listeners, files, mitmweb and what libraries open.
_RESERVED = 128

if sys.platform == "win32":

    def affordable_connections(wanted: int) -> int:
        """As many as wanted: there is no such limit."""
        return wanted

else:
    import resource

    def affordable_connections(wanted: int) -> int:
        """Raises the limit to the hard one; returns how many connections fit below it, each with one to an upstream."""
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):
            # macOS says "infinity" and takes less.
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY:
            return wanted
        fitting = max(1, (soft - _RESERVED) // 2)
        if fitting < wanted:
            _log.warning(
                "max_connections: only %d of %d fit below the limit of %d open files; raise the hard limit",
                fitting,
                wanted,
                soft,
            )
        return min(wanted, fitting)
