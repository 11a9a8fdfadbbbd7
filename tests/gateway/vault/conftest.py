"""A vault on a store of its own, with a clock that the tests set."""

import pytest

from gateway.store import Store
from gateway.vault import Vault
from tests.gateway.vault.support import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def vault(store: Store, clock: Clock) -> Vault:
    return Vault(store, clock=clock)
