"""Opens the detection engines of the settings, for commands.

Imports the model's library only when called: most commands do not need it.
"""

from typing import TYPE_CHECKING

from gateway.config.settings import Settings

if TYPE_CHECKING:
    from gateway.detection.engines import Engines


def all_engines(settings: Settings) -> "Engines":
    """Opens the engines. Raises SettingsError if a model cannot be read."""
    from gateway.detection import builtin_detector
    from gateway.workers.detection_engines import open_engines

    return open_engines(settings, builtin_detector())[0]
