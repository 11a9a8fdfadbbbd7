"""Runs models with onnxruntime, whose native code releases the interpreter lock while it computes."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gateway.detection.ner.unit_features import FEATURES
from gateway.detection.ner.units import Units
from gateway.detection.onnx_runtime import onnxruntime
from gateway.errors import Unavailable

_log = logging.getLogger(__name__)
_REACH = 18
"""Units on either side that affect the result for a unit (training/student.py)."""
_ROOM = 2048
"""Units that are read at once: what the layers pass on fits into a core's cache."""

type Logits = NDArray[np.float32]
type Chances = NDArray[np.float32]
"""Probabilities, of labels or of classes."""


@dataclass(frozen=True, slots=True)
class Input:
    """One window, including special tokens. `types` is empty for a model without token types."""

    ids: tuple[int, ...] = field(repr=False)
    types: tuple[int, ...] = field(repr=False)


class Session:
    """An onnxruntime session on one core. `model` is the file's content. Thread-safe."""

    def __init__(self, model: bytes, *, arena: bool) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # its messages may repeat input
        # An arena is faster, but keeps the memory that the longest input took.
        options.enable_cpu_mem_arena = arena
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        # onnxruntime keeps the file in memory for a later change of providers, which never happens here.
        self._session._model_bytes = None
        self.inputs = frozenset(each.name for each in self._session.get_inputs())

    def run(self, feed: Mapping[str, NDArray[np.int32] | NDArray[np.int64]], *, shrink: bool = False) -> Logits:
        """Returns the first output, and shrinks the arena afterwards. Raises Unavailable (`detection_failed`)."""
        options = None
        if shrink:
            options = onnxruntime.RunOptions()
            options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        try:
            result: Logits = self._session.run(None, feed, options)[0]
        except Exception as error:  # noqa: BLE001 - the library raises nothing narrower
            _log.error("name detection failed: %s", type(error).__name__)
            raise Unavailable("Detection of names failed; nothing was sent.", code="detection_failed") from None
        return result


def odds(logits: Logits) -> Chances:
    """Returns probabilities, `[tokens, labels]` as the logits."""
    result: Chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    result /= result.sum(axis=1, keepdims=True)
    return result


class Student:
    """The small convolutional model that reads every unit; `model` is the content of `student.onnx`. Thread-safe."""

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
            first = max(0, start - _REACH)
            chances = self._session.run({"rows": rows[first : start + _ROOM + _REACH]})
            yield chances[start - first : start - first + _ROOM]
