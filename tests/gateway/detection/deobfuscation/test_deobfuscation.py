"""Values of nineteen types in every dress: all hidden to the last character, all restored to the byte.

`dresses.jsonl` holds the values, cut to pieces where they look like secrets; `dresses_left_alone.jsonl` texts that wear
something like a dress over nothing private.
"""

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.detection import Detector
from gateway.models import PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope, urls_with_placeholders
from gateway.policy.model import Policy
from gateway.protection.protector import Protector
from gateway.text.fields import TextField
from tests.tables import table

CASES = table(__file__)

VECTORS = Path(__file__).parents[3] / "vectors" / "detection"
VALUES = [json.loads(line) for line in (VECTORS / "dresses.jsonl").read_text(encoding="utf-8").splitlines()]

type Dressing = Callable[[str], str | None]
"""The value in the dress; None where the dress does not fit the value."""

LOOK_ALIKES = str.maketrans("aceopxyiABCEHKMOPTX", "асеорхуіАВСЕНКМОРТХ")
DIGITS = "0123456789"
NUMBERS = {"CREDIT_CARD", "IBAN_CODE", "US_SSN", "US_ITIN", "PHONE_NUMBER"}


def between(sign: str) -> Dressing:
    return sign.join


def each(form: str) -> Dressing:
    """Every byte written in `form`."""
    return lambda value: "".join(form.format(byte) for byte in value.encode())


def signs(form: str, plain: str = "") -> Dressing:
    """Every sign that is no letter or digit."""
    return lambda value: "".join(
        c if c.isalnum() or c in plain else "".join(form.format(b) for b in c.encode()) for c in value
    )


def at(sign: str, *places: float) -> Dressing:
    """Inserts `sign` at these parts of the length, where letters or digits are on both sides."""

    def dress(value: str) -> str:
        for place in sorted(places, reverse=True):
            middle = int(len(value) * place)
            while not (value[middle - 1].isalnum() and value[middle].isalnum()):
                middle += 1
            value = value[:middle] + sign + value[middle:]
        return value

    return dress


def mapped(table: dict[int, int] | dict[int, str]) -> Dressing:
    def dress(value: str) -> str | None:
        dressed = value.translate(table)
        return None if dressed == value else dressed

    return dress


