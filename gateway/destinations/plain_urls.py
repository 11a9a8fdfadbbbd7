"""Parses URLs in running text: with a scheme, protocol-relative, with `www.`, a host with a path, `/dev/tcp/host/port`.

Renderers disagree about the end of such a URL. This parser follows the most generous, the autolink extension of GitHub
Flavored Markdown: only white space and `<` end a URL. There are two exceptions: `<...>` ends at `>`, and a URL after a
quote ends at the same quote if the next character shows that the quote closes.
"""

import re
from collections import deque
from collections.abc import Callable

from gateway.destinations.rule import BLANKS, MARK, Address, Mark

# After a placeholder, these show that it is neither a host nor a scheme.
_PROSE = frozenset(" \t\n\r,;!)'\"*`")
_SENTENCE_ENDS = frozenset({". ", ".\n"})
_LONGEST_HOST = 256
_LONG = 4096
_CUT = "\x01"
"""Comes before a word whose beginning was dropped."""

_RUN = rf"[\w{MARK}.+-]"
_LABEL = rf"[\w{MARK}+-]"
_MORE = f"(?=[^{BLANKS}<])"
_START = re.compile(
    rf"""
      (?<![\w{MARK}.+{_CUT}-])www\.
    | (?<!{_RUN})(?:
        # Browsers follow these without slashes.
        (?:https?|ftp|wss?|mailto|tel|sms|javascript|vbscript|sips?|xmpp):{_MORE}
        # Without a scheme, two backslashes are those of a quote in JSON in JSON: `\\"key\\":\\"value`.
      | {_RUN}++:(?=[/\\]{{2}}) | :(?=/[/\\]|\\/)
        # A host, `name.tld` or an IPv4 address, with more after it; a placeholder that is a subdomain.
      | {_RUN}*(?:{_LABEL}\.(?:[^\W\d_]{{2,24}}|xn--{_LABEL}*+)|(?<!{_LABEL})\d++(?:\.\d++){{3}})\.*(?=[/?\#\\]|:\d)
      | {_RUN}*{MARK}[\w+-]*(?:\.[\w+-]+)+\.[^\W\d_]{{2,}}+\.*(?!{_RUN})(?=.)
      | (?<![:/\\])(?:/[/\\]|\\/){_MORE}
      | url\((?P<css>[^{BLANKS}<])
      | /dev/(?:tcp|udp)/
      )
      # Renderers decode references to one of `./:\` before they recognize links.
    | (?<=&)(?:sol|colon|period|bsol);
    | (?<=\#)(?:0*+(?:46|47|58|92)|x0*+(?:2[ef]|3a|5c));
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# The end of a word from which on more text may reveal a URL.
_OPEN_END = re.compile(
    rf"(?<!{_RUN})(?:{_RUN}*+(?::[/\\]?)?|url\(|/[a-z]{{0,3}}(?:/[a-z]{{0,3}})?|[/\\]{{1,2}})\Z", re.IGNORECASE
)
_END = f"[{BLANKS}<]"
# Matches the end of a URL, by the character before the URL.
_ENDS = {char: re.compile(rf"{char}(?=[,:;)\]}}>{BLANKS}<])|{_END}") for char in "\"'`"}
_ENDS |= {"<": re.compile("[<>]"), "": re.compile(_END)}


class PlainUrls:
    """Reads a text in pieces. The result depends on the text alone, not on where it is cut."""

    def __init__(self, new: Callable[[], Address]) -> None:
        self._new = new
        self._url: Address | None = None
        # The character before the URL if that decides where it ends, and a quote just read that may end it.
        self._opener = self._quote = ""
        # Outside of URLs: the current word, as far as a URL may still start in it, after the character before it; and
        # its placeholders.
        self._word = " "
        self._marks: deque[tuple[Mark, bool]] = deque()

    def text(self, piece: str) -> None:
        while piece:
            if self._url is None:
                piece = self._outside(piece)
            else:
                piece, self._quote = self._quote + piece, ""
                end = self._read_url(self._url, piece, 0)
                if end < 0:
                    return
                self._word, piece = piece[end], piece[end + 1 :]

    def mark(self, mark: Mark, *, waits: bool) -> None:
        if self._url is not None:
            self._url.text(self._quote)
            self._quote = ""
            self._url.mark(mark, waits=waits)
            return
        self._word += MARK
        self._marks.append((mark, waits))
        mark.waits += waits
        if len(self._word) > 2:
            self._find_urls()

    def end(self) -> None:
        if self._marks:
            self._find_urls(" ")
        if self._url is not None:
            self._url.close()
            self._url = None

    def _outside(self, piece: str) -> str:
        """Reads text outside of URLs up to the end of a word. Returns the rest."""
        if self._word[1:] == MARK and (piece[0] in _PROSE or piece[:2] in _SENTENCE_ENDS):
            # A word of its own, by far the most frequent case.
            self._release(1)
            self._word = MARK
        if not self._marks:
            # Only the last word, or what follows `<`, can matter later.
            at = piece.rfind("<")
            if at < 0 and self._word[0] != "<":
                at = max(map(piece.rfind, BLANKS))
            if at >= 0:
                self._word, piece = piece[at], piece[at + 1 :]
        end = re.search(_END, piece)
        self._word += piece[: end.start()] if end else piece
        if end is None:
            if self._marks or len(self._word) > _LONG:
                self._find_urls()
            return ""
        self._find_urls(end[0])
        return piece[end.end() :]

    def _find_urls(self, end: str = "") -> None:
        """Finds the URLs in the word so far. `end` is the character that ends it, if it ends here."""
        word, position = self._word + end, 1
        while match := _START.search(word, position):
            start = match.start("css") if match["css"] else max(match.start(), match.end() - _LONGEST_HOST)
            self._release(word.count(MARK, position, start))
            self._opener = word[start - 1] if word[start - 1] in _ENDS else ""
            self._url = self._new()
            position = self._read_url(self._url, word, start)
            if position < 0:
                return
        open_end = None if end else _OPEN_END.search(word, position)
        keep = open_end.start() if open_end else len(word)
        prefix = word[keep - 1]
        if len(word) - keep > 2 * _LONGEST_HOST:
            # The end of a run that is too long for a host. `www.` was found when the run started.
            keep, prefix = len(word) - _LONGEST_HOST, _CUT
        self._release(word.count(MARK, position, keep))
        self._word = prefix + word[keep:]

    def _read_url(self, url: Address, text: str, start: int) -> int:
        """Reads a URL from `start` on. Returns the offset of the character that ends it, or -1."""
        match = _ENDS[self._opener].search(text, start)
        stop = match.start() if match else len(text)
        if match is None and self._opener not in ("", "<") and text.endswith(self._opener):
            # Whether the quote ends the URL depends on the next character.
            self._quote, stop = self._opener, stop - 1
        first, *rest = text[start:stop].split(MARK)
        url.text(first)
        for part in rest:
            mark, waits = self._marks.popleft()
            mark.waits -= waits
            url.mark(mark, waits=waits)
            url.text(part)
        if match is None:
            return -1
        url.close()
        self._url = None
        return stop

    def _release(self, count: int) -> None:
        """Releases the first placeholders of the word, which are in no URL."""
        for _ in range(count):
            mark, waits = self._marks.popleft()
            mark.waits -= waits
