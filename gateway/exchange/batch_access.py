"""The facts about a call on a batch: its caller and its destination."""

from collections.abc import Callable
from dataclasses import dataclass

from gateway.wires.batches import BatchCall


@dataclass(slots=True)
class BatchAccess:
    """The facts that a call on a batch has besides those of its exchange.

    `secret` is derived from the credential that the call was sent with, and opens the sessions of its batches. With
    `shared`, the upstream gets a credential that other callers use, too, so that the batches of each have to be kept
    apart. `serve` returns the surface that serves a model, and the model's name there. A batch is remembered for
    `hours`, with at most `values` values.
    """

    call: BatchCall
    secret: bytes
    hours: int
    values: int
    shared: bool = False
    serve: Callable[[object], tuple[str, str]] | None = None
