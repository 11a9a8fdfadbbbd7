"""Answers below the question that they answer, with or without the name of who speaks and the time, as in messages and
chat exports: in `Your PIN?` and `4471` below it, the question is the label.
"""

from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, Kind, Taken
from gateway.detection.deobfuscation.rewrite import Edit
from gateway.detection.recognizer import compile_pattern

_ASKED = r"(?:\?|\b(?:pls|plz|please|bitte|svp|por favor|per favore))[\"')*_.! ]{0,4}[ \t]{0,4}\r?\n"
_TIME = r"[\[(]?(?:\d[\d./\-]{5,9},?[ T])?\d\d?:\d\d(?::\d\d)?(?: ?[ap]m)?[\])]?"
# A line of its own, as Slack has it, or before the words.
_HEAD = rf"(?:[\w.\-]{{1,24}}(?: [\w.\-]{{1,24}})?[ \t]{{1,4}}{_TIME}[ \t]*\r?\n)?"
_SPEAKER = rf"(?:{_TIME}(?: -)?[ \t]{{1,4}})?(?:\*{{0,2}}\w[\w.\-]{{0,24}}(?: [\w.\-]{{1,24}})?:\*{{0,2}}[ \t]{{1,4}})?"
_PLACE = compile_pattern(
    rf"(?i){_ASKED}[ \t>]{{0,8}}(?:\r?\n[ \t>]{{0,8}})?{_HEAD}{_SPEAKER}(?:it'?s |das ist |ist |c'est |es |è |é )?"
)


def _edits(data: bytes, taken: Taken) -> Iterator[Edit]:
    return (Edit(*found.span(), b": ", 0.5) for found in _PLACE.finditer(data))


DRESS = Deobfuscation("answered", Kind.DECODE, f"(?i){_ASKED}", _edits, b"\n")
