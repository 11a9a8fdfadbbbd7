"""URLs that stand in running text: with a scheme, protocol-relative, `www.`, or a host with a path.

Where such a URL ends is a matter of who renders the text. This reader takes the most generous view, that of the
autolink extension of GitHub Flavored Markdown (only white space and `<` end it), but for two cases where something
has opened it: `<...>` ends at `>`, and a quoted one at its quote where what follows shows that the quote closes.
"""

import re
from collections import deque

from gateway.placeholders.destinations import MARK, Ledger, Mark, Region

_ENDS = " \t\n\r\f\v<"
_END = re.compile(f"[{_ENDS}]")
_ANGLE_END = re.compile("[<>]")
_QUOTES = frozenset("\"'`")
_BEHIND_QUOTE = frozenset(",:;)]}>" + _ENDS)
# What behind a placeholder shows that no host and no scheme goes on there.
_PROSE = frozenset(" \t\n\r,;!)'\"*`")
_SENTENCE_ENDS = frozenset({". ", ".\n"})
_SLASHES = frozenset("/\\")
# Schemes that a browser follows although no slashes stand behind them.
_SCHEMES = frozenset("http https ftp ws wss mailto tel sms javascript vbscript sip sips xmpp".split())
# A run of what hosts and schemes are made of, with the character that ends it.
_RUN = re.compile(rf"([\w{MARK}.+-]*+)([^\w{MARK}.+-]|\Z)", re.DOTALL)
_ENTITY = re.compile(r"0*(?:46|47|58|92)|[xX]0*(?:2[eEfF]|3[aA]|5[cC])")
_LONGEST_HOST = 256
_LONG = 4096

_NOTHING = -1
_WAIT = -2


