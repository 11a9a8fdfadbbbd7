"""Connects a job with its thread pool: the job announces long waits and checks whether its result is still needed."""

from threading import local
from typing import Protocol

DETECTION_THREADS = "protect"
"""The prefix of the names of threads that may hang in native code."""


class CurrentJob(Protocol):
    """The job that a thread is running."""

    def waits_long(self) -> None: ...

    @property
    def wanted(self) -> bool: ...


class GivenUp(Exception):
    """Ends a job whose result is no longer wanted: its request was cancelled, or has got an error already."""


class _ThreadState(local):
    job: CurrentJob | None = None


_state = _ThreadState()


def set_current_job(job: CurrentJob | None) -> None:
    """Sets the job that the current thread runs, or None."""
    _state.job = job


def waits_long() -> None:
    """Announces a long wait, so that the pool starts another thread meanwhile."""
    if _state.job is not None:
        _state.job.waits_long()


def stop_if_given_up() -> None:
    """Raises GivenUp if the current job's result is no longer wanted. Call it regularly during long work."""
    if _state.job is not None and not _state.job.wanted:
        raise GivenUp
