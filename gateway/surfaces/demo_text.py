"""Writes the demo's answers: recognises a handful of tasks and answers each in a few plain sentences.

The answer contains every placeholder of the request, to show that each value is restored.
"""

import re
from collections.abc import Callable, Sequence

from gateway.detection.data_files import one_line, read_toml
from gateway.placeholders import looks_like_placeholder

type Facts = dict[str, list[str]]
"""Placeholders by entity type, in the order of the text."""

_WORDS = read_toml(__file__)
_TASKS = {name: re.compile(words, re.IGNORECASE) for name, words in _WORDS["tasks"].items()}
_LABELS: dict[str, str] = _WORDS["labels"]
_IN_LETTER: dict[str, str] = _WORDS["letter"]
_TOPICS = {name: frozenset(types) for name, types in _WORDS["topics"].items()}
_GREETING, _ADDRESSEE, _SENDER = (
    re.compile(one_line(_WORDS["phrases"][name]), re.IGNORECASE) for name in ("greeting", "addressee", "sender")
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LONGEST = 240


def answer(text: str) -> str:
    """Returns the demo's answer to the last message of a user."""
    known = facts(text)
    for name, words in _TASKS.items():
        if words.search(text):
            return _WRITERS[name](text, known)
    if _GREETING.match(text) and len(text) < _LONGEST:
        return _greeting(known)
    return _reply(text, known)


def facts(text: str) -> Facts:
    """Returns the placeholders of a text by type."""
    found: Facts = {}
    for hit in looks_like_placeholder(text):
        values = found.setdefault(hit.placeholder[1:-1].rpartition("_")[0], [])
        if hit.placeholder not in values:
            values.append(hit.placeholder)
    return found


def _greeting(known: Facts) -> str:
    people = known.get("PERSON", [])
    rest = _listed({kind: values for kind, values in known.items() if kind != "PERSON"})
    lines = [f"Hello {_joined(people)}!" if people else "Hello!", "How can I help you?"]
    return " ".join(lines) + (f"\n\nI have noted:\n{rest}" if rest else "")


def _letter(text: str, known: Facts) -> str:
    people = known.get("PERSON", [])
    sender = next((name for name in _SENDER.findall(text) if name in people), None)
    others = [name for name in people if name != sender]
    named = next((name for name in _ADDRESSEE.findall(text) if name in others), None)
    addressee = named or next(iter(others), None)
    concerned = [name for name in others if name != addressee]
    lines = ["Thank you for your message. I have read it with care and will see to it today."]
    if concerned:
        lines.append(f"I have also noted what it says about {_joined(concerned)}.")
    for kind, values in known.items():
        if kind != "PERSON":
            pattern = _IN_LETTER.get(kind, f"I have noted the {_label(kind)} {{}}.")
            lines.append(pattern.format(_joined(values)))
    greeting = f"Dear {addressee}," if addressee else "Hello,"
    return f"{greeting}\n\n{' '.join(lines)}\n\nKind regards" + (f",\n{sender}" if sender else "")


def _summary(text: str, known: Facts) -> str:
    sentences = [each.strip() for each in _SENTENCE.split(_material(text)) if each.strip()]
    first = sentences[:1]
    telling = [each for each in sentences[1:] if looks_like_placeholder(each)]
    chosen = [each if len(each) <= _LONGEST or looks_like_placeholder(each) else each[:_LONGEST] for each in first]
    summary = " ".join([*chosen, *telling])
    return f"In short: {summary}\n\n{_missing(summary, known)}".rstrip()


def _extract(text: str, known: Facts) -> str:
    return f"This is what I found:\n{_listed(known)}" if known else "I found no names, addresses or numbers in it."


def _translation(text: str, known: Facts) -> str:
    material = _material(text)
    note = "I am the built-in demo and do not translate; this is the text as it reached me:"
    return f"{note}\n\n{material}\n\n{_missing(material, known)}".rstrip()


def _category(text: str, known: Facts) -> str:
    topic = next((name for name, kinds in _TOPICS.items() if kinds & known.keys()), "general")
    values = f"\n\nIt mentions:\n{_listed(known)}" if known else ""
    return f"Category: {topic}{values}"


def _reply(text: str, known: Facts) -> str:
    if not known:
        return "I am the built-in demo. I read your message and found nothing in it that had to be hidden from me."
    return (
        f"I have read your message. It mentions:\n{_listed(known)}\n\n"
        "I am the built-in demo and saw only placeholders; what you read here was put back by the gateway."
    )


_WRITERS: dict[str, Callable[[str, Facts], str]] = {
    "summarise": _summary,
    "translate": _translation,
    "extract": _extract,
    "classify": _category,
    "draft": _letter,
}


def _material(text: str) -> str:
    """Returns the material of an instruction: the text after its colon or first line, else all of it."""
    head, colon, rest = text.partition(":")
    if colon and rest.strip() and len(head) < _LONGEST and "\n" not in head:
        return rest.strip()
    head, _, rest = text.partition("\n")
    return rest.strip() if rest.strip() and len(head) < _LONGEST else text.strip()


def _missing(said: str, known: Facts) -> str:
    """Lists the placeholders that an answer does not contain yet."""
    left = {kind: [value for value in values if value not in said] for kind, values in known.items()}
    rest = _listed({kind: values for kind, values in left.items() if values})
    return f"Also mentioned:\n{rest}" if rest else ""


def _listed(known: Facts) -> str:
    return "\n".join(f"- {_label(kind)}: {_joined(values)}" for kind, values in known.items())


def _label(kind: str) -> str:
    return _LABELS.get(kind, kind.replace("_", " ").lower())


def _joined(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"
