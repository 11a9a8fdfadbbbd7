"""Names the receipt of a request in the errors that follow it."""

from collections.abc import Iterator
from contextlib import contextmanager

from gateway.errors import GatewayError
from gateway.receipts.records import Receipt


@contextmanager
def attach_to_errors(receipt: Receipt) -> Iterator[None]:
    """Sets `receipt` on every GatewayError raised inside, so that operators can look it up."""
    try:
        yield
    except GatewayError as error:
        error.receipt = receipt.ref
        raise
