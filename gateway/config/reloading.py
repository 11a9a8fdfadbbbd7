"""Tells which settings a reload applies, and puts the settings together that are in force after one."""

from typing import NamedTuple

from gateway.config.settings import Settings

RELOADED = frozenset(
    {
        *("log_level", "log_json", "log_file"),
        *("tls_certificate", "tls_key", "accept_risks", "shutdown_seconds"),
        *("policies_dir", "default_policy", "streaming", "telemetry", "forward_headers", "rate_limit_per_minute"),
        *("upstream", "upstream_model", "upstream_key", "upstream_ca", "upstreams", "default_upstream"),
        *("upstream_timeout_seconds", "upstream_proxy", "upstream_proxy_credentials", "no_proxy"),
        *("intercept_hosts", "intercept_also", "contained_hosts", "unprotected_hosts"),
        *("proxy_private_destinations", "trusted_proxies"),
        *("session_ttl_seconds", "session_max_ttl_seconds", "session_max_values", "receipts_keep"),
        *("batch_retention_hours", "playground"),
    }
)
"""The settings that a reload applies. All others need a restart."""
_TLS = ("tls_certificate", "tls_key")


class Change(NamedTuple):
    """The settings after a reload, the names of those that it changes, and of those that wait for a restart."""

    settings: Settings
    applied: tuple[str, ...]
    waiting: tuple[str, ...]


def change(running: Settings, started: Settings, loaded: Settings) -> Change:
    """Compares loaded settings with those that are in force, and with those loaded at the start."""
    names = list(Settings.model_fields)
    waiting = {name for name in names if name not in RELOADED and getattr(loaded, name) != getattr(started, name)}
    if (loaded.tls_certificate is None) != (started.tls_certificate is None):
        # Connections of a listener either all speak TLS or none does.
        waiting |= {*_TLS}
    update = {name: getattr(loaded, name) for name in RELOADED - waiting}
    applied = [name for name in names if name in update and update[name] != getattr(running, name)]
    return Change(running.model_copy(update=update), tuple(applied), tuple(name for name in names if name in waiting))
