"""Queries a Presidio analyzer, or any service with the same interface.

`POST {url}/analyze` with `{text, language}` returns a list of `{entity_type, start, end, score}`, offsets in code
points (Microsoft Presidio, analyzer REST API).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

import httpx
import orjson
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from gateway.detection.engines import Finder
from gateway.detection.job_context import waits_long
from gateway.detection.recognizer import EntityType
from gateway.errors import Unavailable
from gateway.models import Entity

_MAX_BYTES = 16 << 20


class _PresidioFinding(BaseModel):
    entity_type: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")]
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=1)]
    score: Annotated[float, Field(ge=0, le=1)]


_RESPONSE = TypeAdapter(list[_PresidioFinding])


class PresidioService(Finder):
    """Sends every text to the service. Thread-safe. Policies match a finding's type by name, or else as `custom`."""

    types: Mapping[str, EntityType] = MappingProxyType({})

    def __init__(self, url: str, *, language: str = "en", timeout: float = 5.0) -> None:
        self.version = "presidio"
        self._url = f"{url.rstrip('/')}/analyze"
        self._language = language
        # Ignores the environment: a proxy configured there would receive the texts.
        self._client = httpx.Client(timeout=timeout, trust_env=False, follow_redirects=False)

    def close(self) -> None:
        self._client.close()

    def detect(self, text: str) -> tuple[Entity, ...]:
        """Returns the service's findings, sorted. Blocks.

        Raises Unavailable (`detection_failed`, `detection_timeout`) unless the service returns a valid response.
        """
        if not text or text.isspace():
            return ()
        content = orjson.dumps({"text": text, "language": self._language})
        waits_long()
        try:
            response = self._client.post(self._url, content=content, headers={"content-type": "application/json"})
        except httpx.TimeoutException:
            raise Unavailable(
                "Detection took too long; nothing was sent. Try a shorter text.",
                code="detection_timeout",
                retry_after=1,
            ) from None
        except httpx.HTTPError:
            raise _failed() from None
        if response.status_code != 200 or len(response.content) > _MAX_BYTES:
            raise _failed()
        try:
            findings = _RESPONSE.validate_json(response.content, strict=False)
        except ValidationError:
            raise _failed() from None
        if any(not one.start < one.end <= len(text) for one in findings):
            raise _failed()
        found = [Entity(one.entity_type, one.start, one.end, one.score, "presidio") for one in findings]
        return tuple(sorted(found, key=lambda one: (one.start, -one.end, one.type)))


def _failed() -> Unavailable:
    return Unavailable(
        "Detection failed; nothing was sent. Check the service in detection_service.", code="detection_failed"
    )
