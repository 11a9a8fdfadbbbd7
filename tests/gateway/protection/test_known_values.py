"""A value that was found once is hidden everywhere after it, in any spelling or encoding, and nothing else is."""

import base64
import json
import re
import sysconfig
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from secrets import token_bytes
from uuid import UUID

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gateway.detection import builtin_detector
from gateway.detection.deobfuscation.search import text_variants
from gateway.detection.unicode_folding import compact
from gateway.models import Action, PrivacyMode
from gateway.placeholders import Placeholders, RestoreScope, urls_with_placeholders
from gateway.policy.model import Policy
from gateway.protection.known_values import KnownValues
from gateway.protection.protector import Protector
from gateway.text.fields import Span, TextField
from tests.call_counts import calls
from tests.gateway.detection.deobfuscation.test_deobfuscation import DRESSES
from tests.tables import table

CASES = table(__file__)

pytestmark = pytest.mark.slow

VECTORS = Path(__file__).parents[2] / "vectors"


def vector(name: str) -> list[str]:
    rows: list[str] = json.loads((VECTORS / "repeats" / name).read_text(encoding="utf-8"))
    return rows


NAMES = vector("names.json")
OTHER_NAMES = vector("names_of_other_letters.json")
MARKS = json.loads((VECTORS / "repeats" / "marks.json").read_text(encoding="utf-8"))
GLUED = json.loads((VECTORS / "repeats" / "glued.json").read_text(encoding="utf-8"))
LEFT_ALONE = (VECTORS / "detection" / "dresses_left_alone.jsonl").read_text(encoding="utf-8").splitlines()
# In the middle of a word a line is broken only with a hyphen, and code where the line is full.
READ = {"wrapped, hyphen", "quoted-printable, wrapped"}
NO_DRESS = {name for name in DRESSES if "wrapped" in name} - READ
WORN = {name: dress for name, dress in DRESSES.items() if name not in NO_DRESS}

PROSE = "the letter of last week was answered at length by those whom it concerned, to "

# How long an example takes says nothing on a machine that does other work, too.
UNTIMED = settings(suppress_health_check=[HealthCheck.too_slow])

type Spelling = Callable[[str], str]


