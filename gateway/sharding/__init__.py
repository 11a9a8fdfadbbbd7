"""Divides a text into protected compartments that can be worked on apart, and says how to put the results together.

    shard            text, findings and a session key -> compartments, outline, values
    rejoin           the protected text as a whole again
    compartment_key  the placeholder key of one compartment

In the order of work: `units` (where the text may be cut), `spread` (which part goes where), `shards` (protect and
build), `outline`. The leak model is stated in docs/sharding.md.
"""

from gateway.sharding.outline import Heading, Outline, Piece, rejoin
from gateway.sharding.splitter import (
    DEFAULT_BOUND,
    LEAST_COMPARTMENTS,
    MOST_COMPARTMENTS,
    Compartment,
    Sharded,
    compartment_key,
    shard,
)

__all__ = [
    "DEFAULT_BOUND",
    "LEAST_COMPARTMENTS",
    "MOST_COMPARTMENTS",
    "Compartment",
    "Heading",
    "Outline",
    "Piece",
    "Sharded",
    "compartment_key",
    "rejoin",
    "shard",
]
