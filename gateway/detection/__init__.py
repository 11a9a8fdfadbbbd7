"""Finds entities: which spans of a text look private, of what type, and with what confidence.

    Detector          runs every recognizer over a text
    builtin_detector  the detector with the built-in recognizers, built once per process
    resolve_overlaps  merges overlapping candidates into disjoint spans
    EntityType        a type of entity, its group and description

Pure and thread-safe: no I/O after construction, and no text is kept. `gateway.policy` decides what happens to an
entity, and `gateway.protection` does it. See docs/detection.md.
"""

from gateway.detection.detector import Detector, builtin_detector
from gateway.detection.overlaps import resolve_overlaps
from gateway.detection.recognizer import DefinitionError, EntityType, Recognizer, group_of

__all__ = [
    "DefinitionError",
    "Detector",
    "EntityType",
    "Recognizer",
    "builtin_detector",
    "group_of",
    "resolve_overlaps",
]
