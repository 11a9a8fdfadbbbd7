"""Loads the settings: the command line overrides `SVC_*` variables, then a TOML file, then defaults.

It rejects unknown settings. Its messages name the setting and never repeat the value.
"""

import os
import re
from pathlib import Path

from pydantic import ValidationError
from pydantic_settings import SettingsError as SourceError

from gateway.config.settings import Settings
from gateway.config.settings_file import (
    PREFIX,
    SettingsError,
    file_values,
    read_settings_file,
    refuse_unknown_variables,
    unknown_setting,
)
from gateway.config.upstreams import UpstreamSettings


def load_settings(config: Path | None = None, **command_line: object) -> Settings:
    """Loads the settings. `command_line` maps names to values that override all others; None means not given.

    `config`, or else the variable SVC_CONFIG, names a TOML file. Raises SettingsError with all problems found.
    """
    named = config or os.environ.get("SVC_CONFIG")
    values = read_settings_file(Path(named)) if named else {}
    given = {name: value for name, value in command_line.items() if value is not None}
    token = file_values.set(values)
    try:
        settings = Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        details = error.errors(include_input=False, include_url=False, include_context=False)
        raise SettingsError(*(_problem(each["loc"], each["type"], each["msg"]) for each in details)) from None
    except SourceError:
        # The message and the cause of the error may quote the variable.
        raise SettingsError(f"a {PREFIX}* variable that holds a table is not valid JSON") from None
    finally:
        file_values.reset(token)
    keys = {upstream.api_key_env for upstream in settings.upstreams.values()}
    for each in settings.upstreams.values():
        keys |= {(reference or "").removeprefix("env:") for reference in (each.api_key, each.proxy_credentials)}
    refuse_unknown_variables({*Settings.model_fields, "config"}, {"upstreams", "web_tokens"}, keys)
    return settings


def _problem(place: tuple[int | str, ...], kind: str, message: str) -> str:
    names = [str(part) for part in place if part != "[key]"]
    if kind == "extra_forbidden":
        model = Settings if len(names) == 1 else UpstreamSettings
        return unknown_setting(".".join(names), sorted(model.model_fields))
    text = re.sub(r"^(?:Input|String|Value|List) should ", "must ", message.removeprefix("Value error, "))
    return f"{'.'.join(names)}: {text}" if names else text
