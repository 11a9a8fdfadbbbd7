"""What operators see in mitmweb: protected flows only, each with a line that says what became of it."""

from mitmproxy import ctx, http

from addons.state import Visit


def show(flow: http.HTTPFlow, visit: Visit) -> None:
    """Puts a flow that may cross into the list; until then mitmweb has not heard of it."""
    exchange = visit.exchange
    if exchange is not None:
        hidden = sum(exchange.protected.counts().values())
        flow.marked = ":lock:" if hidden else ""
        flow.comment = (
            f"{exchange.request_id} · {exchange.assessment.route.decision} · {hidden} hidden · "
            f"policy {exchange.policy.id} v{exchange.policy.version}"
        )
    view = ctx.master.addons.get("view")
    if view is not None:
        view.add([flow])
