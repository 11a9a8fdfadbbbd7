"""Model surfaces: who can answer a protected request. One file a kind in this folder; discovery finds it.

Surface          what every surface can do
SurfaceRegistry  all surfaces there are, and which of them a model's name means
DemoSurface      `svc-demo`, built in and deterministic
UpstreamSurface  a configured provider, reached over HTTP
"""

from gateway.surfaces.base import (
    CONFIGURED_UPSTREAM,
    PatternSurface,
    Surface,
    SurfaceRegistry,
    UpstreamConfig,
)
from gateway.surfaces.demo import DemoSurface
from gateway.surfaces.upstream import UpstreamReply, UpstreamSurface

__all__ = [
    "CONFIGURED_UPSTREAM",
    "DemoSurface",
    "PatternSurface",
    "Surface",
    "SurfaceRegistry",
    "UpstreamConfig",
    "UpstreamReply",
    "UpstreamSurface",
]