def b64(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def bytes_as(name: str, form: str) -> str:
    """As programs write bytes and mail: ASCII as it is, any other byte in the form."""
    return "".join(chr(byte) if byte < 0x80 else form.format(byte) for byte in name.encode())


# These hold for letters of any script.
SPELLINGS: dict[str, Spelling] = {
    "base64": b64,
    "base64 without padding": lambda name: b64(name).rstrip("="),
    "base64 of more": lambda name: b64(f"dear {name}, all the best"),
    "base64 in lines": lambda name: base64.encodebytes(f"{PROSE}{name}, {PROSE}".encode()).decode(),
    "base64 in quoted lines": lambda name: base64.encodebytes(f"{PROSE}{name}".encode()).decode().replace("\n", "\n> "),
    "base64 in a link": lambda name: f"https://a.example/?q={base64.urlsafe_b64encode(name.encode()).decode()}",
    "base32": lambda name: base64.b32encode(name.encode()).decode(),
    "base32 without padding": lambda name: base64.b32encode(name.encode()).decode().rstrip("="),
    "base32 of more": lambda name: base64.b32encode(f"dear {name}, all the best".encode()).decode(),
    "base32 in lower case": lambda name: base64.b32encode(f"dear {name}, all the best".encode()).decode().lower(),
    "hex": lambda name: name.encode().hex(),
    "hex with spaces": lambda name: name.encode().hex(" "),
    "percent": lambda name: "".join(f"%{byte:02X}" for byte in name.encode()),
    "percent, spaces only": lambda name: name.replace(" ", "%20"),
    "form data": lambda name: f"name={name.replace(' ', '+')}&x=1",
    "references": lambda name: "".join(f"&#{ord(char)};" for char in name),
    "escapes": lambda name: "".join(f"\\u{ord(char):04x}" for char in name),
    "bytes": lambda name: bytes_as(name, "\\x{:02x}"),
    "bytes in JSON": lambda name: bytes_as(name, "\\\\x{:02X}"),
    "octal bytes": lambda name: bytes_as(name, "\\{:o}"),
    "octal bytes in JSON": lambda name: bytes_as(name, "\\\\{:o}"),
    "code points": lambda name: "".join(char if char.isascii() else f"\\x{{{ord(char):x}}}" for char in name),
    "quoted-printable": lambda name: bytes_as(name, "={:02X}"),
    "zero width": "\u200b".join,
    "soft hyphen": lambda name: f"{name[:3]}\u00ad{name[3:]}",
    "a tag inside": lambda name: f"{name[:2]}<b>{name[2:]}</b>",
    "bold inside": lambda name: f"{name[0]}**{name[1:3]}**{name[3:]}",
    "a bold word": lambda name: f"**{name.replace(' ', '** ', 1)}",
    "spaced out": lambda name: "  ".join(" ".join(word) for word in name.split()),
    "over lines": lambda name: name.replace(" ", "\n"),
    "over quoted lines": lambda name: name.replace(" ", "\n> > "),
    "over cells": lambda name: name.replace(" ", " | "),
    "two spaces": lambda name: name.replace(" ", "  "),
    "file": lambda name: f"letter_{name.replace(' ', '_').lower()}_2.pdf",
    "capitals": str.upper,
}


def protect(protector: Protector, policy: Policy, *texts: str) -> list[str]:
    """One message after the other, each restored from what became of it."""
    placeholders = Placeholders(b"k" * 32)
    slots = [TextField({"text": text}, "text", text) for text in texts]
    protector.protect([[slot] for slot in slots], policy, PrivacyMode.STANDARD, placeholders)
    protected = [slot.container["text"] for slot in slots]
    for before, after in zip(texts, protected, strict=True):
        assert placeholders.restore(after, rules=RestoreScope("source", urls_with_placeholders(after))).text == before
    return protected


def reads_as(text: str, name: str) -> bool:
    """Whether a reader who takes off dresses and marks sees the name, or a long word of it."""
    words = [name, *(word for word in name.split() if len(word) >= 4)]
    return any(compact(word) in compact(reading) for reading in text_variants(text) for word in words)


@pytest.mark.parametrize("dress", WORN)
@pytest.mark.parametrize("number", range(len(NAMES)))
def test_a_known_name_is_hidden_in_every_disguise(
    protector: Protector, policy: Policy, number: int, dress: str
) -> None:
    dressed = WORN[dress](NAMES[number])
    if dressed is not None:
        first, later = protect(protector, policy, f"My name is {NAMES[number]}.", f"then {dressed} came, at last")
        assert "[PERSON_" in first
        assert not reads_as(later, NAMES[number])
        assert later.startswith("then ")
        assert later.endswith(" came, at last")


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("number", range(len(OTHER_NAMES)))
def test_and_so_are_names_of_other_letters(protector: Protector, policy: Policy, number: int, spelling: str) -> None:
    name = OTHER_NAMES[number]
    spelled = SPELLINGS[spelling](name)
    first, later = protect(protector, policy, f"My name is {name}.", f"then {spelled} came, at last")
    assert "[PERSON_" in first
    # Text in an unknown encoding reads as nothing, too.
    assert spelled not in later
    assert not reads_as(later, name)
    assert later.startswith("then ")
    assert later.endswith(" came, at last")


@pytest.mark.parametrize("name", ["Björn Bäcker", "Inés Muñoz", "Inés Ibáñez", "Zofia Gołębiowska", "Uwe Käß"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_short_name_with_marks_is_read_in_base64(protector: Protector, policy: Policy, name: str, end: str) -> None:
    code = b64(name + end).rstrip("=")
    assert code not in protect(protector, policy, f"My name is {name}.", f"see {code}")[1]


WORDS = st.lists(st.sampled_from("so the letter, went to (whom?) it may concern\n\n- and back: 12 times €5".split(" ")))


@UNTIMED
@example(name="Jane Doe", spelling="file", before=[], after=["letter,"])
@given(name=st.sampled_from(NAMES), spelling=st.sampled_from(sorted(SPELLINGS)), before=WORDS, after=WORDS)
def test_anywhere_in_a_later_message(
    protector: Protector, policy: Policy, name: str, spelling: str, before: list[str], after: list[str]
) -> None:
    text = " ".join([*before, SPELLINGS[spelling](name), *after])
    *_, later = protect(protector, policy, f"My name is {name}.", "Noted.", text)
    assert not reads_as(later, name)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_later_turn_repeats_the_bytes_of_the_earlier_ones(
    policy: Policy, protector: Protector, spelling: str
) -> None:
    """Also where what was hidden in a dress is a value of its own from then on, and where nothing is remembered."""
    said = [f"My name is {name}, {SPELLINGS[spelling](name)}" for name in NAMES]
    said += [f"again {SPELLINGS[spelling](name)} and {name}" for name in NAMES]
    whole = protect(protector, policy, *said)
    for turn in accumulate([[text] for text in said]):
        assert protect(protector, policy, *turn) == whole[: len(turn)]
    assert protect(Protector(builtin_detector(), hash_key=b"h" * 32), policy, *said) == whole


SHORT = "I am Li Wu. My name is Rose Will. My name is Mark Down. My name is Jo An. My name is Anna Ford."


@UNTIMED
@given(data=st.binary(min_size=16, max_size=400), form=st.sampled_from(["base64", "hex", "uuid", "url-safe"]))
def test_no_name_is_found_in_what_is_random(protector: Protector, policy: Policy, data: bytes, form: str) -> None:
    random = {
        "base64": base64.b64encode(data).decode(),
        "url-safe": base64.urlsafe_b64encode(data).decode().rstrip("="),
        "hex": data.hex(),
        "uuid": str(UUID(bytes=data[:16])),
    }[form]
    alone = protect(protector, policy, f"see {random} there")
    assert protect(protector, policy, SHORT, f"see {random} there")[1:] == alone


def test_nor_in_keys_and_pictures(protector: Protector, policy: Policy) -> None:
    for size in (24, 33, 64, 3000):
        text = f"data:image/png;base64,{base64.b64encode(token_bytes(size)).decode()} and {token_bytes(size).hex()}"
        assert protect(protector, policy, SHORT, text)[1:] == protect(protector, policy, text)


@pytest.mark.parametrize("number", range(len(LEFT_ALONE)))
def test_clean_text_that_resembles_a_disguise_is_unchanged(protector: Protector, policy: Policy, number: int) -> None:
    text = json.loads(LEFT_ALONE[number])["text"]
    assert protect(protector, policy, SHORT, text)[1] == text


def test_programs_hold_no_name_that_is_not_written_there(protector: Protector, policy: Policy) -> None:
    """Programs are full of stars, backslashes, codes and single letters."""
    names = "Rose Will,Mark Down,Anna Ford,Max Min,Art Case,Guy Base,Ray Cast,Pat Tern,Dot Net,Al Loc,Sue Per".split(
        ","
    )
    introduced = " ".join(f"My name is {name}." for name in names)
    words = {part.lower() for name in names for part in (name, name.replace(" ", "_"), name.split()[-1])}
    for source in ("ast.py", "base64.py", "quopri.py", "textwrap.py"):
        text = (Path(sysconfig.get_path("stdlib")) / source).read_text(encoding="utf-8")
        slots = [[TextField({"text": each}, "text", each)] for each in (introduced, text)]
        known = {(s.start, s.end) for s in protector.find(slots, policy, PrivacyMode.STANDARD)[1].spans[0]}
        alone = {(s.start, s.end) for s in protector.find(slots[1:], policy, PrivacyMode.STANDARD)[0].spans[0]}
        assert {text[start:end].lower() for start, end in known - alone} <= words


@pytest.mark.parametrize(
    ("hidden", "later"),
    [
        ("My name is Annika Oxen<b>foord</b>.", "an Oxen is no name"),
        ("My name is Annika Oxen-\nfoord.", "an Oxen is no name"),
    ],
    ids=["tag", "hyphen"],
)
def test_half_a_name_is_none(protector: Protector, policy: Policy, hidden: str, later: str) -> None:
    assert protect(protector, policy, "My name is Annika Oxenfoord.", hidden, later)[2] == later


@pytest.mark.parametrize(
    "spelled",
    CASES["case_and_width_make_no_difference"],
    ids=["beside a letter that is two", "tab", "full width", "cells", "percent", "account"],
)
def test_case_and_width_make_no_difference(protector: Protector, policy: Policy, spelled: str) -> None:
    later = protect(protector, policy, "My name is Anna Schmidt.", f"see {spelled}")[1]
    assert not reads_as(later, "Anna Schmidt")


@pytest.mark.parametrize(
    "row",
    [
        "Anna Schmidt,anna.schmidt@acme.example,4",
        "| **Anna Schmidt** | anna.schmidt@acme.example | 4 |",
        "Schmidt,anna.schmidt@acme.example,4",
    ],
)
def test_a_name_turned_round_joins_no_cells(protector: Protector, policy: Policy, row: str) -> None:
    _, later = protect(protector, policy, "My name is Anna Schmidt.", row)
    assert re.sub(r"\[[A-Z_]+_\w{5}\]", "", later) == re.sub(r"(?i)anna[. ]schmidt(@acme.example)?|schmidt", "", row)


def test_many_values_are_found_as_a_few_are(protector: Protector, policy: Policy) -> None:
    """Above a few dozen, texts are gone through in another way."""
    numbers = [f"+49 30 {2_000_000 + 7919 * count}" for count in range(60)]
    first = " ".join(f"My name is {name}." for name in NAMES) + "".join(f" Call {number}." for number in numbers)
    text = "; ".join([*(name.lower() for name in NAMES), *(f"no. {number[4:]}" for number in numbers), *numbers])
    later = protect(protector, policy, first, text)[1]
    assert not any(reads_as(later, name) for name in NAMES)
    assert not any(number in later for number in numbers)


def test_values_that_share_words_are_distinguished(protector: Protector, policy: Policy) -> None:
    mails = [f"anna.annabel{count}@annabel.example.com" for count in range(50)]
    later = protect(protector, policy, ", ".join(mails), "; ".join(f"mailto:{mail.upper()}" for mail in mails))[1]
    assert "annabel" not in later.lower()


LETTERS = "annaschmidtberlin"


def cased(number: int) -> str:
    return "".join(letter.upper() if number >> bit & 1 else letter for bit, letter in enumerate(LETTERS))


SHARED: dict[str, tuple[str, Spelling]] = {
    "first name": ("PERSON", lambda number: f"Anna Schmidt{number}"),
    "two first names": ("PERSON", lambda number: f"Anna Maria Schmidt{number}"),
    "street": ("STREET_ADDRESS", lambda number: f"Main Street {number}"),
    "all but the case": ("EMAIL_ADDRESS", lambda number: f"{cased(int(number))}@x.example"),
    "all but the case, one word": ("USERNAME", lambda number: cased(int(number))),
}


@pytest.mark.parametrize("shared", SHARED)
def test_twice_the_values_with_shared_words_cost_twice_as_much(shared: str) -> None:
    kind, spelling = SHARED[shared]

    def cost(size: int) -> int:
        values = [spelling(str(number)) for number in range(size)]
        text = " ".join(f"Yesterday {value} went to see Klaus." for value in values)
        found: list[Span] = []

        def work() -> None:
            known = KnownValues()
            known.add(values, [(Span(0, len(value), kind, Action.PLACEHOLDER, 0.9, "test"),) for value in values])
            found.extend(known.repeats(text, ()))

        count = calls(work)
        assert [text[span.start : span.end] for span in found] == values
        return count

    assert cost(400) < 2.5 * cost(200)


def test_each_value_with_the_same_beginning_is_found(protector: Protector, policy: Policy) -> None:
    names = ["Anna Ford", "Anna Ford Weber", "Anna Ford Weber Oxen", "Anna Fordham Oxen", "Anna Oxen"]
    said = " ".join(f"My name is {name}." for name in names)
    text = ", then ".join(spelled for name in names for spelled in (name.lower().replace(" ", "_"), name.upper()))
    later = protect(protector, policy, said, text)[1]
    assert later.count("[PERSON_") == 2 * len(names)
    assert later.replace(", then ", "").count(" ") == 0


# Put together, so that no scanner of this repository takes them for live ones.
PARTS = {"card": "4539578763621486", "iban": "DE89370400440532013000", "key": "AKIA" + "QWERTZUI23456789"}
PARTS |= {"key_lower": PARTS["key"].lower(), "token": "Zk3" * 9, "token_upper": "ZK3" * 9}


@pytest.mark.parametrize("others", [0, 60], ids=["alone", "among many"])
@pytest.mark.parametrize("row", GLUED, ids=lambda row: f"{row['value']} in {row['text']}")
def test_a_specific_value_is_hidden_within_a_longer_word_and_no_other_is(row: dict[str, str], others: int) -> None:
    value, text, left = (row[name].format(**PARTS) for name in ("value", "text", "left"))
    values = [value, *(f"name{number}@host{number}.example" for number in range(others))]
    known = KnownValues()
    known.add(values, [(Span(0, len(each), "SECRET", Action.PLACEHOLDER, 0.9, "test"),) for each in values])
    for span in reversed(known.repeats(text, ())):
        text = text[: span.start] + text[span.end :]
    assert text == left


@pytest.mark.parametrize("glue", ["ref id{}", "[PERSON_7KQ2M{}]", "order_{}x", "0000{}", "\u00fc{}\u4f60", "[{}{}]"])
def test_a_glued_value_is_restored_to_the_byte(protector: Protector, policy: Policy, glue: str) -> None:
    said = "card {card}, IBAN {iban}, key {key}".format(**PARTS)
    for value in (PARTS["card"], PARTS["iban"], PARTS["key"]):
        text = glue.format(value, value)
        first, later = protect(protector, policy, f"{said}; {text}", text)
        assert value not in first + later


@pytest.mark.parametrize("row", MARKS, ids=lambda row: row["name"])
def test_a_mark_goes_with_its_other_half(protector: Protector, policy: Policy, row: dict[str, str]) -> None:
    before, rest = row["text"].split("{")
    value, after = rest.split("}")
    later = protect(protector, policy, "My name is Jane Doe.", before + value + after)[1]
    assert later.startswith(f"{before}[PERSON_")
    assert later.endswith(f"]{after}")
    assert later.count("[PERSON_") == 1


SECRETS = {"PASSWORD": "hunter2" + "xyz", "SECRET": "Zk3Jx9Qm" + "V2bTz8"}


@pytest.mark.parametrize(("secret", "found"), [(SECRETS[kind], found) for kind, found in CASES["secrets"]])
def test_a_secret_is_known_without_what_was_found_with_it(
    protector: Protector, policy: Policy, secret: str, found: str
) -> None:
    text = f"{found.format(secret)}\nLater I typed {secret} by hand, too."
    assert secret not in protect(protector, policy, text)[0]


def test_but_a_password_that_is_a_plain_word_is_not(protector: Protector, policy: Policy) -> None:
    text = "postgresql://postgres:postgres@10.4.2.9/postgres fails. Is postgres running?"
    assert protect(protector, policy, text)[0].endswith("Is postgres running?")
