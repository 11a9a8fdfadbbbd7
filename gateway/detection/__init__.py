"""Finds entities: which spans of a text look private, of what type, and with what confidence.

    Detector          runs every recognizer over a text
    builtin_detector  the detector with the built-in recognizers, built once per process
    resolve_overlaps  turns overlapping candidates into disjoint spans
    EntityType        what a recognizer can find

Pure and thread-safe: no I/O after construction, no memory of any text. What becomes of an entity is decided by
`gateway.policy` and carried out by `gateway.protection`. See docs/detection.md.
"""

from gateway.detection.detector import Detector, builtin_detector
from gateway.detection.overlaps import resolve_overlaps
from gateway.detection.recognizer import DefinitionError, EntityType, Recognizer

__all__ = ["DefinitionError", "Detector", "EntityType", "Recognizer", "builtin_detector", "resolve_overlaps"]
