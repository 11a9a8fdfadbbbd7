"""API keys, made and changed by the command as an operator runs it."""

import json
import os
from typing import Any

from tests.e2e import preloaded
from tests.e2e.server import Running


def keys(running: Running, *words: str) -> Any:
    """Runs `keys` with the words and returns what it printed."""
    config = running.data.parent / "svc.toml"
    settings = ["--data-dir", str(running.data), *(["--config", str(config)] if config.exists() else [])]
    done = preloaded.run(["keys", *words, "--json", *settings], os.environ, running.data)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def new_key(running: Running, label: str, *words: str) -> str:
    """Returns a new key."""
    return str(keys(running, "create", label, *words)["key"])
