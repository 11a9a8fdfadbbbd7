"""The forms that docs/placeholders.md shows are forms that restore, or do not, as it says."""

import re
from pathlib import Path

import pytest

import gateway.placeholders
from gateway.placeholders import RestoreScope

from .conftest import Session

PAGE = (Path(__file__).parents[3] / "docs" / "placeholders.md").read_text(encoding="utf-8")
WIDE = {ord(char): chr(ord(char) + 0xFEE0) for char in "0123456789ABCDEFGHJKMNPQRSTVWXYZ"}


def examples(heading: str) -> list[str]:
    table = PAGE.split(f"| {heading} | example |")[1].split("\n\n")[0]
    return [example.replace("↵", "\n") for example in re.findall(r"`([^`]+)`", table)]


def with_tag(example: str, tag: str) -> str:
    for written, own in (("7KQ2M", tag), ("7kq2m", tag.lower()), ("7KQ2M".translate(WIDE), tag.translate(WIDE))):
        example = example.replace(written, own)
    return example


@pytest.mark.parametrize(("heading", "opens"), [("form", True), ("not a placeholder", False)])
def test_the_forms_of_the_page_open_or_stay(session: Session, heading: str, opens: bool) -> None:
    shown = examples(heading)
    assert len(shown) > 8
    for example in shown:
        text = with_tag(example, session.names["email"][-6:-1])
        rules = RestoreScope("source" if opens else "always")
        assert session.placeholders.restore(text, rules=rules).text == ("anna@acme.test" if opens else text)


def test_every_public_name_is_on_the_page() -> None:
    assert [name for name in gateway.placeholders.__all__ if f"`{name}`" not in PAGE] == []
