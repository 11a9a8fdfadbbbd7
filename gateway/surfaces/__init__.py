"""Model surfaces: who can answer a protected request. One file each; discovery finds it.

Surface          what every surface can do
SurfaceRegistry  all configured surfaces, and which of them serves a model name
DemoSurface      `svc-demo`, built in and deterministic
UpstreamSurface  a configured provider, reached over HTTP

How a request of a protocol is read is for `gateway.wires`.
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
