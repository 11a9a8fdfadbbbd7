"""`run_proxy.py explain FILE|-`: says what would be hidden in a text, why, and which setting would change it.

Like `policies try`, it uses the same engines as the gateway and sends and stores nothing.
"""

import argparse
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from secrets import token_bytes
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from gateway.cli.console import CommandLine, argument, print_json, read_text
from gateway.cli.correction_lists import add_owner, stored_corrections
from gateway.cli.engines import all_engines
from gateway.cli.policy_lookup import load_policy, open_registry
from gateway.config.settings import Settings
from gateway.corrections.lists import Corrections
from gateway.detection.engines import Finder
from gateway.errors import Forbidden
from gateway.models import Action, PrivacyMode
from gateway.placeholders import Placeholders
from gateway.policy.model import Policy
from gateway.protection.explanation import Explained, Explanation, explain, marked
from gateway.protection.protector import Protector
from gateway.text.fields import TextField

_KEPT = {
    "rule": "Left in clear: the rule of its type keeps it.",
    "min_score": "Left in clear: its score is too low.",
    "allow_list": "Left in clear: the allow list has it.",
    "correction": "Left in clear: the caller's corrections allow it.",
}
_INDENT = 4
# Control characters of a text could change what the terminal shows.
_CONTROLS = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a policy for a text. `blocked` gives the reason if the policy refuses it."""

    text: str
    explanation: Explanation
    protected_text: str | None
    transformations: tuple[dict[str, Any], ...]
    blocked: str | None

    def as_json(self) -> dict[str, Any]:
        """Returns the result without the text itself."""
        kept = [one for one in self.explanation.findings if one.kept is not None]
        return {
            "protected_text": self.protected_text,
            "transformations": self.transformations,
            "kept": [
                {name: getattr(one, name) for name in ("type", "start", "end", "score", "recognizer")} for one in kept
            ],
            "blocked": self.blocked,
            "marked_text": self.explanation.marked_text,
            "findings": [one._asdict() for one in self.explanation.findings],
        }


def add_commands(line: CommandLine) -> None:
    """Registers `explain`."""
    parser = line.commands.add_parser("explain", help="say what would be hidden in a text, and why")
    parser.add_argument("file", metavar="FILE", help="a text file; `-` reads standard input")
    parser.add_argument("--policy", metavar="ID", help="an id, id@version, hash or file (default: default_policy)")
    add_mode(parser)
    add_owner(parser)
    line.finish(parser, _explain)


def add_mode(parser: argparse.ArgumentParser) -> None:
    """Adds the option for the privacy mode."""
    parser.add_argument("--mode", choices=[mode.value for mode in PrivacyMode], default=PrivacyMode.STANDARD.value)


def _explain(settings: Settings, options: argparse.Namespace) -> int:
    with open_registry(settings) as registry:
        policy = load_policy(options.policy or settings.default_policy, registry)
    with argument():
        text = read_text(options.file, "text")
        corrections = stored_corrections(settings, options.owner)
    return show(policy, text, settings, options, corrections)


def show(
    policy: Policy,
    text: str,
    settings: Settings,
    options: argparse.Namespace,
    corrections: Corrections | None = None,
) -> int:
    """Prints the result of a policy for a text. Returns the exit status."""
    engines = all_engines(settings)
    with closing(engines):
        done = attempt(policy, text, PrivacyMode(options.mode), engines, corrections)
    if options.json:
        print_json({"policy": asdict(policy.ref), **done.as_json()})
    else:
        _print(done)
    return 0


def attempt(
    policy: Policy, text: str, mode: PrivacyMode, finder: Finder, corrections: Corrections | None = None
) -> Trial:
    """Protects `text` under `policy` as the gateway would, with a throwaway key."""
    protector = Protector(finder, hash_key=token_bytes(32))
    explanation = explain(protector, text, policy, mode, corrections=corrections)
    holder = {"text": text}
    try:
        field = TextField(holder, "text", text)
        done = protector.protect([[field]], policy, mode, Placeholders(token_bytes(32)), corrections=corrections)
    except Forbidden as refusal:
        return Trial(text, explanation, None, (), refusal.message)
    return Trial(text, explanation, holder["text"], tuple(one._asdict() for one in done.transformations), None)


def _print(done: Trial) -> None:
    console = Console(highlight=False)
    _print_text(console, done)
    findings = done.explanation.findings
    if not findings:
        console.print("Nothing was found.")
    for number, one in enumerate(findings, 1):
        console.print(Text(f"{number:>{_INDENT - 1}} {one.type}: {_outcome(one)}", _style(one)))
        lines = [f"{one.reason.sentence} ({one.recognizer}, score {one.score:.2f})"]
        if one.settings:
            lines.append(f"To {'hide it' if one.kept else 'leave it in clear'}: {', '.join(one.settings)}")
        console.print(Padding(Text("\n".join(lines)), (0, 0, 0, _INDENT), expand=False))
    console.print()
    if done.protected_text is None:
        console.print(f"Nothing would leave. {done.blocked}", markup=False)
    else:
        console.print("This would leave:", Text(_plain(done.protected_text)), sep="\n")


def _print_text(console: Console, done: Trial) -> None:
    pieces: Sequence[tuple[str, Explained | None]] = [*marked(done.text, done.explanation.findings)]
    text = Text.assemble(*((_plain(piece), _style(one) if one else "") for piece, one in pieces))
    text.rstrip()
    console.print(text, end="\n\n")


def _outcome(one: Explained) -> str:
    return _KEPT[one.kept] if one.kept else "blocked" if one.action is Action.BLOCK else f"hidden ({one.action})"


def _style(one: Explained) -> str:
    return "yellow" if one.kept else "bold red" if one.action is Action.BLOCK else "bold green"


def _plain(text: str) -> str:
    return text.translate(_CONTROLS)
