"""Commands that send to an untrusted destination, known by their programs. `shlex` reads the words."""

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise

from gateway.destinations.patterns import Patterns, first
from gateway.destinations.trust import UntrustedDestinations, is_file_name

_PATTERNS = Patterns(__file__)
_WORDS = _PATTERNS.words
_PROGRAMS = _WORDS["programs"] | _WORDS["ambiguous_programs"]
MENTIONED = _PATTERNS.expression("<<mentioned>>")
_HOST, _SOCKET, _CONNECTION = map(_PATTERNS.compiled, ("host", "socket", "connection"))
_LEADING, _ASSIGNED, _VARIABLE, _EXPANDED = map(_PATTERNS.compiled, ("leading", "assigned", "variable", "expanded"))
_ESCAPED, _BLANK, _INNER = map(_PATTERNS.compiled, ("escaped", "blank", "inner"))
_VALUE_OPTION, _OPTION_VALUE = map(_PATTERNS.compiled, ("value_option", "option_value"))
_UNKNOWN = "${}"
_PULLING = frozenset({"build", "create", "pull", "run"})
_PUNCTUATION = frozenset("();<>|&")
_DEEPEST = 4
_SHORTEST_NUMBER = 8


def mentioned(text: str) -> bool:
    """Whether a text has a word that a shell could take for a program that sends. Cheap."""
    return "$" in text or first(MENTIONED, re.sub(r"\\\n|['\"\\]", "", text)) is not None


def is_program(word: str) -> bool:
    """Whether a word is the name of a program that sends, with its folder or without."""
    return len(word) <= 200 and _name(word) in _PROGRAMS


class Commands:
    """Finds the commands of one text that send to an untrusted destination."""

    def __init__(self, text: str, untrusted: UntrustedDestinations, *, any_program: bool = False) -> None:
        self._untrusted = untrusted
        self._any_program = any_program
        self._variables: dict[str, str] = {name: value.strip("'\"") for name, value in _VARIABLE.findall(text)}
        self._has_aliases = "alias " in text
        self.takes_everything = False
        """Whether a command leads all that the others say or ask to one: a proxy, a socket that stays open."""

    def send(self, text: str) -> bool:
        """Whether a command in a statement does."""
        # All of them, as each may take everything.
        found = [self.sends(words, is_outer=is_outer) for words, is_outer in self._read(text, _DEEPEST)]
        return any(found)

    def sends(self, words: Sequence[str], *, is_outer: bool = False) -> bool:
        """Whether one command does, given as its words."""
        led = any((match := _LEADING.match(word)) and self._is_destination(match[1]) for word in words)
        begin = next((index for index, word in enumerate(words) if not _ASSIGNED.match(word)), len(words))
        first = _name(words[begin]) if begin < len(words) else ""
        known = [index for index in range(begin, len(words)) if self._is_program(words, index, begin)]
        sends = any(self._is_host(host) for word in words for host in _SOCKET.findall(word))
        sends |= any(self._leads_out(_name(words[index]), words[index + 1 :]) for index in known)
        if self._any_program and is_outer and not known:
            sends |= any("//" in word and self._untrusted.is_one(word) for word in words[begin + 1 :])
        self.takes_everything |= led or (sends and first in ("exec", "coproc"))
        return sends or led

    @staticmethod
    def _is_program(words: Sequence[str], index: int, begin: int) -> bool:
        begins = index == begin or (_name(words[begin]) in _WORDS["starters"] and not words[index - 1].startswith("-"))
        if begins and words[index] == _UNKNOWN:
            return True
        return is_program(words[index]) and (begins or _name(words[index]) not in _WORDS["ambiguous_programs"])

    def _leads_out(self, name: str, arguments: Sequence[str]) -> bool:
        """Whether one of the arguments of a program is an untrusted destination."""
        if name == "git" and not {"push", "send-email"} & set(arguments):
            return False
        if name in _WORDS["copies"]:
            # Only the last one is where a copy goes.
            last = [word for word in arguments if not word.startswith("-")][-1:]
            arguments = [*last, *(word for word in arguments if word.startswith("-"))]
        is_pulled = not _PULLING.isdisjoint(arguments)
        for before, word in pairwise(["", *arguments]):
            if _VALUE_OPTION.fullmatch(before) or (is_pulled and word.partition("/")[0] in _WORDS["registries"]):
                continue
            # `--host=x`, `-hx`
            value = _OPTION_VALUE.sub("", word)
            is_option = value != word or before.startswith("-")
            is_number = value.isdigit() and (is_option or len(value) < _SHORTEST_NUMBER)
            if not is_number and (self._is_destination(value) or any(map(self._is_host, _CONNECTION.findall(word)))):
                return True
        return False

    def _is_destination(self, word: str) -> bool:
        """Whether a word is a URL, a host or a mailbox with what may be around it, or a telephone number."""
        if self._untrusted.is_one(word.replace("\\", "/")):
            return True
        # `mailto:a@b`, `to=a@b`; a URL is judged by its host alone.
        has_mailbox = "//" not in word and bool(self._untrusted.mailboxes(word))
        return " " not in word and (has_mailbox or self._is_host(word))

    def _is_host(self, word: str) -> bool:
        match = _HOST.match(word)
        if match is None or not self._untrusted.host(match[1]):
            return False
        # Also domains of the highest level.
        return match[1].rpartition(".")[2] in _WORDS["file_name_domains"] or not is_file_name(match[1])

    def _read(self, text: str, depth: int) -> Iterator[tuple[list[str], bool]]:
        """The commands of a text: words without their quotes, variables filled in; and whether they are outermost."""
        if not (self._has_aliases or mentioned(text) or (self._any_program and "//" in text)):
            return
        text = _ESCAPED.sub("escaped.unknown", _BLANK.sub(" ", text.replace("\\\n", "")))
        if "$" in text and len(filled := _EXPANDED.sub(self._value, text)) <= 4 * len(text) + 1000:
            text = filled
        inner: list[str] = []
        for _ in range(_DEEPEST):
            inner += [said or quoted for said, quoted in _INNER.findall(text)]
            text = _INNER.sub(_UNKNOWN, text)
        words: list[str] = []
        tokens = _tokens(text)
        for token in (*tokens, ";"):
            if not _PUNCTUATION.issuperset(token) or not token:
                words.append(token)
            elif words and token[0] not in "<>":
                words[:1] = self._variables.get(words[0], words[0]).split()
                yield words, depth == _DEEPEST
                words = []
        if depth:
            for each in (*inner, *(token for token in tokens if " " in token)):
                yield from self._read(each, depth - 1)

    def _value(self, match: re.Match[str]) -> str:
        name: str = match[1] or match[3]
        return self._variables.get(name, match[2] or f"${{{name}}}")


def _tokens(text: str) -> list[str]:
    """Words and signs; where quotes are not closed, without regard to quotes."""
    reader = shlex.shlex(text, posix=True, punctuation_chars=True)
    reader.whitespace_split, reader.commenters = True, ""
    try:
        return list(reader)
    except ValueError:
        return re.sub(r"['\"\\]", "", text).split()


def _name(word: str) -> str:
    name = word.rpartition("/")[2].removesuffix(".exe")
    return name.lower() if "-" in name else name
