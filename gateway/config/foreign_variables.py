"""Leaves out the variables that Kubernetes and Docker set for a service whose name begins with `svc`.

Kubernetes sets them in each container of a namespace, for each Service there; Docker sets most of them for each link.
"""

import logging
import os
import re

from pydantic_settings import BaseSettings, EnvSettingsSource

_log = logging.getLogger(__name__)

# Variables of a nested table may be named like them.
_PREFIX = r"SVC_(?!UPSTREAMS__)(?:\w+_)?"
_NAME = re.compile(
    _PREFIX + r"(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)"
)
# The port of a service called `svc-gateway` is named like a setting; its value tells it apart.
_PORT = re.compile(_PREFIX + "PORT")
_ADDRESS = re.compile("(?:tcp|udp|sctp)://", re.IGNORECASE)


def foreign_variables() -> list[str]:
    """Returns the names of such variables, sorted."""
    return sorted(name for name, value in os.environ.items() if _is_foreign(name.upper(), value))


def log_foreign_variables() -> None:
    """Logs which variables are ignored, if there are any."""
    if names := foreign_variables():
        _log.info("ignored variables that Kubernetes or Docker set for a service: %s", ", ".join(names))


def _is_foreign(name: str, value: str) -> bool:
    return bool(_NAME.fullmatch(name) or (_PORT.fullmatch(name) and _ADDRESS.match(value)))


class EnvironmentSource(EnvSettingsSource):
    """Reads settings from all other variables."""

    def __init__(self, settings_cls: type[BaseSettings]) -> None:
        super().__init__(settings_cls)
        foreign = {name.lower() for name in foreign_variables()}
        self.env_vars = {name: value for name, value in self.env_vars.items() if name not in foreign}
