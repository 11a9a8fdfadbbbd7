"""Builds the detection engines that the settings ask for."""

from gateway.config.settings import Settings, SettingsError
from gateway.detection.adapters.onnx_folder import onnx_folder
from gateway.detection.adapters.presidio import PresidioService
from gateway.detection.engines import Engine, Engines, Finder
from gateway.detection.ner import BuiltinModel


def open_engines(settings: Settings, patterns: Finder) -> tuple[Engines, str | None]:
    """Returns all engines, and the SHA-256 of the built-in model if the settings enable it.

    Raises SettingsError if the model in `detection_model` cannot be loaded.
    """
    others: list[Engine] = []
    digest = None
    threads, timeout = settings.model_threads, settings.detection_timeout_seconds
    if settings.detection == "full":
        builtin = BuiltinModel(patterns.types, threads=threads, timeout=timeout)
        digest = builtin.hash
        others.append(builtin)
    if settings.detection_model is not None:
        try:
            others.append(onnx_folder(settings.detection_model, patterns.types, threads=threads, timeout=timeout))
        except (OSError, ValueError, RuntimeError) as error:
            reason = str(error) if isinstance(error, ValueError) else "a file in the folder is missing or unreadable"
            raise SettingsError(f"detection_model: {reason}") from error
    if settings.detection_service is not None:
        language = settings.detection_service_language
        others.append(PresidioService(settings.detection_service, language=language, timeout=timeout))
    return Engines(patterns, others), digest
