"""Runs the student, a small convolutional model that reads every token before the transformer reads the doubtful ones.

It runs on the caller's thread: a block takes some milliseconds, so a queue would cost more than it saves.
"""

import numpy as np

from gateway.detection.ner.cascade import REACH
from gateway.detection.ner.inference import Logits, Session
from gateway.detection.ner.windows import Tokens, windows

_ROOM = 1024
"""Tokens in a window, in which most blocks fit."""


class Student:
    """`model` is the content of `student.onnx`. Thread-safe."""

    def __init__(self, model: bytes) -> None:
        # Windows are short, so the arena keeps little memory.
        self._session = Session(model, arena=True)

    def logits(self, tokens: Tokens) -> Logits:
        """Returns the logits `[tokens, labels]`; deterministic, and independent of the windows.

        Raises Unavailable (`detection_failed`) if the model fails.
        """
        ids, types = np.array(tokens.ids, np.int64), np.array(tokens.types, np.int64)
        parts = []
        for one in windows(len(tokens), _ROOM + 2, _ROOM - 2 * REACH):
            part = slice(one.first, one.last)
            logits = self._session.run({"input_ids": ids[part], "token_type_ids": types[part]})
            parts.append(logits[one.kept_first - one.first : one.kept_last - one.first])
        return np.concatenate(parts)
