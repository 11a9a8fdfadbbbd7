"""The settings after a reload: those of the table are the new ones, all others stay and are named."""

from typing import Any

import pytest

from gateway.config.loading import load_settings
from gateway.config.reloading import RELOADED, change
from gateway.config.settings import Settings
from scripts.settings_reference import page

TLS = {"tls_certificate": "a", "tls_key": "b"}


def test_every_reloaded_setting_is_one_and_the_docs_mark_it() -> None:
    marked = {line.split("`")[1].removeprefix("SVC_").lower() for line in page().splitlines() if "| yes |" in line}
    assert marked == RELOADED < set(Settings.model_fields)


@pytest.mark.parametrize(
    ("started", "loaded", "applied", "waiting"),
    [
        ({}, {}, (), ()),
        ({}, {"streaming": True, "no_proxy": "*", "workers": 3}, ("no_proxy", "streaming"), ("workers",)),
        ({}, TLS, (), ("tls_certificate", "tls_key")),
        (TLS, {}, (), ("tls_certificate", "tls_key")),
        (TLS, {**TLS, "tls_key": "c", "tls_listeners": "web"}, ("tls_key",), ("tls_listeners",)),
    ],
)
def test_changes_are_told_apart(started: Any, loaded: Any, applied: Any, waiting: Any) -> None:
    before, after = load_settings(**started), load_settings(**loaded)
    # Ports of 0 are replaced before listeners open.
    running = before.model_copy(update={"gateway_port": 4711})
    found = change(running, before, after)
    assert (found.applied, found.waiting) == (applied, waiting)
    same = {name: getattr(after, name) for name in applied}
    assert found.settings == running.model_copy(update=same)
    # Applied once, and named until the restart.
    again = change(found.settings, before, after)
    assert (again.applied, again.waiting) == ((), waiting)
