"""Each backend has the methods of the interfaces, with the same parameters, and no others."""

import inspect
from importlib import import_module

import pytest

from gateway.store import interfaces

REPOSITORIES = ("keys", "sessions", "policies", "receipts", "usage", "corrections")


def methods(of: type) -> dict[str, inspect.Signature]:
    functions = inspect.getmembers(of, inspect.isfunction)
    return {name: inspect.signature(method) for name, method in functions if not name.startswith("_")}


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
@pytest.mark.parametrize("repository", REPOSITORIES)
def test_a_repository_has_the_methods_of_its_interface(backend: str, repository: str) -> None:
    if backend == "postgres":
        pytest.importorskip("psycopg")
    name = repository.capitalize()
    found = getattr(import_module(f"gateway.store.{backend}.{repository}"), name)
    assert methods(found) == methods(getattr(interfaces, name))
