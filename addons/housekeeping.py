"""Keeps mitmweb small: at most so many flows, the oldest go first."""

from mitmproxy import ctx, http


class Housekeeping:
    """Drops the oldest finished flows once there are more than `limit`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def request(self, flow: http.HTTPFlow) -> None:
        view = ctx.master.addons.get("view")
        if view is None or view.store_count() <= self._limit:
            return
        finished = [known for known in view._store.values() if not known.live]
        view.remove(finished[: view.store_count() - self._limit])