def base64_of(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def quoted(value: str) -> str:
    return "".join(c if c.isalnum() else f"={ord(c):02X}" for c in value)


def json_in_json(value: str) -> str:
    escaped = "".join(f"\\u{ord(c):04x}" for c in value)
    return json.dumps(f'"{escaped}"')[3:-3]


def around(before: str, after: str) -> Dressing:
    """Emphasis on the first half of the value."""

    def dress(value: str) -> str:
        middle = len(value) // 2
        return f"{before}{value[:middle]}{after}{value[middle:]}"

    return dress


def dotted(value: str) -> str | None:
    runs = [i for i in range(1, len(value)) if value[i].isalnum() and value[i - 1].isalnum()]
    for place in reversed(runs):
        value = value[:place] + "." + value[place:]
    return value


def spelled(value: str) -> str | None:
    if value.count("@") != 1 or "://" in value:
        return None
    return value.replace("@", " [at] ").replace(".", " [dot] ")


def worded(value: str) -> str | None:
    local, _, host = value.partition("@")
    return f"{local} at {host.replace('.', ' dot ')}" if host and "://" not in value else None


def defanged(value: str) -> str | None:
    return value.replace(".", "[.]") if value.replace(".", "").isdigit() else None


def mail_header(code: str) -> Dressing:
    """RFC 2047, in one word as long as it may be."""

    def dress(value: str) -> str | None:
        data = value.encode()
        said = base64.b64encode(data).decode() if code == "B" else "".join(f"={byte:02X}" for byte in data)
        return f"=?utf-8?{code}?{said}?=" if len(said) <= 200 else None

    return dress


DRESSES: dict[str, Dressing] = {
    "mail header, B": mail_header("B"),
    "mail header, Q": mail_header("Q"),
    "plain": lambda value: value,
    "full width": mapped({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    "full-width digits": mapped({ord(d): 0xFF10 + int(d) for d in DIGITS}),
    "bold digits": mapped({ord(d): 0x1D7CE + int(d) for d in DIGITS}),
    "arabic digits": mapped({ord(d): 0x0660 + int(d) for d in DIGITS}),
    "circled digits": mapped({ord(d): 0x2460 + int(d) - 1 for d in DIGITS[1:]}),
    "zero width": between("\u200b"),
    "joiners": between("\u2060"),
    "bidi": at("\u202e\u2066\u2069\u202c", 0.3, 0.7),
    "soft hyphen": at("\u00ad", 0.2, 0.5, 0.8),
    "variation selectors": between("\ufe01"),
    "struck through": between("\u0336"),
    "underlined digits": mapped({ord(d): d + "\u0332" for d in DIGITS}),
    "look-alikes": mapped(LOOK_ALIKES),
    "spaced out": between(" "),
    "spaced out wide": lambda value: "   ".join(" ".join(word) for word in value.split()),
    "wrapped": at("\n", 0.5),
    "wrapped twice": at("\r\n", 0.35, 0.7),
    "wrapped, backslash": at("\\\n", 0.6),
    "wrapped, hyphen": at("-\n", 0.6),
    "wrapped, quoted": at("\n> ", 0.5),
    "wrapped, quoted deep": at("\n> > ", 0.4),
    "wrapped, indented": at("\n    ", 0.5),
    "wrapped, comment": at("\n# ", 0.5),
    "entities": each("&#{};"),
    "hex entities": each("&#x{:x};"),
    "entities, signs": signs("&#{};", " "),
    "entities twice": each("&amp;#{};"),
    "percent": each("%{:02X}"),
    "percent, signs": signs("%{:02x}"),
    "percent twice": each("%25{:02X}"),
    "percent five times": signs("%25252525{:02X}"),
    "base64": base64_of,
    "base64, no padding": lambda value: base64_of(value).rstrip("="),
    "base64, url-safe": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    "base64 of UTF-16": lambda value: base64.b64encode(value.encode("utf-16-le")).decode(),
    "base64 twice": lambda value: base64_of(base64_of(value)),
    "base64 of percent": lambda value: base64_of(each("%{:02X}")(value) or ""),
    "percent of base64": lambda value: signs("%{:02X}")(base64_of(value)),
    "base64, wrapped": lambda value: at("\n", 0.5)(base64_of(value)),
    "hex": each("{:02x}"),
    "hex, upper": each("{:02X}"),
    "hex, spaced": lambda value: value.encode().hex(" "),
    "hex, colons": lambda value: value.encode().hex(":"),
    "hex, 0x": lambda value: ", ".join(f"0x{byte:02x}" for byte in value.encode()),
    "quoted-printable": each("={:02X}"),
    "quoted-printable, signs": quoted,
    "quoted-printable, wrapped": at("=\r\n", 0.4),
    "\\u": each("\\u{:04x}"),
    "\\x": each("\\x{:02x}"),
    "\\u, signs": signs("\\u{:04X}"),
    "\\u{}": each("\\u{{{:x}}}"),
    "json in json": json_in_json,
    "bold": around("**", "**"),
    "code": around("`", "`"),
    "code inside": at("`", 0.3, 0.6),
    "tag": at("<b>", 0.5),
    "tags": around("<b>", "</b>"),
    "tag with attributes": at('<span class="x">', 0.4),
    "comment": at("<!-- -->", 0.5),
    "word break": at("<wbr>", 0.3, 0.6),
    "terminal colours": at("\x1b[31m", 0.5),
    "spelled": spelled,
    "worded": worded,
    "defanged": defanged,
    "entities of full width": lambda value: "".join(f"&#{ord(c) + 0xFEE0};" if c != " " else c for c in value),
    "base64 of entities": lambda value: base64_of(each("&#{};")(value) or ""),
}


def protect(
    protector: Protector, policy: Policy, text: str, session: Placeholders | None = None
) -> tuple[str, list[tuple[int, int]], Placeholders]:
    placeholders = session or Placeholders(b"k" * 32)
    slot = TextField({"text": text}, "text", text)
    done = protector.protect([[slot]], policy, PrivacyMode.STANDARD, placeholders)
    return slot.container["text"], [(one.start, one.end) for one in done.hidden], placeholders


def uncovered(spans: list[tuple[int, int]], start: int, end: int) -> set[int]:
    return set(range(start, end)) - {at for first, last in spans for at in range(first, last)}


def test_there_are_forty_values_of_nineteen_types() -> None:
    assert len(VALUES) >= 40
    assert len({row["type"] for row in VALUES}) >= 19


@pytest.mark.slow
@pytest.mark.parametrize("name", DRESSES)
def test_every_value_is_hidden_and_restored(protector: Protector, policy: Policy, name: str) -> None:
    missed = []
    for number, row in enumerate(VALUES):
        dressed = DRESSES[name]("".join(row["value"]))
        if dressed is None:
            continue
        before, _, after = row["text"].partition("{}")
        text = before + dressed + after
        protected, spans, placeholders = protect(protector, policy, text)
        left = uncovered(spans, len(before), len(before) + len(dressed))
        # Marks that a renderer takes away say nothing.
        if any(text[at].isalnum() for at in left if name not in {"bold", "code", "tags"} or at > len(before) + 4):
            missed.append(f"{row['type']} in line {number + 1}")
        scope = RestoreScope("source", urls_with_placeholders(protected))
        assert placeholders.restore(protected, rules=scope).text == text
    assert missed == []


@pytest.mark.parametrize("between", [" | ", ",", ";", ", ", "|"], ids=ascii)
def test_a_card_in_several_cells_is_hidden(protector: Protector, policy: Policy, between: str) -> None:
    for cells in (["4111", "1111", "1111", "1111"], ["4111 1111", "1111 1111"], ["4111-1111-1111", "1111"]):
        text = f"paid;{between.join(cells)};yes"
        assert not any(cell in protect(protector, policy, text)[0] for cell in cells)
        other = text.replace("4111", "4112")
        assert protect(protector, policy, other)[0].count("[CREDIT_CARD") == 0


OVER_AND_OVER = (
    "%25", "%2541", "&amp;", "&#64;", "\\", "\\\\u0041", "=40=\n", "aGVsbG8g", "6869", "4 ", "a.", "1:a:", "1`", "1<b>",
    "1<b ", "[.]", "a at b dot ", "x1\n", "x1\n> ", "1234\n", "\u0430@", "\u246a", "a\u0336", "[A_00000]",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("unit", OVER_AND_OVER, ids=ascii)
def test_a_repeated_disguise_ends(protector: Protector, unit: str) -> None:
    """Any of them would take hours if a place were tried again from each of its signs."""
    text = unit * (50_000 // len(unit))
    assert len(protector.detect(text)) <= 1
    assert protector.detect(f"{text} \n\njohn%40example.com")[-1].end == len(text) + 21


@pytest.mark.parametrize("name", ["db.password=", "api.key=", "client.secret=", "password: "])
@pytest.mark.parametrize(
    "below", ["server.port=8080\napp.name=payroll", "stringData:\n  a: b", "spring.jpa.show-sql=true"]
)
def test_a_setting_ends_before_the_next(detector: Detector, name: str, below: str) -> None:
    secret = "g2xiF4AcEMxu" + "WQKqh29HYVOJ"
    text = f"{name}{secret}\n{below}"
    assert {text[one.start : one.end] for one in detector.detect(text) if one.score >= 0.5} == {secret}


NEXT_LINES = ["Please check why", "export REGION", "Also: it fails", "It", "Thanks a lot", "python main", "region: eu"]


@pytest.mark.parametrize("label", ["API_KEY=", "password: ", "token = ", "client_secret: "])
@pytest.mark.parametrize("following", NEXT_LINES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_secret_ends_with_its_line(detector: Detector, label: str, following: str, end: str) -> None:
    """With the first word of the next line in it, the value would not be recognized elsewhere."""
    secret = "g2xiF4AcEMxu" + "WQKqh29HYVOJ"
    found = detector.detect(f"{label}{secret}{end}{following}")
    at = len(label)
    assert {(one.start, one.end) for one in found if one.score >= 0.5} == {(at, at + len(secret))}


@pytest.mark.parametrize(("text", "value"), CASES["what_the_layout_says"])
def test_values_are_found_by_their_layout(detector: Detector, text: str, value: str) -> None:
    assert value in [text[one.start : one.end] for one in detector.detect(text) if one.score >= 0.5]


@pytest.mark.parametrize("text", ["phone_call_48213077", "call_48213077_old"])
def test_only_the_id_of_a_tool_call_is_no_phone_number(detector: Detector, text: str) -> None:
    assert "48213077" in [text[one.start : one.end] for one in detector.detect(text) if one.score >= 0.5]
    assert not [one for one in detector.detect("call_48213077") if one.score >= 0.5]


@pytest.mark.parametrize("text", CASES["layout_without_anything_private"])
def test_layout_without_anything_private(detector: Detector, text: str) -> None:
    assert not [one for one in detector.detect(text) if one.score >= 0.5]


@pytest.mark.parametrize("date", ["10/22", "10/22/25", "3/11/2025", "22.10.", "22.10.2025"])
def test_an_entry_with_its_date_does_not_continue_a_number(detector: Detector, date: str) -> None:
    text = f"Call about claim 07-63646-QX\n{date} Roof inspected, loan 8804810341\n{date} Letter received"
    found = [text[one.start : one.end] for one in detector.detect(text) if one.score >= 0.5]
    assert found
    assert not [value for value in found if "\n" in value]
