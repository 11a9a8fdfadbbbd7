"""Defines and discovers model surfaces, which answer protected requests. Each file defines one kind.

Surface          what every surface can do
SurfaceRegistry  all configured surfaces, and which of them serves a model name
DemoSurface      `svc-demo`, built in and deterministic
UpstreamSurface  a configured provider, reached over HTTP

`gateway.wires` parses the requests of a protocol.
"""

from gateway.surfaces.base import (
    Surface,
    SurfaceRegistry,
    UpstreamConfig,
)
from gateway.surfaces.demo import DemoSurface
from gateway.surfaces.upstream import UpstreamSurface

__all__ = [
    "DemoSurface",
    "Surface",
    "SurfaceRegistry",
    "UpstreamConfig",
    "UpstreamSurface",
]
