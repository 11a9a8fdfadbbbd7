"""The options and commands of mitmproxy that operators may use in mitmweb: those that change what they see.

mitmweb lets an operator edit every option and call every command while the proxy runs. Those that would let bytes
bypass our hooks, keep restored text in a flow, trust another upstream, run a program or access a file are refused, as
mitmproxy refuses any invalid option, or removed.
"""

from typing import Any

from mitmproxy import ctx, exceptions
from mitmproxy.options import Options

from gateway.detection.data_files import read_toml, word_lists

REQUIRED = {name: (each.get("value"), each["reason"]) for name, each in read_toml(__file__)["required"].items()}
FREE, COMMANDS = word_lists(__file__)["free"], word_lists(__file__)["commands"]


class SealedOptions(Options):
    """mitmproxy's options. Once sealed, only those in `FREE` can be changed.

    Refuses a change before it is made: mitmproxy would make it, call the addons and roll it back, and some addons act
    on both steps (mitmweb's creates a new token).
    """

    def __init__(self) -> None:
        # Must be set first: afterwards, mitmproxy treats every attribute as an option.
        self._sealed = False
        super().__init__()

    def seal(self) -> None:
        """Makes all options but those in `FREE` immutable."""
        self.__dict__["_sealed"] = True

    def change(self, **wanted: Any) -> None:
        """Changes options that are sealed, for a reload of the gateway's settings."""
        self.__dict__["_sealed"] = False
        try:
            self.update(**wanted)
        finally:
            self.seal()

    def update_known(self, **wanted: Any) -> dict[str, Any]:
        if self._sealed:
            for name in wanted.keys() & self.keys() - FREE:
                if not _same(wanted[name], getattr(self, name)):
                    raise _fixed(name)
        unknown: dict[str, Any] = super().update_known(**wanted)
        return unknown


class OptionGuard:
    """Refuses changes to the required options and to those set at the start (`fixed`)."""

    def __init__(self, fixed: dict[str, Any]) -> None:
        self._required = {name: value for name, (value, _) in REQUIRED.items()} | fixed

    def change(self, **fixed: Any) -> None:
        """Changes options that were set at the start."""
        self._required |= fixed
        ctx.options.change(**fixed)

    def configure(self, updated: set[str]) -> None:
        for name in updated & self._required.keys():
            if not _same(getattr(ctx.options, name), self._required[name]):
                raise _fixed(name)


def _same(value: Any, wanted: Any) -> bool:
    return bool((list(value) if isinstance(wanted, list | tuple) and value is not None else value) == wanted)


def _fixed(name: str) -> exceptions.OptionsError:
    reason = REQUIRED[name][1] if name in REQUIRED else "set it in the gateway's settings"
    return exceptions.OptionsError(f"`{name}` is fixed: {reason}.")
