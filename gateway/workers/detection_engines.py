"""Builds the detection engines that the settings ask for."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.config.settings_file import SettingsError
from gateway.detection.engines import Engine, Engines, Finder
from gateway.detection.ner.finder import NameFinder, Reader
from gateway.detection.recognizer import EntityType

if TYPE_CHECKING:
    from gateway.config.settings import Settings


def open_engines(
    settings: "Settings", patterns: Finder, models: Callable[[], Sequence[Reader]] | None = None
) -> tuple[Engines, str | None]:
    """Returns all engines, and the SHA-256 of the built-in model if the settings enable it.

    `models` returns the models of the settings; by default, they are loaded. Raises SettingsError if the model in
    `detection_model` cannot be loaded.
    """
    if models is None:
        readers = load_models(settings.detection == "full", settings.detection_model, patterns.types)
    else:
        readers = models()
    others: list[Engine] = [*map(NameFinder, readers)]
    if settings.detection_service is not None:
        from gateway.detection.adapters.presidio import PresidioService

        language, timeout = settings.detection_service_language, settings.detection_timeout_seconds
        others.append(PresidioService(settings.detection_service, language=language, timeout=timeout))
    return Engines(patterns, others), readers[0].hash if settings.detection == "full" else None


def load_models(full: bool, folder: Path | None, known: Mapping[str, EntityType]) -> Sequence[Reader]:
    """Loads the built-in model if `full`, and that in `folder`. `known` are the other types of entities.

    Raises SettingsError if the latter cannot be loaded.
    """
    models: list[Reader] = []
    if full:
        # Slow to import, and starts threads.
        from gateway.detection.ner.builtin import BuiltinModel

        models.append(BuiltinModel(known))
    if folder is not None:
        from gateway.detection.adapters.onnx_folder import onnx_folder

        try:
            models.append(onnx_folder(folder, known))
        except ValueError as error:
            raise SettingsError(f"detection_model: {error}") from error
    return models
