"""Tables of pattern recognizers: parts, examples, and what is refused at start."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.detection.recognizer import EntityType, Example, Pattern
from gateway.detection.recognizers._pattern_table import pattern_table

LOCKER = EntityType("LOCKER", "account", "The number of a locker.")
TABLE = r"""
[parts]
digit = '\d'
words = "locker, safe deposit box"
cue = '''
(?i)\b(?:locker
  |box)'''

[[recognizers]]
id = "locker.number"
type = "LOCKER"
context = "<<words>>"
validator = "even"

[[recognizers.patterns]]
regex = '<<cue>> (<<digit>>{4})\b'
score = 0.7
group = 1
prefilter = '<<cue>>'

[recognizers.examples]
"0.9" = ["locker ⟦4712⟧ is free", "box {digits:3}: ⟦4714⟧"]
none = ["locker 4711"]
"""


def even(value: str) -> bool | None:
    return None if int(value) % 2 == 0 else False


def test_a_table_becomes_recognizers(tmp_path: Path) -> None:
    (tmp_path / "locker.toml").write_text(TABLE, "utf-8")
    [found] = pattern_table(str(tmp_path / "locker.py"), (LOCKER,), {"even": even})
    assert found.patterns == (Pattern(r"(?i)\b(?:locker|box) (\d{4})\b", 0.7, 1, r"(?i)\b(?:locker|box)"),)
    assert (found.type, found.context, found.validator) == (LOCKER, ("locker", "safe deposit box"), even)
    assert found.examples[0] == Example("locker 4712 is free", "4712", score=0.9)
    assert found.examples[1].text.startswith("box ")
    assert "{" not in found.examples[1].text
    assert found.counter_examples == ("locker 4711",)


def test_expressions_share_a_score_and_their_first_group_is_private(tmp_path: Path) -> None:
    (tmp_path / "locker.toml").write_text(
        """
        [[recognizers]]
        id = "locker"
        type = "LOCKER"
        score = 0.6
        patterns = ['locker ([+\\-]?\\d)', '[(]\\(\\d', { regex = 'box (\\d)', score = 0.8 }]
        [recognizers.examples]
        none = ["locker"]
        """,
        "utf-8",
    )
    [found] = pattern_table(str(tmp_path / "locker.py"), (LOCKER,))
    assert found.patterns == (
        Pattern(r"locker ([+\-]?\d)", 0.6, 1),
        Pattern(r"[(]\(\d", 0.6),
        Pattern(r"box (\d)", 0.8, 1),
    )


@pytest.mark.parametrize(
    ("given", "instead", "error"),
    [
        ("score = 0.7", "scores = 0.7", ValidationError),
        ("context =", "contexts =", ValidationError),
        ('type = "LOCKER"', 'type = "OTHER"', KeyError),
        ('"even"', '"odd"', KeyError),
        ("<<digit>>", "<<digits>>", KeyError),
        ("⟦4712⟧", "4712", ValueError),
    ],
)
def test_an_unsound_table_is_refused(tmp_path: Path, given: str, instead: str, error: type[Exception]) -> None:
    (tmp_path / "locker.toml").write_text(TABLE.replace(given, instead), "utf-8")
    with pytest.raises(error):
        pattern_table(str(tmp_path / "locker.py"), (LOCKER,), {"even": even})
