"""Defines the interface of a model surface, discovers surfaces and selects one for a model's name.

A module of this folder (or of a folder passed to `discover`) that defines `build(settings) -> Iterable[Surface]` adds
its surfaces. Two surfaces with the same id, or that list the same model name, fail at startup.
"""

import time
from abc import ABC, abstractmethod
from asyncio import gather
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gateway.config.settings import CONFIGURED_UPSTREAM, Settings
from gateway.detection.plugins import plugin_modules
from gateway.errors import BadRequest, NotFound
from gateway.http.aws_signing import AwsSigner
from gateway.models import Family, Trust

type Body = dict[str, Any]


class Surface(ABC):
    """Something that answers protected requests. The defaults are those of one that serves only models it lists."""

    id: str
    """The unique id, which clients may use as a model name."""
    trust: Trust
    """Whether it is inside the company's own trust boundary."""
    family: Family = "openai"
    """The API whose calls it answers."""
    signer: AwsSigner | None = None
    """The AWS credentials that sign its requests, if they are signed."""
    origin: str = ""
    """The scheme, host and port of its API."""
    has_patterns = False
    """Whether it also serves models it does not list."""

    @abstractmethod
    def models(self) -> tuple[str, ...]:
        """Returns the model names of this surface. The first is the default."""

    @abstractmethod
    async def complete(self, body: Body) -> Body:
        """Returns the answer to a protected request body. Raises BadUpstream or UpstreamTimeout."""

    def model_for(self, name: str, *, anything: bool = True) -> str | None:
        """Returns the model to request for `name`; None if no pattern of this surface matches it.

        Ignores the pattern `*` unless `anything` is true.
        """
        return None

    async def listed(self) -> tuple[str, ...]:
        """Returns the names of more models that it lists when asked; none if it does not answer."""
        return ()

    async def aclose(self) -> None:
        """Closes its connections."""
        return


class SurfaceRegistry:
    """All surfaces. `default` is the id of the surface for models that no other surface serves, if there is one.

    Raises ValueError if surfaces share an id or a model name, or if none has the id `default`.
    """

    def __init__(self, surfaces: Iterable[Surface], *, default: str | None = None, created: int | None = None) -> None:
        self._surfaces = tuple(surfaces)
        self._by_id = {surface.id: surface for surface in self._surfaces}
        self._created = int(time.time()) if created is None else created
        if len(self._by_id) < len(self._surfaces):
            raise ValueError("two model surfaces have the same id")
        self._exact: dict[str, Surface] = {}
        for surface in self._surfaces:
            for name in {surface.id, *surface.models()}:
                if self._exact.setdefault(name, surface) is not surface:
                    raise ValueError("two model surfaces list the same model name")
        if default is not None and default not in self._by_id:
            raise ValueError("no surface has the name of the default upstream")
        self._patterned = [surface for surface in self._surfaces if surface.has_patterns]
        self._default = self._by_id[default] if default is not None else None
        self._configured = self._by_id.get(CONFIGURED_UPSTREAM) or self._default
        if self._configured is None and self._patterned:
            self._configured = self._patterned[0]

    @classmethod
    def discover(cls, settings: Settings, *extra: Path) -> "SurfaceRegistry":
        """Builds the surfaces of every module in this folder and in `extra` folders from the settings."""
        modules = plugin_modules("gateway.surfaces", extra)
        found = [surface for module in modules if hasattr(module, "build") for surface in module.build(settings)]
        return cls(found, default=settings.default_upstream)

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        return self._surfaces

    @property
    def local_available(self) -> bool:
        """Whether any surface is inside the trust boundary."""
        return any(surface.trust is Trust.LOCAL for surface in self._surfaces)

    def named(self, surface_id: str) -> Surface:
        """Returns the surface with an id."""
        return self._by_id[surface_id]

    def signing_at(self, origin: str) -> Surface | None:
        """Returns the surface at an origin whose requests are signed. `origin` is a scheme, a host and a port."""
        signing = (each for each in self._surfaces if each.signer is not None)
        return next((each for each in signing if each.origin == origin.lower()), None)

    @property
    def signs(self) -> bool:
        """Whether requests to any surface are signed."""
        return any(each.signer is not None for each in self._surfaces)

    def resolve(self, model: object, family: Family = "openai") -> tuple[Surface, str]:
        """Returns the surface of a family for a model's name, and the name to request from it.

        Tries an exact name, `configured-upstream`, the patterns of each upstream (`*` last), and the default upstream.
        Raises BadRequest if `model` is not a name, NotFound (`model_not_found`) if no surface serves it.
        """
        if not isinstance(model, str) or not model:
            raise BadRequest("`model` must be a non-empty string.", param="model")
        exact = self._exact.get(model)
        if exact is not None and exact.family == family:
            return exact, exact.model_for(model) or model
        patterned = [surface for surface in self._patterned if surface.family == family]
        if model == CONFIGURED_UPSTREAM:
            first = next((each for each in (self._configured, *patterned) if each and each.family == family), None)
            if first is not None:
                return first, first.model_for(first.id) or first.id
        for anything in (False, True):
            for surface in patterned:
                if (name := surface.model_for(model, anything=anything)) is not None:
                    return surface, name
        if self._default is not None and self._default.family == family:
            return self._default, model
        message = "No surface serves this model; GET /v1/models lists the available ones."
        if family != "openai" and not patterned:
            message = f'No upstream speaks this API; the operator adds one with `wire = "{family}"` in the settings.'
        raise NotFound(message, code="model_not_found", param="model")

    def model(self, name: str, family: Family = "openai") -> Body:
        """Returns a model object of the OpenAI API, for listed names and patterns. Raises like `resolve`."""
        surface, _ = self.resolve(name, family)
        return {"id": name, "object": "model", "created": self._created, "owned_by": _owner(surface.id)}

    async def models(self, family: Family | None = None) -> list[Body]:
        """Returns model objects of the OpenAI API: of all surfaces or of a family's, with what upstreams list."""
        names: dict[str, str] = {}
        surfaces = [surface for surface in self._surfaces if family is None or surface.family == family]
        for surface in surfaces:
            names |= dict.fromkeys((surface.id, *surface.models()), surface.id)
        for surface, listed in zip(surfaces, await gather(*(each.listed() for each in surfaces)), strict=True):
            for name in listed:
                names.setdefault(name, surface.id)
        if self._configured is not None and self._configured in surfaces:
            names.setdefault(CONFIGURED_UPSTREAM, self._configured.id)
        return [
            {"id": name, "object": "model", "created": self._created, "owned_by": _owner(owner)}
            for name, owner in names.items()
        ]

    async def aclose(self) -> None:
        """Closes the connections of all surfaces."""
        for surface in self._surfaces:
            await surface.aclose()


def _owner(surface: str) -> str:
    return "svc" if surface == "svc-demo" else surface
