"""What the tests of several parts protect with, and where they keep it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.config.settings import BUILTIN_POLICIES
from gateway.detection import builtin_detector
from gateway.policy import Policy, PolicyRegistry
from gateway.protection.protector import Protector
from gateway.store import Store, open_store


@pytest.fixture(scope="module")
def protector() -> Protector:
    """By patterns alone; what one module's tests had it remember stays with them."""
    return Protector(builtin_detector(), hash_key=b"h" * 32)


@pytest.fixture(scope="session")
def policy() -> Policy:
    return PolicyRegistry(BUILTIN_POLICIES).get("default")


@pytest.fixture
def store(data_dir: Path) -> Iterator[Store]:
    store = open_store(data_dir)
    yield store
    store.close()
