"""What the settings have looked for text with, for the commands. Loads nothing until it is called.

The gateway's process is forked from the one that read the command line, and a process with threads of native libraries
must not be forked: their locks stay locked in the child.
"""

from typing import TYPE_CHECKING

from gateway.settings import Settings

if TYPE_CHECKING:
    from gateway.detection.engines import Engines


def all_engines(settings: Settings) -> "Engines":
    """The engines. Raises SettingsError for a model that cannot be read."""
    from gateway.detection import Detector
    from gateway.engines import open_engines

    return open_engines(settings, Detector())[0]
