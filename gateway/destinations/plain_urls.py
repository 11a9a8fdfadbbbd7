"""Parses URLs in running text: with a scheme, protocol-relative, with `www.`, or a host with a path.

Renderers disagree about the end of such a URL. This parser follows the most generous, the autolink extension of GitHub
Flavored Markdown: only white space and `<` end a URL. There are two exceptions: `<...>` ends at `>`, and a URL after a
quote ends at the same quote if the next character shows that the quote closes.
"""

import re
from collections import deque

from gateway.destinations.rule import MARK, Destination, Mark, UrlRule

_ENDS = " \t\n\r\f\v<"
_END = re.compile(f"[{_ENDS}]")
_ANGLE_END = re.compile("[<>]")
_QUOTES = frozenset("\"'`")
_AFTER_QUOTE = frozenset(",:;)]}>" + _ENDS)
# After a placeholder, these show that it is neither a host nor a scheme.
_PROSE = frozenset(" \t\n\r,;!)'\"*`")
_SENTENCE_ENDS = frozenset({". ", ".\n"})
_SLASHES = frozenset("/\\")
# Schemes that browsers follow without slashes.
_SCHEMES = frozenset("http https ftp ws wss mailto tel sms javascript vbscript sip sips xmpp".split())
# A run of the characters of hosts and schemes, and the character that ends it.
_RUN = re.compile(rf"([\w{MARK}.+-]*+)([^\w{MARK}.+-]|\Z)", re.DOTALL)
_ENTITY = re.compile(r"0*(?:46|47|58|92)|[xX]0*(?:2[eEfF]|3[aA]|5[cC])")
_LONGEST_HOST = 256
_LONG = 4096

_NOTHING, _WAIT = -1, -2


