"""Segments a text into blocks (headings, paragraphs, items, tables, code) and blocks into sentences.

A missed boundary only makes a segment longer, while a wrong one splits a sentence, so the rules are conservative.
Offsets are code points. Spans neither start nor end with white space. Only white space separates two spans, or nothing,
as between sentences in Chinese and Japanese.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from gateway.detection.data_files import word_lists


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """The block `text[start:end]`. `level` is 1-6 for a heading, else 0."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0


type Line = tuple[int, int]
"""Start and end of a line without surrounding white space; equal for a blank line."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_ATX = re.compile(r"(#{1,6})[ \t]")
_SETEXT = re.compile(r"={3,}|-{3,}")
_NUMBERED = re.compile(
    r"(?:§+\s?\d|(?:article|section|part|chapter|artikel|abschnitt|teil|kapitel|chapitre|titre|partie"
    r"|artículo|sección|capítulo|artigo|secção|articolo|sezione|capitolo|hoofdstuk|artikel)\s+[\dIVXLC]"
    r"|\d+(?:\.\d+)*\.?\s+\S|第[\d一二三四五六七八九十百]+[章条節节])",
    re.IGNORECASE,
)
_BOLD = re.compile(r"(\*\*|__)[^*_]+(\*\*|__):?")
_BULLET = re.compile(r"(?:[-*+•◦▪‣–—]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]|[①-⑳])[ \t\u3000]+\S")
_LABEL = re.compile(r"[^\W\d_][\w/().'’-]*(?: [\w/().'’-]+){0,3}[:：][ \t\u3000]*\S|[\u3040-\u9fff]{1,12}[:：]")
_STAMP = re.compile(r"[\[(<]?(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d\d)\b")
_CLOSING = "\"'”’»›)]}*_"
_OPENING = "\"'“‘„«‹([{*_¿¡"
_TERMINAL = re.compile(rf"[.!?…؟۔।॥]+[{re.escape(_CLOSING)}]*(?=\s)|[。！？｡]+[」』”’）】》〉\"')]*")
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_ABBREVIATIONS, _BEFORE_NUMBERS = word_lists(__file__).values()
_HEADING_LONGEST = 80
_SHORT_LINE = 45
_FULL_LINE = 60
_QUOTE_LONGEST = 2000
_QUOTES = ("「『“（【《", "」』”）】》")


def blocks(text: str) -> list[Block]:
    """Returns the blocks of a text in order. Apart from white space, they cover the whole text."""
    lines = [_trimmed(text, match.start(), match.end()) for match in _LINE.finditer(text) if match[0]]
    found: list[Block] = []
    at = 0
    while at < len(lines):
        if lines[at][0] == lines[at][1]:
            at += 1
            continue
        kind, count, level = _opening(text, lines, at)
        if count == 0:
            count = 1
            while at + count < len(lines) and not _ends_paragraph(text, lines, at + count):
                count += 1
        found.append(Block(kind, lines[at][0], lines[at + count - 1][1], level))
        at += count
    return found


def sentences(text: str, block: Block) -> list[tuple[int, int]]:
    """Returns the sentences of a block. Headings, tables and code are not divided."""
    if block.kind not in (BlockKind.PARAGRAPH, BlockKind.ITEM):
        return [(block.start, block.end)]
    if block.kind is BlockKind.PARAGRAPH and _is_list_of_lines(text, block):
        return lines_of(text, block.start, block.end)
    found: list[tuple[int, int]] = []
    start = block.start
    for end, following in _borders(text, block.start, block.end):
        found.append((start, end))
        start = following
    found.append((start, block.end))
    return found


def lines_of(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Returns the non-blank lines of `text[start:end]` without surrounding white space."""
    trimmed = (_trimmed(text, match.start(), match.end()) for match in _LINE.finditer(text, start, end) if match[0])
    return [(first, last) for first, last in trimmed if first < last]


def _trimmed(text: str, start: int, end: int) -> Line:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _opening(text: str, lines: Sequence[Line], at: int) -> tuple[BlockKind, int, int]:
    """Returns kind, number of lines and level of the block that starts here; 0 lines if it extends like a paragraph."""
    start, end = lines[at]
    fence = _FENCE.match(text, start, end)
    if fence:
        return BlockKind.CODE, _fenced(text, lines, at, fence[1]), 0
    rows = _rows(text, lines, at)
    if rows:
        return BlockKind.TABLE, rows, 0
    level, count = _heading(text, lines, at)
    if level:
        return BlockKind.HEADING, count, level
    item = any(one.match(text, start, end) for one in (_BULLET, _LABEL, _STAMP))
    return (BlockKind.ITEM if item else BlockKind.PARAGRAPH), 0, 0


def _ends_paragraph(text: str, lines: Sequence[Line], at: int) -> bool:
    start, end = lines[at]
    if start == end:
        return True
    kind = _opening(text, lines, at)[0]
    before, last = lines[at - 1]
    if kind is BlockKind.ITEM and last - before > _FULL_LINE and text[last - 1] not in ".!?:;。！？：；":
        # A wrapped line that happens to start with a dash, a number or a label.
        return False
    return kind is not BlockKind.PARAGRAPH


