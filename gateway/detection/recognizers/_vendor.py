"""How the files of vendors' keys declare one: a telling prefix wakes it, the body decides."""

from collections.abc import Callable

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer, compile_pattern
from gateway.detection.recognizers._published_keys import is_published
from gateway.detection.recognizers.secrets._value_classifier import is_dummy

API_KEY = EntityType("API_KEY", "secret", "A key or token of a known vendor's interface.")

Check = Callable[[str], bool | None]
"""Gets a key. True: its checksum is right. False: it is none. None: nothing speaks for or against it."""

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_END = r"(?:[^A-Za-z0-9_\-]|$)"
# `name_API_KEY = "`, `"name": "`, `name_token, "`, `<nameToken>`
_BETWEEN = r"[\w .\-]{0,24}[\"'\]\\]{0,3}(?:\s{0,3}string)?\s{0,3}(?::{0,3}=>?|:|[.?]=|,|is|>)\s{0,8}\\?[\"'`]?"
_FILLED_IN = compile_pattern(r"(?i:x{6}|example|your[_\-a-z]*(?:key|token|secret)|placeholder|here\n?$|redacted)")


def no_dummy(value: str) -> bool | None:
    """False for what instructions show instead of a key: what fingers type, `EXAMPLE`, and keys for everybody."""
    return False if is_dummy(value[-40:]) or is_published(value) or _FILLED_IN.search(value.encode()) else None


def vendor(
    name: str,
    prefix: str,
    body: str,
    example: str,
    *more: str,
    check: Check = no_dummy,
    exact: bool = False,
    end: str = _END,
) -> PatternRecognizer:
    """A recognizer for keys of the form `prefix` + `body` (RE2), with a synthetic `example` (and `more`).

    With `exact`, a key that goes on with a letter, digit, `_` or `-` (or what else `end` says) is none.
    """
    whole = f"({prefix}{body}){end}" if exact else prefix + body
    return PatternRecognizer(
        f"api_key.{name}",
        API_KEY,
        (Pattern(whole, 0.95, group=int(exact), gate=prefix),),
        validator=check,
        examples=tuple(Example(f'key = "{one}";', one) for one in (example, *more)),
        counter_examples=(f"{example[:8]} is how keys begin",),
    )


def announced(name: str, cue: str, body: str, example: str, *, check: Check = no_dummy) -> PatternRecognizer:
    """Keys without a form of their own, known only by the vendor's name (`cue`) shortly before them."""
    # `okta`, `OKTA_`, `my_okta`, `myOkta`, but not the end of another word.
    begins = rf"(?:\b|_|\d)(?i:{cue})|[a-z](?:{cue.title() if cue.isalpha() else cue})"
    return PatternRecognizer(
        f"api_key.{name}",
        API_KEY,
        (Pattern(rf"(?:{begins}){_BETWEEN}({body}){_END}", 0.9, group=1, gate=f"(?i){cue}"),),
        validator=check,
        examples=(Example(f"{name.split('_', maxsplit=1)[0].upper()}_API_KEY={example}", example),),
        counter_examples=(f"id = {example};",),
    )
