"""Runs the model on its own threads, which take one window from each request in turn. Never runs on an event loop.

The native code releases the interpreter lock while it computes, and on Linux the threads have a lower priority: a text
may wait, the event loop may not. Windows are never batched. An int8 model scales activations by the largest in a batch,
so other texts would affect the result, and the same turn would no longer give the same bytes.
"""

import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from gateway.concurrency.cores import leave_shared_core
from gateway.concurrency.job_context import waits_long
from gateway.detection.onnx_runtime import onnxruntime
from gateway.errors import Unavailable

_log = logging.getLogger(__name__)

_NICE = 10
_GRACE = 1.0
"""Seconds that `close` waits for threads in native code, which may crash when the interpreter exits."""

_MANY_WINDOWS = 32
"""Windows from which on inference dominates the time of a request: about a tenth of a second."""

type Logits = NDArray[np.float32]
type Chances = NDArray[np.float32]
"""Probabilities, of labels or of classes."""


@dataclass(frozen=True, slots=True)
class Input:
    """One window, including special tokens. `types` is empty for a model without token types."""

    ids: tuple[int, ...] = field(repr=False)
    types: tuple[int, ...] = field(repr=False)


type _QueuedWindow = tuple[Input, Future[Logits]]


class _FairQueue:
    """Queues windows and takes one from each request in turn, so that a long text does not delay a short one."""

    def __init__(self) -> None:
        self._requests: deque[deque[_QueuedWindow]] = deque()
        self._condition = threading.Condition()
        self._closed = False

    def put(self, request: Iterable[_QueuedWindow]) -> None:
        windows = deque(request)
        if not windows:
            return
        with self._condition:
            self._requests.append(windows)
            self._condition.notify(len(windows))

    def get(self) -> _QueuedWindow | None:
        """Returns the next window, or None once the queue is closed and empty."""
        with self._condition:
            self._condition.wait_for(lambda: self._requests or self._closed)
            if not self._requests:
                return None
            request = self._requests.popleft()
            window = request.popleft()
            if request:
                self._requests.append(request)
            return window

    def close(self) -> None:
        with self._condition:
            self._closed = True
            self._condition.notify_all()


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

    def run(self, feed: Mapping[str, NDArray[np.int32] | NDArray[np.int64]]) -> Logits:
        """Returns the first output. Raises Unavailable (`detection_failed`)."""
        try:
            result: Logits = self._session.run(None, feed)[0]
        except Exception as error:  # noqa: BLE001 - the library raises nothing narrower
            _log.error("name detection failed: %s", type(error).__name__)
            raise Unavailable("Detection of names failed; nothing was sent.", code="detection_failed") from None
        return result


class Inference:
    """An onnxruntime session on the CPU. `model` is the file's content. Thread-safe; runs `threads` windows at once."""

    def __init__(self, model: bytes, *, threads: int, timeout: float) -> None:
        self._session = Session(model, arena=False)
        self._timeout = timeout
        self._queue = _FairQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"names_{number}", daemon=True) for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def logits(self, windows: Sequence[Input]) -> list[Logits]:
        """Returns the logits `[tokens, labels]` of each window; deterministic. Blocks. Do not call it on an event loop.

        Raises Unavailable if the model fails or exceeds the time limit.
        """
        deadline = monotonic() + self._timeout
        futures: dict[Input, Future[Logits]] = {window: Future() for window in windows}
        self._queue.put(futures.items())
        if len(futures) >= _MANY_WINDOWS:
            waits_long()
        try:
            return [futures[window].result(max(0.0, deadline - monotonic())) for window in windows]
        except TimeoutError:
            message = "Detection of names took too long; nothing was sent. Try a shorter text."
            raise Unavailable(message, code="detection_timeout", retry_after=1) from None
        finally:
            for future in futures.values():
                future.cancel()

    def close(self) -> None:
        """Stops the threads after their current window, and waits up to `_GRACE` seconds."""
        self._queue.close()
        deadline = monotonic() + _GRACE
        for thread in self._threads:
            thread.join(max(0.0, deadline - monotonic()))

    def _work(self) -> None:
        _lower_priority()
        leave_shared_core()
        while (queued := self._queue.get()) is not None:
            window, future = queued
            if future.set_running_or_notify_cancel():
                self._run(window, future)
            del queued, window, future

    def _run(self, window: Input, future: Future[Logits]) -> None:
        try:
            result = self._session.run(self._feed(window))[0]
        except Unavailable as error:
            future.set_exception(error)
            return
        future.set_result(result)

    def _feed(self, window: Input) -> dict[str, NDArray[np.int64]]:
        ids = np.array([window.ids], np.int64)
        feed = {"input_ids": ids}
        if "attention_mask" in self._session.inputs:
            feed["attention_mask"] = np.ones_like(ids)
        if "token_type_ids" in self._session.inputs:
            feed["token_type_ids"] = np.array([window.types], np.int64) if window.types else np.zeros_like(ids)
        return feed


def odds(logits: Logits) -> Chances:
    """Returns probabilities, `[tokens, labels]` as the logits."""
    result: Chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    result /= result.sum(axis=1, keepdims=True)
    return result


def _lower_priority() -> None:
    """Lowers the priority of the calling thread."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
