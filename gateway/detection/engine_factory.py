"""Builds the detection engines that the settings ask for."""

from gateway.config.settings import Settings, SettingsError
from gateway.detection.adapters.onnx_folder import onnx_folder
from gateway.detection.adapters.presidio import PresidioService
from gateway.detection.engines import Engine, Engines, Finder
from gateway.detection.ner import BuiltinModel, TokenClassifier


def open_engines(settings: Settings, patterns: Finder) -> tuple[Engines, str | None]:
    """Returns all engines, and the SHA-256 of the built-in model if the settings enable it.

    Raises SettingsError if the model in `detection_model` cannot be loaded.
    """
    others: list[Engine] = []
    digest = None
    if settings.detection == "full":
        builtin = BuiltinModel(
            patterns.types, threads=settings.model_threads, timeout=settings.detection_timeout_seconds
        )
        digest = builtin.hash
        others.append(builtin)
    if settings.detection_model is not None:
        others.append(_operator_model(settings, patterns))
    if settings.detection_service is not None:
        others.append(
            PresidioService(
                settings.detection_service,
                language=settings.detection_service_language,
                timeout=settings.detection_timeout_seconds,
            )
        )
    return Engines(patterns, others), digest


def _operator_model(settings: Settings, patterns: Finder) -> TokenClassifier:
    folder = settings.detection_model
    assert folder is not None
    try:
        return onnx_folder(
            folder, patterns.types, threads=settings.model_threads, timeout=settings.detection_timeout_seconds
        )
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error) if isinstance(error, ValueError) else "a file in the folder is missing or unreadable"
        raise SettingsError(f"detection_model: {reason}") from error
