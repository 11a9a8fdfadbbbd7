"""The irreversible actions: mask, generalize, hash, redact.

Their results never have the form of a placeholder (`[TYPE_XXXXX]`, see `gateway.placeholders`), so that nothing tries
to restore them. A value that an action cannot handle is redacted, never passed on unchanged.
"""

import hmac
import re

from gateway.models import Action
from gateway.policy.generalization import generalize
from gateway.policy.rules import Rule
from gateway.protection.folding import folded

MOST_SHOWN = 4
"""The most letters and digits that a masked value shows; never more than a third of them."""

_SHORTEST_SHOWN_IN_PART = 8
_SEPARATORS = frozenset(" -./():+,")
_SHOWN_BY_DEFAULT = frozenset({"CARD", "PHONE", "IBAN", "BANK", "ACCOUNT", "FAX"})
"""Words in the names of types whose last digits people expect to see."""


def apply_action(rule: Rule, type: str, value: str, *, key: bytes) -> str:
    """Returns the replacement for `value`, an entity of `type`. `key` is the installation's key for `hash`.

    Raises ValueError for the actions that do not change a value here: placeholder, keep, block.
    """
    if rule.action is Action.REDACT:
        return redacted(type)
    if rule.action is Action.HASH:
        return hashed(type, value, key=key, length=rule.options.hash_length)
    if rule.action is Action.MASK:
        return masked(type, value, keep_last=rule.options.keep_last, sign=rule.options.mask_with)
    if rule.action is Action.GENERALIZE:
        coarse = generalize(type, value, to=rule.options.to, oldest_year=rule.options.oldest_year)
        return redacted(type) if coarse is None else coarse
    raise ValueError(f"{rule.action.value} is not an irreversible action")


def redacted(type: str) -> str:
    """Returns `[PERSON removed]`; `[EMAIL_ADDRESS]` alone would have the form of a placeholder."""
    return f"[{type} removed]"


def hashed(type: str, value: str, *, key: bytes, length: int = 12) -> str:
    """Returns `PERSON:ab12cd34ef56`: HMAC-SHA256 (RFC 2104), equal for equal values under one key.

    Ignores case, separators in numbers and typographic forms. Testing a guess requires the key.
    """
    digest = hmac.digest(key, f"{type}\0{folded(value)}".encode(), "sha256")
    return f"{type}:{digest.hex()[:length]}"


def masked(type: str, value: str, *, keep_last: int | None = None, sign: str = "*") -> str:
    """Replaces letters and digits by `sign`, except for the last few: `**** **** **** 1111`.

    Keeps separators. Shows at most MOST_SHOWN letters and digits and never more than a third; none of fewer than eight.
    An email address shows its first letter and the last label of its domain: `j***@***.org`.
    """
    words = set(type.split("_"))
    if "EMAIL" in words:
        return _masked_email(value, sign)
    size = sum(char.isalnum() for char in value)
    if size == 0:
        return redacted(type)
    if keep_last is None:
        keep_last = MOST_SHOWN if words & _SHOWN_BY_DEFAULT else 0
    shown = min(keep_last, MOST_SHOWN, size // 3) if size >= _SHORTEST_SHOWN_IN_PART else 0
    result: list[str] = []
    for char in reversed(value):
        if char.isalnum():
            result.append(char if shown > 0 else sign)
            shown -= 1
        else:
            result.append(char if char in _SEPARATORS else sign)
    return "".join(reversed(result))


def _masked_email(value: str, sign: str) -> str:
    local, _, domain = value.rpartition("@")
    stars = sign * 3
    first = local[0] if len(local) >= 4 and local[0].isalnum() else sign
    label = domain.rpartition(".")[2]
    last = f".{label}" if "." in domain and re.fullmatch(r"[A-Za-z]{2,6}", label) else ""
    return f"{first}{stars}@{stars}{last}"
