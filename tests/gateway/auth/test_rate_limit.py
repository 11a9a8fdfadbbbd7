"""The rate limit, against a clock of the test's own."""

import pytest

from gateway.auth.rate_limit import RateLimiter
from gateway.errors import TooManyRequests


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def let_through(limiter: RateLimiter, key_id: str, tries: int) -> int:
    passed = 0
    for _ in range(tries):
        try:
            limiter.check(key_id)
        except TooManyRequests:
            continue
        passed += 1
    return passed


@pytest.mark.parametrize("per_minute", [1, 7, 60, 1000])
def test_a_minutes_worth_may_come_at_once_and_in_the_long_run_no_more(per_minute: int) -> None:
    clock = Clock()
    limiter = RateLimiter(per_minute, clock=clock)
    assert let_through(limiter, "key_a", per_minute + 5) == per_minute
    assert let_through(limiter, "key_a", 10_000) == 0, "requests that are refused do not count"
    assert let_through(limiter, "key_b", 1) == 1
    passed = 0
    for _ in range(600):
        clock.now += 1.0
        passed += let_through(limiter, "key_a", 20)
    assert per_minute * 10 - 1 <= passed <= per_minute * 10


def test_a_client_that_waits_as_told_gets_through() -> None:
    clock = Clock()
    limiter = RateLimiter(4, clock=clock)
    assert let_through(limiter, "key_a", 4) == 4
    with pytest.raises(TooManyRequests) as refused:
        limiter.check("key_a")
    assert refused.value.retry_after == 15
    clock.now += 14
    assert let_through(limiter, "key_a", 1) == 0
    clock.now += 1
    assert let_through(limiter, "key_a", 2) == 1


def test_another_rate_counts_what_was_asked_before() -> None:
    clock = Clock()
    limiter = RateLimiter(60, clock=clock)
    assert let_through(limiter, "key_a", 30) == 30
    limiter.permit(6)
    assert let_through(limiter, "key_a", 30) == 3, "half a minute is left"
    limiter.permit(0)
    assert let_through(limiter, "key_a", 30) == 30


def test_zero_is_no_limit_and_a_negative_rate_a_mistake() -> None:
    assert let_through(RateLimiter(0, clock=Clock()), "key_a", 1000) == 1000
    with pytest.raises(ValueError, match="per_minute"):
        RateLimiter(-1)


def test_many_keys_take_bounded_memory_and_the_busy_ones_stay_limited() -> None:
    clock = Clock()
    limiter = RateLimiter(2, clock=clock)
    assert let_through(limiter, "key_busy", 5) == 2
    for number in range(25_000):
        limiter.check(f"key_{number}")
    assert len(limiter._even) <= 10_000
    assert let_through(limiter, "key_busy", 5) == 0
    clock.now += 3600
    for number in range(10_001):
        limiter.check(f"other_{number}")
    assert "key_busy" not in limiter._even