def _fenced(text: str, lines: Sequence[Line], at: int, fence: str) -> int:
    """Counts the lines up to the closing fence, or to the end if there is none (CommonMark 0.31, section 4.5)."""
    for index in range(at + 1, len(lines)):
        line = text[slice(*lines[index])]
        if line.startswith(fence) and not line.strip(fence[0]):
            return index - at + 1
    return len(lines) - at


def _rows(text: str, lines: Sequence[Line], at: int) -> int:
    """Counts the lines of the table here: at least two with bars or tabs, or three with equal separators."""
    first = text[slice(*lines[at])]
    for sign, least_signs, least_rows, equal in (
        ("|", 2, 2, False),
        ("│", 2, 2, False),
        ("\t", 1, 2, False),
        (";", 2, 3, True),
        (",", 2, 3, True),
    ):
        signs = first.count(sign)
        frame = sign in "|│" and first[0] in "+┌"
        if signs < least_signs and not frame:
            continue
        count = 1
        while at + count < len(lines) and _is_row(text[slice(*lines[at + count])], sign, signs if equal else 0):
            count += 1
        if count >= least_rows:
            return count
    return 0


def _is_row(line: str, sign: str, signs: int) -> bool:
    if signs:
        # Prose has commas, too. A row has as many as the previous line and contains no end of a sentence.
        return line.count(sign) == signs and ". " not in line
    return line.count(sign) >= 1 or (sign in "|│" and line[:1] in tuple("+┌├└"))


def _heading(text: str, lines: Sequence[Line], at: int) -> tuple[int, int]:
    """Returns level (0 if it is not a heading) and number of lines of a heading."""
    start, end = lines[at]
    atx = _ATX.match(text, start, end)
    if atx:
        return len(atx[1]), 1
    if end - start > _HEADING_LONGEST:
        return 0, 0
    line = text[start:end]
    below = text[slice(*lines[at + 1])] if at + 1 < len(lines) else ""
    if _SETEXT.fullmatch(below):
        return (1 if below[0] == "=" else 2), 2
    alone = (at == 0 or lines[at - 1][0] == lines[at - 1][1]) and (not below or line.endswith((":", "：")))
    if line[-1] in ".!?,;。！？、" or (not alone and not _is_capitals(line)):
        return 0, 0
    if _is_capitals(line):
        return 2, 1
    if _NUMBERED.match(line) or _BOLD.fullmatch(line) or line.endswith((":", "：")):
        return 3, 1
    return 0, 0


def _is_capitals(line: str) -> bool:
    letters = [char for char in line if char.isalpha()]
    # Fewer than six letters may as well be a code or an acronym.
    return len(letters) >= 6 and " ".join(letters).isupper() and not any(char.isdigit() for char in line)


def _is_list_of_lines(text: str, block: Block) -> bool:
    """Returns whether a block is an address or a list without bullets: short lines that do not continue each other."""
    lines = lines_of(text, block.start, block.end)
    if len(lines) < 2 or any(end - start > _SHORT_LINE for start, end in lines):
        return False
    if any(text[start].islower() for start, _ in lines[1:]) or _IDEOGRAPH.search(text, block.start, block.end):
        return False
    # A line that starts or ends inside a sentence is a wrapped line.
    return not any(_inner_stop(text, start, end) for start, end in lines)


def _inner_stop(text: str, start: int, end: int) -> bool:
    return any(True for _ in _borders(text, start, end)) or text[end - 1] in "-,;("


def _borders(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the end of each sentence except the last, and the start of the next."""
    for match in _TERMINAL.finditer(text, start, end):
        following, _ = _trimmed(text, match.end(), end)
        if following == end:
            return
        if match[0][0] in "。！？｡":
            closed = following > match.end() or (match[0][-1] in "。！？｡" and not _in_quotes(text, start, match.end()))
        else:
            closed = _is_end(text, start, match, following, end)
        if closed:
            yield match.end(), following
            start = following


def _in_quotes(text: str, start: int, end: int) -> bool:
    """Returns whether a quotation is open at `end`: 「はい。そうです。」と言った is one sentence."""
    start = max(start, end - _QUOTE_LONGEST)
    opened, closed = (sum(text.count(sign, start, end) for sign in signs) for signs in _QUOTES)
    return opened > closed


def _is_end(text: str, start: int, match: "re.Match[str]", following: int, end: int) -> bool:
    while following < end and text[following] in _OPENING:
        following += 1
    after = text[following : following + 1]
    if after.islower():
        return False
    if match[0][0] != "." or match[0].startswith(".."):
        return True
    before = max(start, match.start() - 40)
    word = (text[before : match.start()].split() or [""])[-1].lstrip(_OPENING).lower()
    if not word or ("." in word and not word.replace(".", "").isdigit() and len(word) <= 6):
        return False
    if len(word) == 1 or word in _ABBREVIATIONS or (after.isdigit() and word in _BEFORE_NUMBERS):
        return False
    # "am 3. Mai": many European languages write ordinals with a full stop.
    return not (word.isdigit() and len(word) <= 2)
