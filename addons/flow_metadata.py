"""What is known of a flow beside its bytes. It travels in `flow.metadata`, into dumps and holds nothing private."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from mitmproxy import flow

_KEY = "privacy_gateway"


@dataclass(slots=True)
class Notes:
    """`receipt` is the receipt's record as JSON, `guard` the verdict as in an answer, `placeholders` the request's own.

    `edit` is the request id of the edit's own receipt, `refusal` the code of a refusal. With `metadata_only` the flow
    stands for a call whose text is not kept.
    """

    request_id: str = ""
    receipt: str | None = None
    placeholders: Sequence[str] = ()
    guard: dict[str, Any] | None = None
    edit: str | None = None
    refusal: str | None = None
    metadata_only: bool = False

    def put(self, into: flow.Flow) -> None:
        """Attaches the notes. mitmproxy stores plain values only."""
        into.metadata[_KEY] = {name: getattr(self, name) for name in _NAMES}


_NAMES = tuple(each.name for each in fields(Notes))


def metadata_of(of: flow.Flow) -> Notes | None:
    """The notes of a flow, also of one that was loaded from a dump; None for a flow without."""
    kept = of.metadata.get(_KEY)
    if not isinstance(kept, dict):
        return None
    return Notes(**{name: value for name, value in kept.items() if name in _NAMES})