class PlainUrls:
    """Reads a text in pieces. What it says depends on the text alone, not on where the pieces were cut."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._region: Region | None = None
        self._closer = ""
        # A quote that ends the URL if what follows it says so.
        self._quote = ""
        # Outside of a URL: the word so far, as far as a URL can still begin in it, and the placeholders in it.
        self._word = ""
        self._before = ""
        self._cut = False
        self._marks: deque[tuple[Mark, bool]] = deque()

    def text(self, piece: str) -> None:
        while piece:
            if self._region is not None:
                piece = self._in_url(self._region, piece)
            elif self._marks:
                piece = self._in_word(piece)
            else:
                piece = self._skip(piece)

    def mark(self, mark: Mark, *, waits: bool) -> None:
        if self._region is not None:
            if self._quote:
                self._region.text(self._quote)
                self._quote = ""
            self._region.mark(mark, waits=waits)
            return
        self._word += MARK
        self._marks.append((mark, waits))
        mark.waits += waits
        if self._word != MARK:
            self._look(final=False)

    def end(self) -> None:
        if self._marks:
            self._look(final=True)
        if self._region is not None:
            self._region.close()
            self._region = None

    def _skip(self, piece: str) -> str:
        """Text without a placeholder, outside of a URL: only its last word can matter later, or what `<` has opened.

        Returns what is still to be read.
        """
        angle = piece.rfind("<")
        if angle >= 0:
            self._word, self._before, self._cut = "<", "", False
            piece = piece[angle + 1 :]
        if self._word[:1] == "<" and (end := _END.search(piece)) is not None:
            self._word += piece[: end.start()]
            self._finish_word()
            return piece[end.start() :]
        at = max(map(piece.rfind, _ENDS))
        if at >= 0:
            self._word, self._before, self._cut = "", "", False
        self._word += piece[at + 1 :]
        if len(self._word) > _LONG:
            self._look(final=False)
        return ""

    def _finish_word(self) -> None:
        """The word ends with white space or with `<`, and so does the URL in it, unless `<` has opened it."""
        self._look(final=True)
        if self._region is not None and self._closer != ">":
            self._region.close()
            self._region = None
        if self._region is None:
            self._word, self._before, self._cut = "", "", False

    def _in_word(self, piece: str) -> str:
        """Text behind a placeholder in the same word. Returns what stands behind the word."""
        if self._word == MARK and (piece[0] in _PROSE or piece[:2] in _SENTENCE_ENDS):
            # By far the most frequent case: a word of its own in running text.
            self._release(1)
            self._word, self._before, self._cut = "", MARK, False
            return piece
        end = _END.search(piece)
        if end is None:
            self._word += piece
            self._look(final=False)
            return ""
        self._word += piece[: end.start()]
        self._finish_word()
        return piece[end.start() :]

    def _in_url(self, region: Region, piece: str) -> str:
        """Text in a URL. Returns what stands behind the URL."""
        if self._quote:
            quote, self._quote = self._quote, ""
            if piece[0] in _BEHIND_QUOTE:
                return self._leave(region, piece, quote)
            region.text(quote)
        match = (_ANGLE_END if self._closer == ">" else _END).search(piece)
        end = match.start() if match else len(piece)
        if self._closer in _QUOTES:
            at = _closing_quote(piece, 0, end, self._closer, final=match is not None)
            if at >= 0:
                region.text(piece[:at])
                return self._leave(region, piece[at:], "")
            if match is None and piece.endswith(self._closer):
                region.text(piece[:-1])
                self._quote = self._closer
                return ""
        region.text(piece[:end])
        return self._leave(region, piece[end:], "") if match else ""

    def _leave(self, region: Region, rest: str, before: str) -> str:
        region.close()
        self._region = None
        self._word, self._before, self._cut = "", before, False
        return rest

    def _look(self, *, final: bool) -> None:
        """Looks for URLs in the word so far. `final` says that the word ends here."""
        word, position = self._word, 0
        while True:
            start, keep = self._start(word, position, final=final)
            self._release(word.count(MARK, position, start if start >= 0 else keep))
            if start < 0:
                break
            opener = word[start - 1] if start else self._before
            self._closer = ">" if opener == "<" else opener if opener in _QUOTES else ""
            end = self._end(word, start, final=final)
            region = Region(self._ledger)
            if end < 0:
                # The quote at the very end may close the URL; the next piece tells.
                self._quote = self._closer if not final and self._closer in _QUOTES and word[-1] == self._closer else ""
                self._fill(region, word[start : len(word) - len(self._quote)])
                self._region, self._word = region, ""
                return
            self._fill(region, word[start:end])
            region.close()
            position = end
        if keep:
            self._before, self._cut = word[keep - 1], False
            word = word[keep:]
        if len(word) > 2 * _LONGEST_HOST:
            # The end of a run too long to be a host. What began with `www.` was seen when it began.
            self._release(word.count(MARK, 0, len(word) - _LONGEST_HOST))
            self._before, self._cut = word[-_LONGEST_HOST - 1], True
            word = word[-_LONGEST_HOST:]
        self._word = word

    def _start(self, word: str, position: int, *, final: bool) -> tuple[int, int]:
        """Where the first URL begins, or -1, and from where on the word must be kept to find one later."""
        for match in _RUN.finditer(word, position):
            run, start, at = match[1], match.start(), match.end(1)
            verdict = self._verdict(word, run, start, at, final=final)
            if verdict == _WAIT:
                return _NOTHING, start
            if verdict == _NOTHING and MARK in run and _dangles(run):
                verdict = start
            if verdict >= 0:
                return max(verdict, at - _LONGEST_HOST), 0
            if at == len(word):
                break
        return _NOTHING, len(word)

    def _verdict(self, word: str, run: str, start: int, at: int, *, final: bool) -> int:
        """Where a URL begins that shows itself at `at`, the end of a run; `_NOTHING`; `_WAIT` for more text."""
        if run[:4].lower() == "www." and not (self._cut and start == 0):
            return start
        char = word[at : at + 1]
        if not char:
            return _NOTHING if final else _WAIT
        after = word[at + 1 : at + 3]
        waiting = not final and len(after) < 2 and set(after) <= _SLASHES
        if char == ":":
            scheme = run.lower() in _SCHEMES and bool(after)
            if scheme or (len(after) == 2 and set(after) <= _SLASHES):
                return start
            if after[:1].isdigit() and _is_host(run):
                return start
            return _WAIT if waiting else _NOTHING
        if char == ";" and _is_entity(word[start - 1] if start else self._before, run):
            return start
        if char == "(" and run.lower() == "url":
            return at + 1 if after else _WAIT if waiting else _NOTHING
        if run:
            return start if char in "/?#\\" and _is_host(run) else _NOTHING
        before = word[at - 1] if at else self._before
        if char not in _SLASHES or (before and before in ":/\\"):
            return _NOTHING
        if len(after) < 2:
            return _WAIT if waiting else _NOTHING
        return at if after[0] in _SLASHES and "/" in char + after[0] else _NOTHING

    def _end(self, word: str, start: int, *, final: bool) -> int:
        """Where in the word a URL that begins at `start` ends, or -1."""
        if self._closer == ">":
            return word.find(">", start)
        return _closing_quote(word, start, len(word), self._closer, final=final) if self._closer else -1

    def _fill(self, region: Region, text: str) -> None:
        """Hands the text of a URL over to its region, with the placeholders in it."""
        parts = text.split(MARK)
        for part in parts[:-1]:
            if part:
                region.text(part)
            mark, waits = self._marks.popleft()
            mark.waits -= waits
            region.mark(mark, waits=waits)
        if parts[-1]:
            region.text(parts[-1])

    def _release(self, count: int) -> None:
        """The first placeholders of the word stand in no URL."""
        for _ in range(count):
            mark, waits = self._marks.popleft()
            mark.waits -= waits


def _closing_quote(text: str, start: int, end: int, quote: str, *, final: bool) -> int:
    """Where before `end` a quote stands that closes, or -1. With `final` the last character counts as followed."""
    at = text.find(quote, start, end)
    while at >= 0:
        if text[at + 1 : at + 2] in _BEHIND_QUOTE if at + 1 < end else final:
            return at
        at = text.find(quote, at + 1, end)
    return -1


def _is_entity(before: str, run: str) -> bool:
    """Whether `#47;`, `&sol;` and the like spell one of `./:` and the backslash: renderers decode before they link."""
    if before == "&":
        return run in {"sol", "colon", "period", "bsol"}
    return before == "#" and _ENTITY.fullmatch(run) is not None


def _is_host(run: str) -> bool:
    """`name.tld` or an IPv4 address."""
    labels = run[-_LONGEST_HOST:].rstrip(".").split(".")
    if len(labels) < 2 or not all(labels):
        return False
    last = labels[-1]
    top_level = (last.isalpha() and 2 <= len(last) <= 24) or last.lower().startswith("xn--")
    return top_level or (len(labels) >= 4 and all(map(str.isdigit, labels[-4:])))


def _dangles(run: str) -> bool:
    """Whether a placeholder is the beginning of somebody's host name: `[X].name.tld`."""
    rest = run.rstrip(".").rpartition(MARK)[2].split(".")
    return len(rest) > 2 and all(rest[1:]) and rest[-1].isalpha() and len(rest[-1]) >= 2
