"""An open receipt log."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.receipt_log import ReceiptLog
from tests.gateway.receipt_log.support import opened


@pytest.fixture
def log(data_dir: Path) -> Iterator[ReceiptLog]:
    with opened(data_dir) as log:
        yield log
