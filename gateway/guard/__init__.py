"""The guard inspects what a model answers before anything in it is restored.

    inspect       findings of an answer and what the policy makes of them; pure
    GuardContext  what it must know of the request
    Verdict       the result: pass, flag, redact or replace
    KINDS         the ten kinds of findings, each with the rule of the policy that decides on it

See docs/guard.md for what each kind means and what is not caught.
"""

from gateway.guard.context import GuardContext
from gateway.guard.guard import inspect
from gateway.guard.verdict import KINDS, WITHHELD, Kind, Severity, Verdict

__all__ = [
    "KINDS",
    "WITHHELD",
    "GuardContext",
    "Kind",
    "Severity",
    "Verdict",
    "inspect",
]
