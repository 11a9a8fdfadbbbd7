"""How the files of vendors' keys declare one: a telling prefix wakes it, the body decides."""

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer

API_KEY = EntityType("API_KEY", "secret", "A key or token of a known vendor's interface.")


def _no_dummy(value: str) -> bool | None:
    """Keys in instructions are one sign repeated; issued ones are random."""
    return None if len(set(value[-24:])) >= 6 else False


def vendor(name: str, prefix: str, body: str, example: str, *more: str) -> PatternRecognizer:
    """A recognizer for keys of the form `prefix` + `body` (RE2), with a synthetic `example` (and `more`)."""
    return PatternRecognizer(
        f"api_key.{name}",
        API_KEY,
        (Pattern(prefix + body, 0.95, gate=prefix),),
        validator=_no_dummy,
        examples=tuple(Example(f'key = "{one}";', one) for one in (example, *more)),
        counter_examples=(example[:8], f"{example[:8]} is how keys begin"),
    )


def announced(name: str, cue: str, body: str, example: str) -> PatternRecognizer:
    """Keys without a form of their own, known only by the vendor's name (`cue`) shortly before them."""
    between = r"[\w .\-]{0,24}[\"'\]\\]{0,2}\s{0,3}(?:=|:|:=|=>|,|is)\s{0,3}[\"'`]?"
    return PatternRecognizer(
        f"api_key.{name}",
        API_KEY,
        (Pattern(rf"(?i:{cue}){between}({body})\b", 0.9, group=1, gate=f"(?i:{cue})"),),
        validator=_no_dummy,
        examples=(Example(f"{name.upper()}_API_KEY={example}", example),),
        counter_examples=(f"id = {example};",),
    )
