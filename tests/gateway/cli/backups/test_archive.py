"""A backup that was changed, or is none, is refused, and what is wrong is said without repeating it."""

from pathlib import Path
from typing import Any

import pytest

from gateway.cli.backups.archive import extract, is_archive
from gateway.errors import BadRequest
from tests.conftest import vectors
from tests.gateway.cli.backups.support import attacked
from tests.gateway.cli.support import Command

ATTACKS = vectors("backups/attacks")


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_file_that_was_changed_is_refused(
    attack: dict[str, Any], command: Command, log_dir: Path, tmp_path: Path
) -> None:
    file = tmp_path / "gateway.tar"
    assert command("backup", file)[0] == 0
    file.write_bytes(attacked(file, attack))
    (tmp_path / "out").mkdir()
    with pytest.raises(BadRequest) as refused:
        extract(file, tmp_path / "out")
    assert refused.value.message.startswith(f"The file cannot be restored: {attack['says']}")
    assert {each.name for each in tmp_path.iterdir()} == {"data", "gateway.tar", "out"}


def test_a_backup_is_told_from_other_files(command: Command, log_dir: Path, tmp_path: Path) -> None:
    file = tmp_path / "gateway.tar"
    assert command("backup", file)[0] == 0
    assert is_archive(file)
    assert not is_archive(log_dir / "gateway.db")
