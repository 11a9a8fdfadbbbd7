"""Checksums and dates that several families share."""

from datetime import date

_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def digits_of(value: str) -> str:
    """Only the ASCII digits of a value."""
    return "".join(char for char in value if "0" <= char <= "9")


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1 annex B."""
    total = sum(_DOUBLED[int(digit)] for digit in digits[-2::-2]) + sum(int(digit) for digit in digits[::-2])
    return total % 10 == 0


def separators(value: str) -> set[str]:
    """The different signs between the digits and letters of a value."""
    return {char for char in value if not char.isalnum()}


def is_date(year: int, month: int, day: int) -> bool:
    """Whether it is a day of the calendar."""
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
