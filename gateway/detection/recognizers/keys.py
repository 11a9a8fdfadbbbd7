"""Finds keys and tokens of known vendors. Tables: `keys_*.toml`.

A key with a distinctive prefix is found anywhere; one without, shortly after the vendor's name.
"""

import re
from pathlib import Path

from pydantic import BaseModel

from gateway.detection.data_files import read_toml
from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer
from gateway.detection.recognizers import _validators
from gateway.detection.recognizers._samples import filled

API_KEY = EntityType("API_KEY", "secret", "An API key or token of a known vendor.")

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_END = r"(?:[^A-Za-z0-9_\-]|$)"
# `name_API_KEY = "`, `"name": "`, `name_token, "`, `<nameToken>`
_BETWEEN = r"[\w .\-]{0,24}[\"'\]\\]{0,3}(?:\s{0,3}string)?\s{0,3}(?::{0,3}=>?|:|[.?]=|,|is|>)\s{0,8}\\?[\"'`]?"


class Key(BaseModel, extra="forbid", frozen=True):
    """The keys of a vendor: a `prefix` (RE2), which is the prefilter, or the `cue` they follow, and their `body`.

    Or of several vendors with the same body: `prefixes`, as written, with blanks between. Examples lack the prefix.

    `<<uuid>>` in the body stands for a UUID. `check` is a function in `_validators`. With `exact`, a key with a prefix
    must not continue with a letter, digit, `_` or `-` (or what `end` says). `{base62:32}` in an example stands for so
    many characters of that alphabet.
    """

    prefix: str = ""
    prefixes: str = ""
    cue: str = ""
    body: str
    check: str = "no_dummy"
    exact: bool = False
    end: str = _END
    by_label: bool = False
    examples: tuple[str, ...]

    def recognizer(self, name: str) -> PatternRecognizer:
        """Returns the recognizer `api_key.<name>`."""
        body = self.body.replace("<<uuid>>", _UUID)
        prefixes = self.prefixes.split()
        prefix = self.prefix or rf"\b(?:{'|'.join(map(re.escape, prefixes))})"
        examples = tuple(before + filled(example) for before in prefixes or [""] for example in self.examples)
        if self.cue:
            # `okta`, `OKTA_`, `my_okta`, `myOkta`, but not the end of another word.
            inner = self.cue.title() if self.cue.isalpha() else self.cue
            begins = rf"(?:\b|_|\d)(?i:{self.cue})|[a-z](?:{inner})"
            pattern = Pattern(rf"(?:{begins}){_BETWEEN}({body}){_END}", 0.9, group=1, prefilter=f"(?i){self.cue}")
            before, after = f"{name.split('_', maxsplit=1)[0].upper()}_API_KEY=", ""
            counter_example = f"id = {examples[0]};"
        else:
            whole = f"({prefix}{body}){self.end}" if self.exact else prefix + body
            pattern = Pattern(whole, 0.95, group=int(self.exact), prefilter=prefix)
            before, after = 'key = "', '";'
            counter_example = f"{examples[0][:8]} is how keys begin"
        return PatternRecognizer(
            f"api_key.{name}",
            API_KEY,
            (pattern,),
            validator=getattr(_validators, self.check),
            examples=tuple(Example(before + one + after, one) for one in examples),
            counter_examples=(counter_example,),
            by_label=self.by_label,
        )


RECOGNIZERS = tuple(
    Key.model_validate(content).recognizer(name)
    for file in sorted(Path(__file__).parent.glob("keys_*.toml"))
    for name, content in read_toml(__file__, file.stem).items()
)
