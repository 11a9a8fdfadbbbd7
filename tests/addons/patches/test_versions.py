"""A start with another version of mitmproxy says which patches were not checked with it."""

from importlib.metadata import version
from pathlib import Path

import pytest

from addons import patches


def test_every_patch_was_checked_with_the_installed_version(caplog: pytest.LogCaptureFixture) -> None:
    files = {path.stem for path in Path(patches.__file__).parent.glob("[!_]*.py")}
    assert patches.checked_with() == dict.fromkeys(files, version("mitmproxy"))
    patches.warn_of_another_version()
    assert caplog.messages == []


def test_another_version_is_logged_with_the_patches(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(patches, "version", lambda _: "99.0")
    patches.warn_of_another_version()
    (message,) = caplog.messages
    assert message.startswith("mitmproxy 99.0 is installed")
    assert "head_limits" in message and f"Install mitmproxy {version('mitmproxy')}" in message
