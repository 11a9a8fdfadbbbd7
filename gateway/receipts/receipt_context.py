"""Which receipt a request left, told to whoever serves it without reading the answer.

The answer of a native call holds private text; the host that shows such calls to operators needs the receipt alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from gateway.receipts.drafts import OutcomeDraft
from gateway.receipts.records import Receipt


@dataclass(slots=True)
class Followed:
    """The last receipt that was written, and the last outcome, since following began."""

    receipt: Receipt | None = None
    outcome: OutcomeDraft | None = None


_followed: ContextVar[Followed | None] = ContextVar("_followed", default=None)


@contextmanager
def following() -> Iterator[Followed]:
    """What is written in this task, and in those it starts, shows in the value."""
    followed = Followed()
    token = _followed.set(followed)
    try:
        yield followed
    finally:
        _followed.reset(token)


def note_receipt(receipt: Receipt) -> None:
    followed = _followed.get()
    if followed is not None:
        followed.receipt = receipt


def note_outcome(draft: OutcomeDraft) -> None:
    followed = _followed.get()
    if followed is not None:
        followed.outcome = draft
