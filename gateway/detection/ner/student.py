"""Runs the student, a small convolutional model that reads every unit; the transformer then reads the doubtful ones."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gateway.detection.ner.inference import Chances, Session
from gateway.detection.ner.units import FEATURES, Units

REACH = 18
"""Units on either side that affect the result for a unit (training/student.py)."""
_ROOM = 2048
"""Units that are read at once: what the layers pass on fits into a core's cache."""


class Student:
    """`model` is the content of `student.onnx`. Thread-safe."""

    def __init__(self, model: bytes) -> None:
        # Texts are short, so the arena keeps little memory.
        self._session = Session(model, arena=True)

    def chances(self, texts: Sequence[Units]) -> Chances:
        """Returns the probabilities `[units, labels]` of the units of all texts; deterministic.

        Raises Unavailable (`detection_failed`) if the model fails.
        """
        return np.concatenate([part for own in texts for part in self._parts(own.rows)])

    def rest(self) -> None:
        """Gives up the memory that long texts took."""
        self._session.run({"rows": np.zeros((1, FEATURES), np.int32)}, shrink=True)

    def _parts(self, rows: NDArray[np.int32]) -> Iterator[Chances]:
        for start in range(0, len(rows) or 1, _ROOM):
            first = max(0, start - REACH)
            chances = self._session.run({"rows": rows[first : start + _ROOM + REACH]})
            yield chances[start - first : start - first + _ROOM]
