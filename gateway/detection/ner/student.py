"""Runs the student, a small convolutional model that reads every unit; the transformer then reads the doubtful ones."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gateway.detection.ner.inference import Chances, Logits, Session, odds
from gateway.detection.ner.units import Units

REACH = 18
"""Units on either side that affect the result for a unit (training/student.py)."""
_ROOM = 4096
"""Units that are read at once, in which all blocks fit."""


class Student:
    """`model` is the content of `student.onnx`. Thread-safe."""

    def __init__(self, model: bytes) -> None:
        # Texts are short, so the arena keeps little memory.
        self._session = Session(model, arena=True)

    def chances(self, texts: Sequence[Units]) -> Chances:
        """Returns the probabilities `[units, labels]` of the units of all texts; deterministic.

        Raises Unavailable (`detection_failed`) if the model fails.
        """
        return odds(np.concatenate([part for own in texts for part in self._logits(own.rows)]))

    def _logits(self, rows: NDArray[np.int32]) -> Iterator[Logits]:
        for start in range(0, len(rows) or 1, _ROOM):
            first = max(0, start - REACH)
            logits = self._session.run({"rows": rows[first : start + _ROOM + REACH]})
            yield logits[start - first : start - first + _ROOM]
