"""Reads the guard's vectors: templates of requests and answers, with marks for what is made anew at each run.

⟦TYPE:VALUE⟧             the placeholder of a value of the session
⟦foreign TYPE:VALUE⟧     the placeholder of another session's value
⟦altered …⟧ ⟦lengthened …⟧ ⟦lower …⟧   the placeholder with a wrong character, one too many, in lower case
⟦tag …⟧ ⟦tag1 …⟧ ⟦tag2 …⟧              its tag, the first or the second part of its tag
⟦b64 …⟧ ⟦percent2 …⟧     the placeholder encoded
⟦+⟧                      nothing: keeps a made-up secret from looking like a live one in the file
"""

import base64
import codecs
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from gateway.detection import builtin_detector
from gateway.guard import GuardContext, Verdict, inspect
from gateway.placeholders import Placeholders, RestoreScope, urls_with_placeholders
from gateway.policy.document import GuardDocument
from gateway.protection.protector import Protector
from gateway.text.answers import AnswerText

FOLDER = Path(__file__).parents[2] / "vectors" / "guard"
# The ends of the names of all files of harmful and of harmless answers.
FAMILIES = ("", "_ways_out", "_commands", "_carriers", "_fresh")
_MARK = re.compile(r"⟦(?:(\w+) )?([A-Z_]+):([^⟧]+)⟧")
_KEY = b"session key of the guard's tests"


@dataclass(frozen=True)
class Part:
    """One string of an answer."""

    text: str
    kind: str = "text"
    choice: int = 0
    key: str = "text"


@dataclass(frozen=True)
class Case:
    """One vector, its placeholders minted."""

    name: str
    kind: str
    parts: Sequence[Part]
    context: GuardContext

    def judged(self, rules: GuardDocument) -> Verdict:
        return inspected(self.parts, self.context, rules)


def inspected(parts: Sequence[Part], context: GuardContext, rules: GuardDocument) -> Verdict:
    """Returns the guard's verdict on parts, which have every member of an answer's texts that it reads."""
    return inspect(cast("Sequence[AnswerText]", parts), context, rules)


def load(name: str) -> list[Case]:
    """The vectors of a file, in its order."""
    return [_case(row) for row in rows(name)]


def load_all(kind: str) -> list[Case]:
    """The vectors of all families: `harmful` or `harmless`."""
    return [case for family in FAMILIES for case in load(kind + family)]


def rows(name: str) -> list[dict[str, Any]]:
    """The objects of a file, in its order."""
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def case(
    request: str,
    *answers: str,
    json_parts: bool = False,
    part_kind: str = "",
    name: str = "",
    kind: str = "",
    result: str = "",
) -> Case:
    """A case from templates, one for each part of the answer. `result`: what a tool has answered meanwhile."""
    session = Placeholders(_KEY)
    messages: list[dict[str, Any]] = [{"role": "user", "content": _filled(request, session)}]
    if result:
        call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": "1", "content": _filled(result, session)})
    body = json.dumps({"messages": messages}, ensure_ascii=False)
    part_kind = part_kind or ("json" if json_parts else "text")
    parts = [Part(_filled(answer, session), part_kind) for answer in answers]
    protector = Protector(builtin_detector(), hash_key=b"vectors")
    entities = [protector.detect(part.text, session) for part in parts]
    scope = RestoreScope("source", urls_with_placeholders(body))
    return Case(name, kind, parts, GuardContext(session, scope, body.encode(), builtin_detector().types, entities))


def _case(vector: dict[str, Any]) -> Case:
    answers = vector["answer"] if isinstance(vector["answer"], list) else [vector["answer"]]
    about = {name: vector.get(name, "") for name in ("name", "kind", "result")}
    kind = "json" if vector.get("tool") else vector.get("parts", "text")
    return case(vector["request"], *answers, part_kind=kind, **about)


def _filled(template: str, session: Placeholders) -> str:
    return _MARK.sub(lambda mark: _made(mark, session), template.replace("⟦+⟧", ""))


def _made(mark: re.Match[str], session: Placeholders) -> str:
    how, kind, value = mark.groups()
    if how == "foreign":
        return Placeholders(b"another session's key, not this o").mint(kind, value)
    placeholder = session.mint(kind, value)
    tag = placeholder[1:-1].rpartition("_")[2]
    made = {
        None: placeholder,
        "altered": placeholder.replace(tag, tag[:2] + ("9" if tag[2] != "9" else "8") + tag[3:]),
        "lengthened": placeholder.replace(tag, tag + "7"),
        "lower": placeholder.lower(),
        "tag": tag,
        "tag1": tag[:2],
        "tag2": tag[2:],
        "hex": placeholder.encode().hex(),
        "b32": base64.b32encode(placeholder.encode()).decode().rstrip("="),
        "rot13": codecs.encode(placeholder, "rot13"),
        "reversed": placeholder[::-1],
        "b64": base64.b64encode(placeholder.encode()).decode(),
        "percent2": quote(quote(placeholder)),
    }
    return made[how]
