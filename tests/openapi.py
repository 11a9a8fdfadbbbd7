"""Reads the OpenAPI document."""

from typing import Any

from gateway.api.openapi import PROVIDER


def native(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns the paths without the calls of providers' APIs."""
    paths = {
        path: {method: each for method, each in methods.items() if PROVIDER not in each}
        for path, methods in document["paths"].items()
    }
    return {path: methods for path, methods in paths.items() if methods}
