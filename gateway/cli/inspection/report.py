"""Prints what was sent: a paragraph for each request, its texts by role with placeholders marked, and a summary."""

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, TextIO

from gateway.cli.inspection.forbidden import Forbidden, Hit
from gateway.cli.inspection.records import Records, Sent, Tunnel
from gateway.cli.inspection.sent_texts import SentText, answer_of, texts_of
from gateway.placeholders import looks_like_placeholder

_WIDTH, _INDENT = 80, "    "
_FIRST_LINES, _AROUND = 3, 1
_OWN = re.compile(r"⟦[^⟧\n]*⟧|<[A-Z_]+_[0-9A-Z]+>")
_COLOUR, _BOLD, _ALERT, _PLAIN = "\x1b[1;36m", "\x1b[1m", "\x1b[1;31m", "\x1b[0m"
_DECISIONS = {
    "answered": "answered by the gateway",
    "dropped": "answered by the gateway and dropped",
    "untrusted": "the program does not accept the gateway's certificate; it needs the variables of `env`",
}


@dataclass
class Report:
    """Writes to `file`. `full` shows every text whole; `headers` and `answers` show more."""

    file: TextIO
    forbidden: Forbidden
    full: bool = False
    headers: bool = False
    answers: bool = False
    hits: dict[int, list[Hit]] = field(default_factory=dict)
    """The hits in each request that was reported, by its number."""
    _shown: dict[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._colours = self.file.isatty()
        self._marks = "⟦⟧" if _can_write(self.file, "⟦⟧") else "<>"

    def request(self, sent: Sent) -> None:
        """Prints a request and searches it, once it has ended or will not any more."""
        hits = self.hits[sent.number] = self.forbidden.in_request(sent)
        self._write("", *self._head(sent), *(f"   {self._alert(hit_words(hit))}" for hit in hits))
        if self.headers:
            self._write(*(f"   {name}: {self.safe(value)}" for name, value in sent.headers))
        self._write(*self._texts(sent))
        if self.answers and sent.answer:
            self._write("   " + self._bold("answer, before it was restored"))
            self._write(*(line for text in answer_of(sent) for line in self._lines(self.safe(text), sent.placeholders)))

    def summary(self, records: Records, notes: Iterable[str], verdict: str) -> None:
        """Prints what there is besides requests, and how the inspection ended."""
        hosts = Counter(sent.address for sent in records.sent)
        hidden = sum((Counter(sent.line.get("entities") or {}) for sent in records.sent), Counter[str]())
        total = f"{counted(len(records.sent), 'request')} sent, {counted(hidden.total(), 'value')} hidden"
        self._write("", f"{total}{_listed(hidden)}.")
        self._write(*(f"   {self.safe(host)}  {counted(count, 'request')}" for host, count in hosts.items()))
        if records.not_sent:
            self._write("", "Not sent:", *(f"   {line}" for line in self._not_sent(records)))
        if records.tunnels:
            self._write("", "Tunnels, which the gateway neither decrypts nor searches:")
            self._write(*(f"   {line}" for line in self._tunnels(records.tunnels)))
        for title, lines in (
            ("Past the gateway, unseen and unprotected:", records.past),
            ("Blocked:", records.blocked),
        ):
            if lines:
                self._write("", title, *(f"   {self.safe(line)}" for line in lines))
        self._write("", *notes, self._alert(verdict) if verdict else "")
        self.file.flush()

    def shown(self, text: str) -> str:
        """Returns a text, or words in its place if a forbidden value is in it."""
        lines = sorted({line for line, _ in self.forbidden.in_text(text)})
        return f"(not shown: the value of line {', '.join(map(str, lines))} is in it)" if lines else text

    def safe(self, text: str) -> str:
        """Returns a text as `shown` does, without what a terminal would obey."""
        return "".join(char if char.isprintable() or char in "\n\t" else _code(char) for char in self.shown(text))

    def _head(self, sent: Sent) -> Iterator[str]:
        time = datetime.fromtimestamp(sent.time, UTC).astimezone().strftime("%H:%M:%S")
        first = f"{sent.number}. {time}  {sent.method} {self.safe(sent.address)}{self.safe(sent.path)}"
        yield from map(self._bold, textwrap.wrap(first, _WIDTH, subsequent_indent=_INDENT, break_on_hyphens=False))
        line = sent.line
        words = [str(line[name]) for name in ("wire", "model") if line.get(name)] or [sent.wire or ""]
        words += [f"policy {line['policy']}"] if line.get("policy") else []
        yield "   " + self.safe(" · ".join(filter(None, (*words, _end(sent)))))
        counts: Mapping[str, int] = line.get("entities") or {}
        if sent.body:
            hidden = ", ".join(f"{name} {count}" for name, count in counts.items()) or "nothing was found to hide"
            yield from textwrap.wrap(f"hidden: {hidden}", _WIDTH - 3, initial_indent="   ", subsequent_indent="   ")

    def _texts(self, sent: Sent) -> Iterator[str]:
        texts = texts_of(sent)
        if not self.full:
            texts, earlier = self._new(sent, texts)
            if earlier:
                yield f"   ({counted(earlier, 'text')} as in earlier requests)"
        for role, found in groupby(texts, key=lambda text: text.role):
            yield "   " + self._bold(role)
            group = list(found)
            if role in ("tools", "settings", "body") and not self.full:
                marked = [each for each in group if self._marked(each.text, sent.placeholders) != each.text]
                rest = sum(len(each.text) for each in group) - sum(len(each.text) for each in marked)
                if rest:
                    others = counted(len(group) - len(marked), "text")
                    yield f"{_INDENT}({others} of {rest:,} characters without a placeholder)"
                group = marked
            for each in group:
                yield from self._lines(self.safe(each.text), sent.placeholders)

    def _new(self, sent: Sent, texts: Sequence[SentText]) -> tuple[list[SentText], int]:
        """Returns the texts that no earlier request had, and the number of the others."""
        new = [each for each in texts if self._shown.setdefault((each.role, each.text), sent.number) == sent.number]
        return new, len(texts) - len(new)

    def _lines(self, text: str, own: frozenset[str]) -> Iterator[str]:
        """Yields the lines of a text, unless all are asked for its first ones and those around placeholders."""
        width = _WIDTH - len(_INDENT)
        lines = [
            piece
            for line in self._marked(text, own).expandtabs(4).splitlines()
            for piece in textwrap.wrap(line, width, replace_whitespace=False, break_on_hyphens=False) or [""]
        ]
        shown = range(len(lines)) if self.full else sorted(self._important(lines))
        last = -1
        for index in shown:
            yield from _gap(index - last - 1)
            yield _INDENT + self._coloured(lines[index])
            last = index
        yield from _gap(len(lines) - last - 1)

    def _important(self, lines: Sequence[str]) -> set[int]:
        marked = [index for index, line in enumerate(lines) if self._marks[0] in line]
        near = {each for index in marked for each in range(index - _AROUND, index + _AROUND + 1)}
        return {each for each in near | set(range(_FIRST_LINES)) if 0 <= each < len(lines)}

    def _marked(self, text: str, own: frozenset[str]) -> str:
        parts: list[str] = []
        position = 0
        for found in looks_like_placeholder(text):
            if found.placeholder in own:
                inner = found.placeholder.strip("[]")
                parts += (text[position : found.start], self._marks[0], inner, self._marks[1])
                position = found.end
        return "".join([*parts, text[position:]])

    def _coloured(self, line: str) -> str:
        return _OWN.sub(lambda found: f"{_COLOUR}{found[0]}{_PLAIN}", line) if self._colours else line

    def _bold(self, text: str) -> str:
        return f"{_BOLD}{text}{_PLAIN}" if self._colours else text

    def _alert(self, text: str) -> str:
        return f"{_ALERT}{text}{_PLAIN}" if self._colours else text

    def _not_sent(self, records: Records) -> Iterator[str]:
        counts = Counter(
            (each.decision, each.host, each.port, each.code, each.line.get("wire") or each.line.get("path"))
            for each in records.not_sent
        )
        for (decision, host, port, code, call), count in counts.items():
            why = f"refused ({code})" if code else _DECISIONS.get(decision, decision)
            words = (f"{host}:{port}" if port else host, call or "", why, f"({count} times)" if count > 1 else "")
            yield "  ".join(self.safe(each) for each in words if each)

    def _tunnels(self, tunnels: Sequence[Tunnel]) -> Iterator[str]:
        for (host, port), found in _by_address(tunnels).items():
            sent, received = (sum(getattr(each, name) for each in found) for name in ("sent", "received"))
            yield f"{self.safe(f'{host}:{port}')}  {sent:,} bytes sent, {received:,} received"

    def _write(self, *lines: str) -> None:
        for line in lines:
            self.file.write(line + "\n")
        self.file.flush()


class JsonReport(Report):
    """Writes one JSON object a line: each request, what was not sent, each tunnel, and a summary."""

    def request(self, sent: Sent) -> None:
        hits = self.hits[sent.number] = self.forbidden.in_request(sent)
        members: dict[str, Any] = {"type": "request", "number": sent.number, "request_id": sent.request_id}
        members["time"] = datetime.fromtimestamp(sent.time, UTC).isoformat(timespec="milliseconds")
        members |= {"method": sent.method, "host": self.shown(sent.host), "port": sent.port}
        members |= {"path": self.shown(sent.path), "delivered": sent.delivered}
        names = ("wire", "model", "policy", "status", "outcome", "receipt", "entities", "actions")
        members |= {name: sent.line.get(name) for name in names}
        members["headers"] = [[self.shown(name), self.shown(value)] for name, value in sent.headers]
        members["texts"] = [self._text(each, sent) for each in texts_of(sent)]
        if self.answers:
            members["answer"] = [self.shown(text) for text in answer_of(sent)]
        self._write(_json({**members, "forbidden": [_hit(hit) for hit in hits]}))

    def summary(self, records: Records, notes: Iterable[str], verdict: str) -> None:
        for each in records.not_sent:
            call = each.line.get("wire") or each.line.get("path")
            members = {"decision": each.decision, "host": self.shown(each.host), "port": each.port, "code": each.code}
            self._write(_json({"type": "not_sent", **members, "call": call}))
        for tunnel in records.tunnels:
            counts: dict[str, Any] = {"bytes_sent": tunnel.sent, "bytes_received": tunnel.received}
            counts |= {"forbidden": [_hit(hit) for hit in self.forbidden.in_tunnel(tunnel)]}
            self._write(_json({"type": "tunnel", "host": self.shown(tunnel.host), "port": tunnel.port, **counts}))
        for kind, lines in (("past_the_gateway", records.past), ("blocked", records.blocked)):
            for line in lines:
                self._write(_json({"type": kind, "connection": self.shown(line)}))
        total = {"requests": len(records.sent), "forbidden": sum(map(len, self.hits.values()))}
        self._write(_json({"type": "summary", **total, "notes": list(notes), "verdict": verdict or None}))

    def _text(self, each: SentText, sent: Sent) -> dict[str, Any]:
        placeholders = [found.placeholder for found in looks_like_placeholder(each.text)]
        own = [found for found in placeholders if found in sent.placeholders]
        shown = {"pointer": self.shown(each.pointer), "role": each.role, "text": self.shown(each.text)}
        return {**shown, "placeholders": own}


def _hit(hit: Hit) -> dict[str, Any]:
    return {"line": hit.line or None, "place": hit.place, "how": hit.how}


def hit_words(hit: Hit) -> str:
    """Returns a hit in words."""
    if not hit.line:
        return f"NOT SEARCHED: {hit.place} {hit.how}"
    return f"FORBIDDEN: the value of line {hit.line} is in {hit.place}, {hit.how}"


def counted(number: int, name: str) -> str:
    """Returns a number with its noun."""
    return f"{number} {name}{'' if number == 1 else 's'}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()


def _end(sent: Sent) -> str:
    if not sent.line:
        return "no answer yet"
    if not sent.delivered:
        return f"not delivered ({sent.line.get('code') or sent.line['outcome']})"
    seconds = sent.line["ms"].get("total", 0) / 1000
    status = sent.line.get("upstream_status") or sent.line["outcome"]
    return f"{status} in {seconds:.1f} s"


def _listed(counts: Counter[str]) -> str:
    return " (" + ", ".join(f"{name} {count}" for name, count in counts.most_common()) + ")" if counts else ""


def _gap(lines: int) -> Iterator[str]:
    if lines:
        yield f"{_INDENT}… {counted(lines, 'more line')} …"


def _by_address(tunnels: Sequence[Tunnel]) -> dict[tuple[str, int], list[Tunnel]]:
    found: dict[tuple[str, int], list[Tunnel]] = {}
    for each in tunnels:
        found.setdefault((each.host, each.port), []).append(each)
    return found


def _code(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"


def _can_write(file: TextIO, text: str) -> bool:
    try:
        text.encode(file.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
