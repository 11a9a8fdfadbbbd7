"""Everything that depends on mitmproxy's internals. Each module names the version that it was checked with.

Addons that use only mitmproxy's documented interface are in `addons`.
"""

import logging
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

_log = logging.getLogger(__name__)


def checked_with() -> dict[str, str]:
    """Returns the version of mitmproxy that each module of this package was checked with."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    return {name: import_module(f"{__name__}.{name}").CHECKED_WITH for name in names}


def warn_of_another_version() -> None:
    """Logs a warning if the installed mitmproxy is not the version that the patches were checked with."""
    installed = version("mitmproxy")
    others = {name: known for name, known in checked_with().items() if known != installed}
    if others:
        _log.warning(
            "mitmproxy %s is installed, but these modules of addons/patches were checked with another version: %s. "
            "Install mitmproxy %s, or run the tests and set CHECKED_WITH.",
            installed,
            ", ".join(sorted(others)),
            max(others.values()),
        )
