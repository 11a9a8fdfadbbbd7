"""Attacks on exports and proofs: each is named by the checks of its vector, and refused by the second verifier."""

import ast
import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.receipt_files import verify_file
from tests.gateway.receipts import verifier
from tests.gateway.receipts.files import VECTORS, Originals, attacked
from tests.gateway.receipts.verifier import REFUSALS, verify

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Originals:
    return Originals(tmp_path_factory.mktemp("logs"))


def checks(content: bytes, key: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Returns the checks that `receipts verify FILE --key KEY` prints for a file, by their names."""
    file = folder / "file"
    file.write_bytes(content)
    status = verify_file(Namespace(key=[key], target=str(file), json=True))
    done = json.loads(capsys.readouterr().out)
    assert status == (0 if done["valid"] else 1)
    return {check["name"]: check for check in done["checks"]}


def test_the_files_that_are_attacked_are_good(
    originals: Originals, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in originals.lines:
        if not name.startswith("foreign"):
            found = checks(originals.text(name), originals.key, tmp_path, capsys)
            assert [each for each in found if not found[each]["ok"]] == [], name
            verify(originals.text(name), [originals.key])


def test_the_second_verifier_shares_no_code() -> None:
    tree = ast.parse(Path(verifier.__file__).read_text(encoding="utf-8"))
    names = {each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} - sys.stdlib_module_names == {"cryptography"}


@pytest.mark.parametrize("name", sorted(VECTORS))
def test_an_attack_is_named_by_its_checks(
    name: str, originals: Originals, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vector = VECTORS[name]
    content = attacked(originals, vector)
    found = checks(content, originals.key, tmp_path, capsys)
    assert vector["fails"], "an attack that no check names would be none"
    assert [each for each, check in found.items() if not check["ok"]] == vector["fails"]
    assert all(check["detail"] for check in found.values() if not check["ok"])
    with pytest.raises(REFUSALS):
        verify(content, [originals.key])
