"""The gateway's notes on a flow, kept in `flow.metadata` and in dumps. They hold nothing private."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from mitmproxy import flow

_KEY = "privacy_gateway"


@dataclass(slots=True)
class Notes:
    """The notes on one flow.

    `receipt` is the receipt's record as JSON, `guard` the verdict as in an answer, `placeholders` those of the request.
    `edit` is the request id of an edit's receipt, `refusal` the code of a refusal. `metadata_only` marks the entry of a
    call whose text is not kept.
    """

    request_id: str = ""
    receipt: str | None = None
    placeholders: Sequence[str] = ()
    guard: dict[str, Any] | None = None
    edit: str | None = None
    refusal: str | None = None
    metadata_only: bool = False

    def put(self, into: flow.Flow) -> None:
        """Stores the notes in the flow as plain values, which is all that mitmproxy can store."""
        into.metadata[_KEY] = {name: getattr(self, name) for name in _NAMES}


_NAMES = tuple(each.name for each in fields(Notes))


def metadata_of(of: flow.Flow) -> Notes | None:
    """Returns the notes of a flow, including one loaded from a dump; None if it has none."""
    kept = of.metadata.get(_KEY)
    if not isinstance(kept, dict):
        return None
    return Notes(**{name: value for name, value in kept.items() if name in _NAMES})
