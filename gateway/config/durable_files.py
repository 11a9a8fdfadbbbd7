"""Writes files that are complete or absent, even after a crash. Only their owner can read them.

Errors name the file, not the draft beside it, and also those of a full disk, which else name none.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from tempfile import NamedTemporaryFile
from typing import IO


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yields a file that replaces `path` at the end of the block, unless the block raises. Raises OSError."""
    with _naming(path), NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as draft:
        try:
            yield draft
            draft.flush()
            os.fsync(draft.fileno())
            Path(draft.name).replace(path)
        except BaseException:
            Path(draft.name).unlink(missing_ok=True)
            raise


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """Yields a file to write what a user wants at `path`: as `replacing` does, but what `path` links to.

    A pipe, terminal or device is written to as it is. Raises OSError.
    """
    try:
        is_file = S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        is_file = True
    with _naming(path), replacing(path.resolve()) if is_file else path.open("wb") as file:
        yield file


def create(path: Path, content: bytes) -> None:
    """Creates a file, or keeps the existing one: of processes that start at once, the first wins. Raises OSError."""
    with _naming(path), NamedTemporaryFile(dir=path.parent, prefix=path.name) as draft, suppress(FileExistsError):
        draft.write(content)
        draft.flush()
        os.fsync(draft.fileno())
        path.hardlink_to(draft.name)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
