"""Time that never runs backwards, and continues while the system clock is behind."""

from gateway.workers.steady_clock import SteadyClock


class Hands:
    def __init__(self) -> None:
        self.wall, self.monotonic = 1000.0, 50.0

    def pass_by(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds


def test_it_follows_the_system_clock_forward_and_continues_while_that_is_behind() -> None:
    hands = Hands()
    clock = SteadyClock(lambda: hands.wall, monotonic=lambda: hands.monotonic)
    assert clock.now() == 1000
    hands.pass_by(5)
    assert clock.now() == 1005
    hands.wall += 3600
    assert clock.now() == 4605
    hands.wall -= 7200
    for later in (4615, 4625):
        hands.pass_by(10)
        assert clock.now() == later


def test_it_continues_from_the_time_seen_before() -> None:
    hands = Hands()
    clock = SteadyClock(lambda: hands.wall, monotonic=lambda: hands.monotonic)
    assert clock.now(5000) == 5000
    hands.pass_by(2)
    assert clock.now(5000) == clock.now(5001) == 5002
