"""What the tests of several parts protect with."""

import pytest

from gateway.detection import Detector
from gateway.policy import Policy, PolicyRegistry
from gateway.protection import Protector
from gateway.settings import BUILTIN_POLICIES


@pytest.fixture(scope="module")
def protector() -> Protector:
    """By patterns alone; what one module's tests had it remember stays with them."""
    return Protector(Detector(), hash_key=b"h" * 32)


@pytest.fixture(scope="session")
def policy() -> Policy:
    return PolicyRegistry(BUILTIN_POLICIES).get("default")
