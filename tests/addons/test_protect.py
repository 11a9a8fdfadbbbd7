"""What becomes of an exchange whose answer the gateway's process has missed, because it did not answer itself."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from addons.protect import Protect
from gateway.errors import Unavailable
from gateway.exchange.messages import Listener


class Silent:
    """A gateway that does not answer, and later does what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, bool]] = []

    async def close(self, *_: object) -> None:
        raise Unavailable("The gateway does not answer.")

    end = close

    def fail(self, request_id: str, outcome: str, sent: bool = False) -> None:
        self.told.append((request_id, outcome, sent))


@pytest.fixture
def silent() -> Silent:
    return Silent()


@pytest.fixture
def protect(silent: Silent) -> Any:
    others = cast(Any, SimpleNamespace(answered=lambda *_: None, remove=lambda _: None))
    return Protect(
        cast(Any, silent),
        others,
        others,
        others,
        others,
        intercepts=lambda *_: True,
        check_host=lambda *_: None,
        limit=1,
        key_search=others,
    )


async def test_the_client_gets_the_answer_as_it_came(protect: Any, silent: Silent) -> None:
    state = SimpleNamespace(listener=Listener.GATEWAY, request_id="req_1", answer=None, guard=None)
    await protect._restore(SimpleNamespace(status_code=200), state, b"[PERSON_4BGQG] called")
    assert state.answer == b"[PERSON_4BGQG] called"
    assert silent.told == [("req_1", "restore_failed", True)]


async def test_a_stream_that_was_delivered_is_recorded(protect: Any, silent: Silent) -> None:
    response = SimpleNamespace(status_code=200, data=SimpleNamespace(content=b""))
    stream = SimpleNamespace(end=lambda _: None, received=b"all of it")
    await protect._end_stream(SimpleNamespace(response=response), SimpleNamespace(request_id="req_2"), stream)
    assert silent.told == [("req_2", "answered", True)]
