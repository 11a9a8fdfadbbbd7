"""What native calls name otherwise: sent on, it would be without effect, and what was to be strict cross by default."""

from typing import Any

import pytest

from gateway.errors import Unprocessable
from gateway.wires.chat_completions import ChatCompletions

WIRE = ChatCompletions()


def request(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "one"}], **fields}


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("policy", "svc_policy"),
        ("policy_id", "svc_policy"),
        ("privacy_mode", "svc_privacy_mode"),
        ("Privacy_Mode", "svc_privacy_mode"),
    ],
)
def test_they_are_refused_with_the_name_of_chat(name: str, ours: str) -> None:
    with pytest.raises(Unprocessable, match=f"`{ours}`") as refused:
        WIRE.read(request(**{name: "canary"}))
    assert refused.value.param == name
    assert "canary" not in refused.value.message


def test_elsewhere_they_are_the_callers_words() -> None:
    read = WIRE.read(request(metadata={"policy": "strict", "privacy_mode": "strict"}))
    assert (read.policy_id, read.mode) == (None, None)
