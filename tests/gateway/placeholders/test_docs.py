"""The forms that docs/placeholders.md shows are forms that restore, or do not, as it says."""

import re
from pathlib import Path

import gateway.placeholders
from gateway.placeholders import RestoreScope

from .conftest import Session

PAGE = (Path(__file__).parents[3] / "docs" / "placeholders.md").read_text(encoding="utf-8")
WIDE = {ord(char): chr(ord(char) + 0xFEE0) for char in "0123456789ABCDEFGHJKMNPQRSTVWXYZ"}


def examples(heading: str) -> list[str]:
    table = PAGE.split(f"| {heading} | example |")[1].split("\n\n")[0]
    return re.findall(r"`([^`]+)`", table)


def with_tag(example: str, tag: str) -> str:
    for written, own in (("7KQ2M", tag), ("7kq2m", tag.lower()), ("7KQ2M".translate(WIDE), tag.translate(WIDE))):
        example = example.replace(written, own)
    return example


def test_the_forms_of_the_page_open(session: Session) -> None:
    tag = session.names["email"][-6:-1]
    shown = examples("form")
    assert len(shown) > 15
    for example in shown:
        done = session.placeholders.restore(with_tag(example, tag), rules=RestoreScope("source"))
        assert done.text == "anna@acme.test", example


def test_what_the_page_calls_untouched_stays(session: Session) -> None:
    tag = session.names["email"][-6:-1]
    shown = examples("not a placeholder")
    assert len(shown) > 8
    for example in shown:
        text = with_tag(example, tag)
        assert session.placeholders.restore(text, rules=RestoreScope("always")).text == text


def test_every_public_name_is_on_the_page() -> None:
    assert [name for name in gateway.placeholders.__all__ if f"`{name}`" not in PAGE] == []
