"""Divides a text into protected compartments for separate processing, and describes how to join the results.

    shard            text, findings and a session key -> compartments, outline, values
    rejoin           the protected text as a whole
    compartment_key  the placeholder key of one compartment

In order of use: `units` (where the text may be divided), `assignment` (which part goes where), `splitter` (protects and
builds), `outline`. Segmentation itself is `gateway.sharding.segmentation`; docs/sharding.md states the leak model.
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
