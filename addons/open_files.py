"""The operating system's limit on open files, which bounds the number of connections."""

import logging
import sys
from contextlib import suppress

_log = logging.getLogger(__name__)

# For listeners, files, mitmweb and libraries.
_RESERVED = 128
# A single client may open as many.
_FEW = 16

if sys.platform == "win32":

    def affordable_connections(wanted: int) -> int:
        """Returns `wanted`: Windows has no such limit."""
        return wanted

else:
    import resource

    def affordable_connections(wanted: int) -> int:
        """Raises the soft limit to the hard one. Returns how many connections fit, each with one to an upstream."""
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):
            # macOS reports "infinity" and accepts less.
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft == resource.RLIM_INFINITY:
            return wanted
        fitting = max(1, (soft - _RESERVED) // 2)
        if fitting < wanted:
            _log.log(
                logging.ERROR if fitting < _FEW else logging.WARNING,
                "max_connections: only %d of %d fit below the limit of %d open files%s; raise the hard limit",
                fitting,
                wanted,
                soft,
                ", so clients will lose their connections to each other" if fitting < _FEW else "",
            )
        return min(wanted, fitting)
