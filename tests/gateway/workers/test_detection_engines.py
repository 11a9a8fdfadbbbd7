"""The engines of the settings."""

from pathlib import Path
from typing import Any

import pytest

from gateway.config.settings import Settings, SettingsError
from gateway.detection import builtin_detector
from gateway.workers.detection_engines import open_engines


@pytest.mark.parametrize(
    ("changes", "engines", "has_names"),
    [
        ({"detection": "patterns"}, 1, False),
        ({"detection": "full"}, 2, True),
        ({"detection": "patterns", "detection_service": "http://127.0.0.1:1"}, 2, False),
    ],
)
def test_the_settings_say_which_engines_are_used(changes: dict[str, Any], engines: int, has_names: bool) -> None:
    opened, digest = open_engines(Settings(**changes), builtin_detector())
    assert len(opened.version.split("_")) == engines
    assert (digest is not None) is has_names
    opened.close()


def test_a_model_that_cannot_be_loaded_is_a_problem_of_its_setting(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^detection_model: a file in the folder is missing or unreadable$"):
        open_engines(Settings(detection="patterns", detection_model=tmp_path), builtin_detector())
