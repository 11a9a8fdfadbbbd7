"""What a model surface is, and how the surfaces in this folder are found and chosen.

A module of this folder (or of a folder passed to `discover`) that defines `build(settings) -> Iterable[Surface]` adds
its surfaces. Two surfaces with one id, or two that list one model name, fail at start.
"""

import importlib
import importlib.util
import pkgutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

from gateway.errors import BadRequest, NotFound
from gateway.models import Trust

type Body = dict[str, Any]

CONFIGURED_UPSTREAM = "configured-upstream"
"""The name by which clients mean "the upstream that is configured here", whatever it is called."""

_GLOB = frozenset("*?[")


class Surface(Protocol):
    """Something that answers a protected chat-completions request."""

    @property
    def id(self) -> str:
        """Unique among all surfaces; a client may give it as the model's name."""
        ...

    @property
    def trust(self) -> Trust:
        """Whether it lies inside the company's own trust boundary."""
        ...

    def models(self) -> tuple[str, ...]:
        """Names that mean this surface exactly. The first is the default."""
        ...

    async def complete(self, body: Body) -> Body:
        """The answer to a protected request body. Raises BadUpstream or UpstreamTimeout."""
        ...


@runtime_checkable
class PatternSurface(Surface, Protocol):
    """A surface that also takes models it does not list."""

    def model_for(self, name: str, *, anything: bool = True) -> str | None:
        """The model to ask for there when a client asks for `name`; None when it is not this surface's.

        Without `anything`, a surface that takes every name there is does not count that as taking this one.
        """
        ...


@runtime_checkable
class Closing(Protocol):
    """A surface that holds connections."""

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class UpstreamConfig:
    """One configured provider. `base_url` is what an SDK would be given (`https://host/v1`), without credentials.

    `models` are fnmatch patterns of the model names that go there. `ca_file` is a PEM file of authorities trusted
    besides the well-known ones. The key is in no repr.
    """

    name: str
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    models: tuple[str, ...] = ("*",)
    trust: Trust = Trust.EXTERNAL
    default_model: str | None = None
    timeout_seconds: float = 600.0
    ca_file: Path | None = None

    def endpoint(self, path: str = "chat/completions") -> str:
        """The URL of one of its methods."""
        return f"{self.base_url.rstrip('/')}/{path.lstrip('/')}"

    @property
    def plain_models(self) -> tuple[str, ...]:
        """Those of `models` that are names, not patterns."""
        return tuple(model for model in self.models if not _GLOB & set(model))

    def model_for(self, name: str, *, anything: bool = True) -> str | None:
        """`name` when one of the patterns matches it (`*` only with `anything`), the default model for the upstream's
        own name, else None.

        Without `default_model` the first plain name stands in; without one, the upstream sees its own name and may
        choose, as servers of a single model do.
        """
        if name == self.name:
            return self.default_model or next(iter(self.plain_models), name)
        patterns = [pattern for pattern in self.models if anything or pattern != "*"]
        return name if any(fnmatchcase(name, pattern) for pattern in patterns) else None


class SurfaceRegistry:
    """All surfaces. `default` is the id of the surface for models that nothing else takes, if there is one.

    Raises ValueError for surfaces that share an id or a model name, and for a default that is none of them.
    """

    def __init__(self, surfaces: Iterable[Surface], *, default: str | None = None, created: int | None = None) -> None:
        self._surfaces = tuple(surfaces)
        self._by_id = {surface.id: surface for surface in self._surfaces}
        self._created = int(time.time()) if created is None else created
        if len(self._by_id) < len(self._surfaces):
            raise ValueError("two model surfaces share one id")
        self._exact: dict[str, Surface] = {}
        for surface in self._surfaces:
            for name in {surface.id, *surface.models()}:
                if self._exact.setdefault(name, surface) is not surface:
                    raise ValueError("two model surfaces take one model name")
        if default is not None and default not in self._by_id:
            raise ValueError("the default upstream is none of the surfaces")
        self._patterned = [surface for surface in self._surfaces if isinstance(surface, PatternSurface)]
        self._default = self._by_id[default] if default is not None else None
        self._configured = self._by_id.get(CONFIGURED_UPSTREAM) or self._default
        if self._configured is None and self._patterned:
            self._configured = self._patterned[0]

    @classmethod
    def discover(cls, settings: Any, *extra: Path, default: str | None = None) -> "SurfaceRegistry":
        """The surfaces of every module in this folder and in `extra` folders, built from the settings."""
        modules = list(_own_modules())
        modules += [module for folder in extra for module in _modules_of(folder)]
        found: list[Surface] = []
        for module in modules:
            if hasattr(module, "build"):
                found += module.build(settings)
        return cls(found, default=default if default is not None else getattr(settings, "default_upstream", None))

    @property
    def surfaces(self) -> tuple[Surface, ...]:
        return self._surfaces

    @property
    def local_available(self) -> bool:
        """Whether some surface lies inside the trust boundary."""
        return any(surface.trust is Trust.LOCAL for surface in self._surfaces)

    def resolve(self, model: object) -> tuple[Surface, str]:
        """The surface that a model's name means, and the name to ask it for.

        In this order: an exact name, `configured-upstream`, the patterns of each upstream (`*` after all others), the
        default upstream.
        Raises BadRequest when `model` is no name, NotFound (`model_not_found`) when nobody takes it.
        """
        if not isinstance(model, str) or not model:
            raise BadRequest("`model` must be a non-empty string.", param="model")
        exact = self._exact.get(model)
        if exact is not None:
            return exact, _asked(exact, model)
        if model == CONFIGURED_UPSTREAM and self._configured is not None:
            return self._configured, _asked(self._configured, self._configured.id)
        for anything in (False, True):
            for surface in self._patterned:
                if (name := surface.model_for(model, anything=anything)) is not None:
                    return surface, name
        if self._default is not None:
            return self._default, model
        message = "No surface takes this model; GET /v1/models lists those that are configured."
        raise NotFound(message, code="model_not_found", param="model")

    def model(self, name: str) -> Body:
        """One model of the chat-completions API, listed or taken by a pattern. Raises as `resolve`."""
        surface, _ = self.resolve(name)
        return {"id": name, "object": "model", "created": self._created, "owned_by": _owner(surface.id)}

    def models(self) -> list[Body]:
        """The `data` of the models list of the chat-completions API."""
        names: dict[str, str] = {}
        for surface in self._surfaces:
            names |= dict.fromkeys((surface.id, *surface.models()), surface.id)
        if self._configured is not None:
            names.setdefault(CONFIGURED_UPSTREAM, self._configured.id)
        return [
            {"id": name, "object": "model", "created": self._created, "owned_by": _owner(owner)}
            for name, owner in names.items()
        ]

    async def aclose(self) -> None:
        """Closes the connections of all surfaces."""
        for surface in self._surfaces:
            if isinstance(surface, Closing):
                await surface.aclose()


def _asked(surface: Surface, name: str) -> str:
    if isinstance(surface, PatternSurface):
        return surface.model_for(name) or name
    return name


def _owner(surface: str) -> str:
    return "svc" if surface == "svc-demo" else surface


def _own_modules() -> Iterator[ModuleType]:
    for info in pkgutil.iter_modules([str(Path(__file__).parent)]):
        yield importlib.import_module(f"{__package__}.{info.name}")


def _modules_of(folder: Path) -> Iterator[ModuleType]:
    for info in pkgutil.iter_modules([str(folder)]):
        spec = importlib.util.spec_from_file_location(info.name, folder / f"{info.name}.py")
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            yield module
