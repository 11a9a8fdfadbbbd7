"""Which days a text names, however it spells them."""

from datetime import date

import pytest

from gateway.detection.recognizers._dates import MONTH_NAMES
from gateway.exchange.dates import days

DAY = date(1979, 3, 17)

SPELLINGS = [
    *("17.3.1979", "17.03.1979", "1979-03-17", "1979/3/17", "17 / 3 / 1979", "17-03-79", "'79-3-17", "3/17/1979"),
    *("19790317", "17031979", "03171979", "790317", "170379", "1979-03-17T08:30:00Z"),
    *("17 March 1979", "17th of March, 1979", "March 17, 1979", "Mar. the 17th, '79", "1979 March 17", "17-Mar-1979"),
    *("17. März 1979", "le 17 mars 1979", "17 de marzo de 1979", "17 maart 1979", "17.III.1979", "1979年3月17日"),
    *("\u0661\u0667/\u0663/\u0661\u0669\u0667\u0669", "born on 17.3.1979 at noon"),
]


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_day_in_any_usual_spelling(text: str) -> None:
    assert DAY in days(text)


@pytest.mark.parametrize("name", sorted(MONTH_NAMES))
def test_every_month_that_detection_knows_is_one(name: str) -> None:
    assert len(days(f"17 {name} 1979")) == 1


def test_an_ambiguous_date_is_each_of_its_meanings() -> None:
    assert days("3/4/1979") == {date(1979, 3, 4), date(1979, 4, 3)}
    assert days("17 Mar 79") == {DAY, date(2079, 3, 17)}


@pytest.mark.parametrize(
    "text", ["", "17.3.", "March 1979", "31.2.1979", "17 eggs of 3 hens in 1979", "1979", "123456789", "17.3.1979999"]
)
def test_text_that_names_no_day(text: str) -> None:
    assert days(text) == set()
