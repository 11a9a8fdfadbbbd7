"""The ways to find private text that the settings ask for, put together."""

from gateway.config.settings import Settings, SettingsError
from gateway.detection.adapters.onnx_folder import onnx_folder
from gateway.detection.adapters.presidio import PresidioService
from gateway.detection.engines import Engine, Engines, Finder
from gateway.detection.ner import NameFinder, TokenClassifier


def open_engines(settings: Settings, patterns: Finder) -> tuple[Engines, str | None]:
    """All of them, and the SHA-256 of the model that comes with the gateway, if it is asked.

    Raises SettingsError for a model of the operator's own that cannot be read.
    """
    others: list[Engine] = []
    digest = None
    if settings.detection == "full":
        names = NameFinder(patterns.types, threads=settings.model_threads, timeout=settings.detection_timeout_seconds)
        digest = names.hash
        others.append(names)
    if settings.detection_model is not None:
        others.append(_own_model(settings, patterns))
    if settings.detection_service is not None:
        others.append(
            PresidioService(
                settings.detection_service,
                language=settings.detection_service_language,
                timeout=settings.detection_timeout_seconds,
            )
        )
    return Engines(patterns, others), digest


def _own_model(settings: Settings, patterns: Finder) -> TokenClassifier:
    folder = settings.detection_model
    assert folder is not None
    try:
        return onnx_folder(
            folder, patterns.types, threads=settings.model_threads, timeout=settings.detection_timeout_seconds
        )
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error) if isinstance(error, ValueError) else "a file of it cannot be read"
        raise SettingsError(f"detection_model: {reason}") from error
