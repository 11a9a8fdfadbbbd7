"""Joins an answer to the question on the line above: in `Your PIN?` followed by `4471`, the question is the label.

The speaker's name and the time may come in between, as in messages and chat exports.
"""

from collections.abc import Iterator

from gateway.detection.deobfuscation.base import Deobfuscation, DetectedSpans, Edit, RewriteKind
from gateway.detection.recognizer import compile_pattern

_QUESTION = r"(?:\?|\b(?:pls|plz|please|bitte|svp|por favor|per favore))[\"')*_.! ]{0,4}[ \t]{0,4}\r?\n"
_TIME = r"[\[(]?(?:\d[\d./\-]{5,9},?[ T])?\d\d?:\d\d(?::\d\d)?(?: ?[ap]m)?[\])]?"
# On a line of its own, as in Slack, or in front of the text.
_HEAD = rf"(?:[\w.\-]{{1,24}}(?: [\w.\-]{{1,24}})?[ \t]{{1,4}}{_TIME}[ \t]*\r?\n)?"
_SPEAKER = rf"(?:{_TIME}(?: -)?[ \t]{{1,4}})?(?:\*{{0,2}}\w[\w.\-]{{0,24}}(?: [\w.\-]{{1,24}})?:\*{{0,2}}[ \t]{{1,4}})?"
_LINE_BREAK = compile_pattern(
    rf"(?i){_QUESTION}[ \t>]{{0,8}}(?:\r?\n[ \t>]{{0,8}})?{_HEAD}{_SPEAKER}(?:it'?s |das ist |ist |c'est |es |è |é )?"
)


def _answer_edits(data: bytes, detected: DetectedSpans) -> Iterator[Edit]:
    return (Edit(*found.span(), b": ", 0.5) for found in _LINE_BREAK.finditer(data))


DEOBFUSCATION = Deobfuscation("question_answer", RewriteKind.DECODE, f"(?i){_QUESTION}", _answer_edits, b"\n")
