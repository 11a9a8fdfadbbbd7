"""Runs the model, off every event loop: a few threads of their own that read a window of each request in turn.

The native code gives the interpreter free while it computes, and the threads stand back behind all others where the
machine lets them (Linux): a text may wait, the event loop may not. Each window is read by itself, never in a batch: an
int8 model scales its numbers by the largest of a batch, so the same text would be judged differently beside another,
and the same turn would not give the same bytes.
"""

import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from gateway.concurrency.job_context import waits_long
from gateway.detection.onnx_runtime import onnxruntime
from gateway.errors import Unavailable

_log = logging.getLogger(__name__)

_NICE = 10
_GRACE = 1.0
"""Seconds that closing waits for threads in native code, which may not survive the end of the interpreter."""

_LONG = 32
"""Windows that take longer to read than all else that is done with their text: about a tenth of a second."""

type Logits = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Input:
    """One window, special tokens included. `types` is empty for a model that takes none."""

    ids: tuple[int, ...] = field(repr=False)
    types: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Waiting:
    window: Input
    future: "Future[Logits]"


class _Turns:
    """The windows that wait, one of each request in turn: a book does not hold up a note."""

    def __init__(self) -> None:
        self._requests: deque[deque[_Waiting]] = deque()
        self._changed = threading.Condition()
        self._closed = False

    def put(self, request: Iterable[_Waiting]) -> None:
        windows = deque(request)
        if not windows:
            return
        with self._changed:
            self._requests.append(windows)
            self._changed.notify(len(windows))

    def get(self) -> _Waiting | None:
        """The next; None when all are read and no more come."""
        with self._changed:
            self._changed.wait_for(lambda: self._requests or self._closed)
            if not self._requests:
                return None
            request = self._requests.popleft()
            window = request.popleft()
            if request:
                self._requests.append(request)
            return window

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class Inference:
    """A session of onnxruntime on the processor; `model` is its file. Thread-safe; `threads` windows at once."""

    def __init__(self, model: bytes, *, threads: int, timeout: float) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # its messages are not ours to vouch for
        # Memory that one long text needed is given back, not kept for the next.
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        # It would keep the file for good, for the case that another kind of processor were asked for.
        self._session._model_bytes = None
        self._names = {each.name for each in self._session.get_inputs()}
        self._timeout = timeout
        self._turns = _Turns()
        self._threads = [
            threading.Thread(target=self._work, name=f"names_{number}", daemon=True) for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def inputs(self) -> frozenset[str]:
        """Names of what the model takes."""
        return frozenset(self._names)

    def logits(self, windows: Sequence[Input]) -> list[Logits]:
        """Logits `[tokens, labels]` of each window, the same for the same. Blocks; never to be called on an event loop.

        Raises Unavailable when that takes too long or fails.
        """
        deadline = monotonic() + self._timeout
        waiting = {window: _Waiting(window, Future()) for window in windows}
        self._turns.put(waiting.values())
        if len(waiting) >= _LONG:
            waits_long()
        try:
            return [waiting[window].future.result(max(0.0, deadline - monotonic())) for window in windows]
        except TimeoutError:
            message = "Looking for names took too long; nothing was sent."
            raise Unavailable(message, code="detection_timeout", retry_after=1) from None
        finally:
            for each in waiting.values():
                each.future.cancel()

    def close(self) -> None:
        """Ends the threads when they are done with what they read, and waits a moment for that."""
        self._turns.close()
        deadline = monotonic() + _GRACE
        for thread in self._threads:
            thread.join(max(0.0, deadline - monotonic()))

    def _work(self) -> None:
        _stand_back()
        while (waiting := self._turns.get()) is not None:
            if waiting.future.set_running_or_notify_cancel():
                self._run(waiting)
            del waiting

    def _run(self, waiting: _Waiting) -> None:
        try:
            results = self._session.run(None, self._feed(waiting.window))
        except Exception as error:  # noqa: BLE001 - the thread must outlive every failure; who waits is told it failed
            _log.error("the model failed: %s", type(error).__name__)
            message = "Looking for names failed; nothing was sent."
            waiting.future.set_exception(Unavailable(message, code="detection_failed"))
            return
        waiting.future.set_result(results[0][0])

    def _feed(self, window: Input) -> dict[str, NDArray[np.int64]]:
        ids = np.array([window.ids], np.int64)
        feed = {"input_ids": ids}
        if "attention_mask" in self._names:
            feed["attention_mask"] = np.ones_like(ids)
        if "token_type_ids" in self._names:
            feed["token_type_ids"] = np.array([window.types], np.int64) if window.types else np.zeros_like(ids)
        return feed


def _stand_back() -> None:
    """Lowers the priority of the calling thread."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
