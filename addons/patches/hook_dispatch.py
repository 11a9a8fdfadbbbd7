"""Calls only those addons for an event that have a hook for it.

mitmproxy asks every addon for each of the fifteen or so events of a request, which takes a good part of its time.

Upstream would have to remember which addons have which hooks.
"""

from typing import Any

from mitmproxy import exceptions, hooks
from mitmproxy.addonmanager import AddonManager, safecall, traverse

CHECKED_WITH = "12.2.3"


class HookDispatch(AddonManager):
    """An addon manager that remembers which addons have which hooks, as long as its chain stays the same.

    An addon has to have its hooks when it is added; all of mitmproxy's and ours do.
    """

    _asked: list[Any]
    _having: dict[str, list[Any]]

    def adopt(self) -> None:
        self._asked, self._having = [], {}

    async def trigger_event(self, event: hooks.Hook) -> None:
        for addon in self.having(event.name):
            try:
                with safecall():
                    await self.invoke_addon(addon, event)
            except exceptions.AddonHalt:
                return

    def having(self, name: str) -> list[Any]:
        """Returns the addons that have the hook, or contain one that has, in order."""
        if self._asked != self.chain:
            self._asked, self._having = [*self.chain], {}
        found = self._having.get(name)
        if found is None:
            found = [addon for addon in self.chain if any(getattr(one, name, None) for one in traverse([addon]))]
            self._having[name] = found
        return found


def dispatch_directly(manager: AddonManager) -> None:
    """Has a manager, which its master has made, call addons this way."""
    manager.__class__ = HookDispatch
    assert isinstance(manager, HookDispatch)
    manager.adopt()
