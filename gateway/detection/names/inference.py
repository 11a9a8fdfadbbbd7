"""Runs the model, off every event loop: a few threads of their own that read the windows of all requests together.

The native code gives the interpreter free while it computes. Windows that wait at the same time are read in one batch,
as long as they are of about the same length: padding costs what text costs.
"""

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from gateway.errors import Unavailable

_log = logging.getLogger(__name__)

_BATCH_TOKENS = 1024
_LIKE = 0.8
"""Windows share a batch when the shortest has at least this part of the longest's length."""

type Logits = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Input:
    """One window, special tokens included. `types` is empty for a model that takes none."""

    ids: Sequence[int] = field(repr=False)
    types: Sequence[int] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Waiting:
    window: Input
    future: "Future[Logits]"


class Inference:
    """A session of onnxruntime on the processor. Thread-safe; `threads` windows or batches at once."""

    def __init__(self, model: Path, *, threads: int, timeout: float) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # its messages are not ours to vouch for
        # Memory that one long text needed is given back, not kept for the next.
        options.enable_cpu_mem_arena = False
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._names = {each.name for each in self._session.get_inputs()}
        self._timeout = timeout
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._threads = threads
        for number in range(threads):
            threading.Thread(target=self._work, name=f"names_{number}", daemon=True).start()

    @property
    def inputs(self) -> frozenset[str]:
        """Names of what the model takes."""
        return frozenset(self._names)

    def logits(self, windows: Sequence[Input]) -> list[Logits]:
        """Logits `[tokens, labels]` of each window. Blocks; never to be called on an event loop.

        Raises Unavailable when that takes too long or fails.
        """
        waiting = [_Waiting(window, Future()) for window in windows]
        for each in waiting:
            self._queue.put(each)
        try:
            return [each.future.result(self._timeout) for each in waiting]
        except TimeoutError:
            message = "Looking for names took too long; nothing was sent."
            raise Unavailable(message, code="detection_timeout", retry_after=1) from None
        finally:
            for each in waiting:
                each.future.cancel()

    def close(self) -> None:
        """Ends the threads when they are done with what they read."""
        for _ in range(self._threads):
            self._queue.put(None)

    def _work(self) -> None:
        while (first := self._queue.get()) is not None:
            together = [first]
            tokens = len(first.window.ids)
            last = False
            while tokens < _BATCH_TOKENS:
                try:
                    another = self._queue.get_nowait()
                except Empty:
                    break
                if another is None:
                    last = True
                    break
                together.append(another)
                tokens += len(another.window.ids)
            for batch in _alike(together):
                self._run(batch)
            if last:
                return

    def _run(self, batch: list[_Waiting]) -> None:
        batch = [each for each in batch if each.future.set_running_or_notify_cancel()]
        if not batch:
            return
        try:
            results = self._session.run(None, self._feed([each.window for each in batch]))[0]
        except Exception as error:  # noqa: BLE001 - the thread must outlive every failure; who waits is told its kind only
            _log.error("the model failed: %s", type(error).__name__)
            for each in batch:
                message = "Looking for names failed; nothing was sent."
                each.future.set_exception(Unavailable(message, code="detection_failed"))
            return
        for each, logits in zip(batch, results, strict=True):
            each.future.set_result(logits[: len(each.window.ids)])

    def _feed(self, windows: Sequence[Input]) -> dict[str, NDArray[np.int64]]:
        shape = len(windows), max(len(window.ids) for window in windows)
        feed = {name: np.zeros(shape, np.int64) for name in self._names}
        for row, window in enumerate(windows):
            count = len(window.ids)
            feed["input_ids"][row, :count] = window.ids
            if "attention_mask" in feed:
                feed["attention_mask"][row, :count] = 1
            if "token_type_ids" in feed and window.types:
                feed["token_type_ids"][row, :count] = window.types
        return feed


def _alike(waiting: list[_Waiting]) -> list[list[_Waiting]]:
    """Batches of windows of about the same length."""
    batches: list[list[_Waiting]] = []
    for each in sorted(waiting, key=lambda each: -len(each.window.ids)):
        if batches and len(each.window.ids) >= _LIKE * len(batches[-1][0].window.ids):
            batches[-1].append(each)
        else:
            batches.append([each])
    return batches
