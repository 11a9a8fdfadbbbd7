"""Tells operators the address of mitmweb. It holds a token, so without a terminal it is in a file."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote

from gateway.config.private_files import on_terminal, write_secret

FILE = "mitmweb.url"


@contextmanager
def shown_address(url: str, folder: Path) -> Iterator[str]:
    """Yields what to print: `url` on a terminal or without a token, or else how to read it from a file in `folder`.

    The file is removed on exit.

    Raises SettingsError if the file cannot be written.
    """
    if on_terminal() or "?" not in url:
        yield url
        return
    path = folder.resolve() / FILE
    write_secret(path, url)
    try:
        yield f"{url.partition('?')[0]}  (its address with the token: cat {quote(str(path))})"
    finally:
        with suppress(OSError):
            # Another gateway with the same folder may have written its own.
            if path.read_text(encoding="utf-8") == f"{url}\n":
                path.unlink()
