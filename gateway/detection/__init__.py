"""Text in, findings out: which stretches of a text look private, of what type, and how sure we are.

    Detector          runs every recognizer over a text; yields candidates, never decides what becomes of them
    builtin_detector  the one of the built-in recognizers, built once in a process
    resolve_overlaps  makes disjoint spans of candidates that share characters
    EntityType        what a recognizer can find

Pure and thread-safe: no I/O after construction, no memory of any text. See docs/detection.md.
"""

from gateway.detection.detector import Detector, builtin_detector
from gateway.detection.overlaps import resolve_overlaps
from gateway.detection.recognizer import DefinitionError, EntityType, Recognizer

__all__ = ["DefinitionError", "Detector", "EntityType", "Recognizer", "builtin_detector", "resolve_overlaps"]