class PlainUrls:
    """Reads a text in pieces. The result depends on the text alone, not on where it is cut."""

    def __init__(self, rule: UrlRule) -> None:
        self._rule = rule
        self._url: Destination | None = None
        # The quote or `>` that ends the URL; and a quote just read that ends it if the next character confirms.
        self._closer = self._quote = ""
        # Outside of URLs: the current word, as far as a URL may still start in it, and its placeholders.
        self._word = self._before = ""
        self._cut = False
        self._marks: deque[tuple[Mark, bool]] = deque()

    def text(self, piece: str) -> None:
        while piece:
            if self._url is not None:
                piece = self._in_url(self._url, piece)
            elif self._marks:
                piece = self._in_word(piece)
            else:
                piece = self._skip(piece)

    def mark(self, mark: Mark, *, waits: bool) -> None:
        if self._url is not None:
            self._url.text(self._quote)
            self._quote = ""
            self._url.mark(mark, waits=waits)
            return
        self._word += MARK
        self._marks.append((mark, waits))
        mark.waits += waits
        if self._word != MARK:
            self._find_urls(final=False)

    def end(self) -> None:
        if self._marks:
            self._find_urls(final=True)
        self._close_url()

    def _new_word(self, before: str = "") -> None:
        self._word, self._before, self._cut = "", before, False

    def _close_url(self) -> None:
        if self._url is not None:
            self._url.close()
            self._url = None

    def _skip(self, piece: str) -> str:
        """Reads text without a placeholder, of which only the last word, or what follows `<`, can matter later.

        Returns the rest.
        """
        angle = piece.rfind("<")
        if angle >= 0:
            self._new_word()
            self._word = "<"
            piece = piece[angle + 1 :]
        if self._word[:1] == "<" and (end := _END.search(piece)) is not None:
            self._word += piece[: end.start()]
            self._end_word()
            return piece[end.start() :]
        at = max(map(piece.rfind, _ENDS))
        if at >= 0:
            self._new_word()
        self._word += piece[at + 1 :]
        if len(self._word) > _LONG:
            self._find_urls(final=False)
        return ""

    def _end_word(self) -> None:
        """Ends the word at white space or `<`, and with it the URL in it, unless that is in angle brackets."""
        self._find_urls(final=True)
        if self._closer != ">":
            self._close_url()
        if self._url is None:
            self._new_word()

    def _in_word(self, piece: str) -> str:
        """Reads text after a placeholder in the same word. Returns the text after the word."""
        if self._word == MARK and (piece[0] in _PROSE or piece[:2] in _SENTENCE_ENDS):
            # A word of its own, by far the most frequent case.
            self._release(1)
            self._new_word(MARK)
            return piece
        end = _END.search(piece)
        if end is None:
            self._word += piece
            self._find_urls(final=False)
            return ""
        self._word += piece[: end.start()]
        self._end_word()
        return piece[end.start() :]

    def _in_url(self, url: Destination, piece: str) -> str:
        """Reads text inside a URL. Returns the text after the URL."""
        if self._quote:
            quote, self._quote = self._quote, ""
            if piece[0] in _AFTER_QUOTE:
                return self._leave(piece, quote)
            url.text(quote)
        match = (_ANGLE_END if self._closer == ">" else _END).search(piece)
        end = match.start() if match else len(piece)
        if self._closer in _QUOTES:
            at = _closing_quote(piece, 0, end, self._closer, final=match is not None)
            if at >= 0:
                url.text(piece[:at])
                return self._leave(piece[at:])
            if match is None and piece.endswith(self._closer):
                url.text(piece[:-1])
                self._quote = self._closer
                return ""
        url.text(piece[:end])
        return self._leave(piece[end:]) if match else ""

    def _leave(self, rest: str, before: str = "") -> str:
        self._close_url()
        self._new_word(before)
        return rest

    def _find_urls(self, *, final: bool) -> None:
        """Finds the URLs in the word so far. `final` says that the word ends here."""
        word, position = self._word, 0
        while True:
            start, keep = self._start(word, position, final=final)
            self._release(word.count(MARK, position, start if start >= 0 else keep))
            if start < 0:
                break
            opener = word[start - 1] if start else self._before
            self._closer = ">" if opener == "<" else opener if opener in _QUOTES else ""
            end = self._end(word, start, final=final)
            url = Destination(self._rule)
            if end < 0:
                # A quote at the end may close the URL, which depends on the next piece.
                self._quote = self._closer if not final and self._closer in _QUOTES and word[-1] == self._closer else ""
                self._fill(url, word[start : len(word) - len(self._quote)])
                self._url, self._word = url, ""
                return
            self._fill(url, word[start:end])
            url.close()
            position = end
        if keep:
            self._before, self._cut = word[keep - 1], False
            word = word[keep:]
        if len(word) > 2 * _LONGEST_HOST:
            # The end of a run that is too long for a host. `www.` was found when the run started.
            self._release(word.count(MARK, 0, len(word) - _LONGEST_HOST))
            self._before, self._cut = word[-_LONGEST_HOST - 1], True
            word = word[-_LONGEST_HOST:]
        self._word = word

    def _start(self, word: str, position: int, *, final: bool) -> tuple[int, int]:
        """Returns the start of the first URL or -1, and the offset from which the word is needed to find one later."""
        for match in _RUN.finditer(word, position):
            run, start, at = match[1], match.start(), match.end(1)
            found = self._start_in_run(word, run, start, at, final=final)
            if found == _WAIT:
                return _NOTHING, start
            if found == _NOTHING and MARK in run and _is_subdomain(run):
                found = start
            if found >= 0:
                return max(found, at - _LONGEST_HOST), 0
            if at == len(word):
                break
        return _NOTHING, len(word)

    def _start_in_run(self, word: str, run: str, start: int, at: int, *, final: bool) -> int:
        """Returns the start of a URL that the end of a run, at `at`, reveals; `_NOTHING`; or `_WAIT` for more text."""
        if run[:4].lower() == "www." and not (self._cut and start == 0):
            return start
        char = word[at : at + 1]
        if not char:
            return _NOTHING if final else _WAIT
        after = word[at + 1 : at + 3]
        waiting = not final and len(after) < 2 and set(after) <= _SLASHES
        if char == ":":
            scheme = run.lower() in _SCHEMES and bool(after)
            # Without a scheme, two backslashes are those of a quote in JSON in JSON: `\\"key\\":\\"value`.
            if scheme or (len(after) == 2 and set(after) <= _SLASHES and (run or "/" in after)):
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
        """Returns the end in the word of a URL that starts at `start`, or -1."""
        if self._closer == ">":
            return word.find(">", start)
        return _closing_quote(word, start, len(word), self._closer, final=final) if self._closer else -1

    def _fill(self, url: Destination, text: str) -> None:
        """Adds text to a URL, with the placeholders in it."""
        first, *rest = text.split(MARK)
        url.text(first)
        for part in rest:
            mark, waits = self._marks.popleft()
            mark.waits -= waits
            url.mark(mark, waits=waits)
            url.text(part)

    def _release(self, count: int) -> None:
        """Releases the first placeholders of the word, which are in no URL."""
        for _ in range(count):
            mark, waits = self._marks.popleft()
            mark.waits -= waits


def _closing_quote(text: str, start: int, end: int, quote: str, *, final: bool) -> int:
    """Returns the position of a closing quote before `end`, or -1. With `final`, one at the very end closes, too."""
    at = text.find(quote, start, end)
    while at >= 0:
        if text[at + 1 : at + 2] in _AFTER_QUOTE if at + 1 < end else final:
            return at
        at = text.find(quote, at + 1, end)
    return -1


def _is_entity(before: str, run: str) -> bool:
    """Returns whether a run is the name in `&#47;`, `&sol;` or another reference to one of `./:\\`, which renderers
    decode before they recognize links.
    """
    if before == "&":
        return run in {"sol", "colon", "period", "bsol"}
    return before == "#" and _ENTITY.fullmatch(run) is not None


def _is_host(run: str) -> bool:
    """Returns whether a run is `name.tld` or an IPv4 address."""
    labels = run[-_LONGEST_HOST:].rstrip(".").split(".")
    if len(labels) < 2 or not all(labels):
        return False
    last = labels[-1]
    top_level = (last.isalpha() and 2 <= len(last) <= 24) or last.lower().startswith("xn--")
    return top_level or (len(labels) >= 4 and all(map(str.isdigit, labels[-4:])))


def _is_subdomain(run: str) -> bool:
    """Returns whether a placeholder is a subdomain of a host: `[X].name.tld`."""
    rest = run.rstrip(".").rpartition(MARK)[2].split(".")
    return len(rest) > 2 and all(rest[1:]) and rest[-1].isalpha() and len(rest[-1]) >= 2
