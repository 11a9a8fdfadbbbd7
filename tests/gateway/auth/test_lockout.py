"""Lock-outs, against a clock of the test's own."""

import pytest

from gateway.auth import lockout
from gateway.auth.lockout import Lockout
from gateway.errors import TooManyRequests

HERE = ("192.0.2.1", 50000)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def guess(locks: Lockout, number: int, client: tuple[str, int] | None = HERE) -> int:
    """Sends a wrong key. Returns the seconds that its sender is told to wait."""
    try:
        locks.count(client, f"svck_{number}")
    except TooManyRequests as refused:
        assert refused.code == "locked_out"
        assert "svck_" not in refused.message
        return refused.retry_after or 0
    return 0


def test_guesses_lock_an_address_out_for_ever_longer() -> None:
    clock = Clock()
    locks = Lockout(clock=clock)
    assert [guess(locks, number) for number in range(21)] == [0] * 21
    waits = []
    for number in range(12):
        waits.append(guess(locks, number + 100))
        clock.now += waits[-1]
        assert guess(locks, number + 200) == 0
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]


def test_other_addresses_are_not_concerned() -> None:
    locks = Lockout(clock=Clock())
    for number in range(22):
        guess(locks, number)
    assert guess(locks, 99) == 1
    assert guess(locks, 99, ("192.0.2.2", 50000)) == 0
    assert guess(locks, 99, None) == 0


def test_a_wrong_key_that_is_sent_again_is_no_other_guess() -> None:
    locks = Lockout(clock=Clock())
    assert [guess(locks, 1) for _ in range(1000)] == [0] * 1000
    for number in range(100):
        assert guess(locks, 1) == 0
        guess(locks, number)


def test_attempts_while_locked_out_do_not_prolong_it() -> None:
    clock = Clock()
    locks = Lockout(clock=clock)
    for number in range(100):
        guess(locks, number)
    clock.now += 1
    assert guess(locks, 200) == 0


def test_an_address_that_stops_is_forgiven() -> None:
    clock = Clock()
    locks = Lockout(clock=clock)
    for number in range(100):
        guess(locks, number)
    assert guess(locks, 999) == 1
    clock.now += 1 + 10 * 21
    assert [guess(locks, number) for number in range(21)] == [0] * 21


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.3", False),
    ],
)
def test_the_addresses_of_one_client(one: str, other: str, same: bool) -> None:
    locks = Lockout(clock=Clock())
    for number in range(22):
        guess(locks, number, (one, 1))
    assert (guess(locks, 99, (other, 2)) > 0) is same


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockout, "_MOST_ADDRESSES", 8)
    locks = Lockout(clock=Clock())
    for number in range(100):
        guess(locks, number, (f"192.0.2.{number}", 1))
    assert len(locks) == 8
