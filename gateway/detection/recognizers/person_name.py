"""Names of people announced by plain words: introductions, salutations, titles, signatures and form fields. The words
are in `person_name.toml`.

The span excludes titles and possessives. A lower-case name counts after "my name is".
"""

import re
from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from gateway.detection.alphabet import LETTERS
from gateway.detection.data_files import Expressions, expand, one_line, read_toml, word_lists
from gateway.detection.normalized_text import NormalizedText
from gateway.detection.recognizer import EntityType, Match, compile_pattern
from gateway.detection.recognizers._pattern_table import pattern_table
from gateway.detection.recognizers._samples import with_examples

PERSON = EntityType("PERSON", "person", "The name of a person.")


class _Cue(BaseModel, extra="forbid", frozen=True):
    """Words that announce a name, and what the name must look like, as `person_name.toml` describes."""

    name: str
    regex: str
    score: float
    words: int = 1
    lower: bool = False
    field: bool = False


_DATA = read_toml(__file__)
_EXPRESSIONS = Expressions({**_DATA["parts"], "letters": LETTERS})
_CUES = tuple(
    _Cue.model_validate({**cue, "name": name, "regex": one_line(expand(cue["regex"], _EXPRESSIONS))})
    for name, cue in _DATA["cues"].items()
)

_WORDS = word_lists(__file__)
NO_NAMES, PARTICLES = _WORDS["no_names"], _WORDS["particles"]
"""Words that occur where names do, and those in lower case inside of names."""

CASE_ENDINGS = "[ny]?[iıuü]n|[ny]?[aeiıuü]|[dt][ae]n?|y?l[ae]"
"""After an apostrophe, in Turkish (RE2)."""
_TURKISH, _TITLED, _LEADING_PARTICLES = _EXPRESSIONS.re2("turkish", "titled", "leading_particles")
_INITIAL, _STREET, _FACTS = _EXPRESSIONS.re2("initial", "street", "facts")
_COMPOUND = re.compile(_EXPRESSIONS["compound"])
_EPONYM, _INITIAL_ALONE, _FORM_LINE = _EXPRESSIONS.of_bytes("eponym", "initial_alone", "form_line")
_ENDING = re.compile(rf"['’](?:s|{CASE_ENDINGS})?\Z")
_MAX_LENGTH = 160
_SPACE = r"[ \t]+"

_PREFILTERS = tuple(f"(?i){cue.regex}" for cue in _CUES)
# A repeated cue announces one name.
_CUE_PLACES = tuple(compile_pattern(f"(?i)(?:{cue.regex}){'+' if cue.regex.endswith(_SPACE) else ''}") for cue in _CUES)
_NAMES = tuple(compile_pattern(_EXPRESSIONS["any_case"] if cue.lower else _EXPRESSIONS["name"]) for cue in _CUES)
_PART = re.compile(r"[^ \t]+")
_NOT_FIRST_WORDS = frozenset(word.encode() for word in _WORDS["no_names"] - _WORDS["titles"] - PARTICLES)
_MAX_WORD = 40
_ALSO_WORDS = frozenset(word.encode() for word in _WORDS["also_words"])
_ENDS = frozenset(b'\n\r.,;:!?)"]}>-<')


def _find(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    data = normalized.data
    for hit in hits:
        cue, name = _CUES[hit], _NAMES[hit]
        last = 0
        for place in _CUE_PLACES[hit].finditer(data):
            end = place.end()
            if end <= last or _never_a_name(data, end):
                continue
            if cue.name == "title" and not _is_title(data, place.start(), place[0].split()[-1]):
                continue
            if titles := _TITLED.match(data, end, end + _MAX_LENGTH):
                end = titles.end()
                if _never_a_name(data, end):
                    continue
            begin = end
            if cue.name == "title" and (lead := _LEADING_PARTICLES.match(data, end, end + _MAX_LENGTH)):
                end = lead.end()
            if not cue.lower and data[end : end + 1].islower():
                continue
            match = name.match(data, end, end + _MAX_LENGTH)
            found = match and _name(normalized, end, match.end(), cue)
            if found:
                last = found.end
                yield found._replace(start=begin)


def _initials(normalized: NormalizedText, hits: Sequence[int]) -> Iterator[Match]:
    """Yields the initials that stand for people in judgments, and again where they are the subject or follow one."""
    data = normalized.data
    letters: set[bytes] = set()
    for place in _INITIAL.finditer(data):
        yield Match(*place.span(1), 0.8, PERSON.name)
        if len(place[2]) < len(". Xx"):  # else a family name follows, or a sentence begins
            letters.add(place[1])
    for again in _INITIAL_ALONE.finditer(data) if letters else ():
        if again[1] in letters:
            yield Match(*again.span(1), 0.7, PERSON.name)


def _never_a_name(data: bytes, start: int) -> bool:
    """Checks quickly whether the next word can start a name: most cues announce none."""
    word = data[start : start + _MAX_WORD].split(None, 1)
    return not word or word[0].rstrip(b".,!?").lower() in _NOT_FIRST_WORDS


def _is_title(data: bytes, start: int, title: bytes) -> bool:
    """Excludes the end of a street (17 Elm Dr) and titles with another meaning (a miss, MS Windows)."""
    if _STREET.search(data[max(0, start - 48) : start]) or data[max(0, start - 2) : start - 1].isdigit():
        return False
    if title.lower() in {b"av", b"av."}:  # an avenue, except in Turkish
        return title.endswith(b".") and _TURKISH.match(data, start, min(len(data), start + 48)) is not None
    if title.isupper() and title not in {b"MR", b"MR.", b"MRS", b"MRS.", b"DR.", b"PROF", b"PROF."}:
        return False
    return title not in {b"miss.", b"Miss."} and (title.endswith(b".") or title not in _ALSO_WORDS)


def _name(normalized: NormalizedText, start: int, end: int, cue: _Cue) -> Match | None:
    """Returns the words at the start of the span that form a name, or None if the first is not a name."""
    text = normalized.data[start:end].decode("utf-8", "replace")
    words: list[str] = []
    last = 0
    for part in _PART.finditer(text):
        word = part[0]
        bare = word.removesuffix(".") if len(word) > 2 else word
        bare = _ENDING.sub("", bare)
        if not words and bare.lower() in _WORDS["titles"]:
            return None
        if not _continues_name(words, bare):
            break
        words.append(bare)
        last = part.start() + len(bare)
        if bare != word:
            break
    while words and words[-1].lower() in _WORDS["particles"]:
        last = max(text.rfind(" ", 0, last), 0)
        words.pop()
    if not words or len(words) < cue.words:
        return None
    end = start + len(text[:last].encode())
    if normalized.data[end : end + 1] == b"." and normalized.data[end + 1 : end + 2].islower():
        return None  # a host or file name
    if _EPONYM.match(normalized.data, end):
        return None
    if cue.name == "turkish_role" and any(map(_COMPOUND.search, words)):
        return None
    if cue.field and not _is_person(normalized.data, start, end, words):
        return None
    score = _name_score(words, cue, normalized.data[end : end + 1])
    return None if score is None else Match(start, end, score, PERSON.name)


def _is_person(data: bytes, start: int, end: int, words: list[str]) -> bool:
    """Returns whether a general field contains a person: a form line, or other personal data nearby."""
    if words[-1].lower() in _WORDS["no_last_words"]:
        return False
    key = data[data.rfind(b"\n", max(0, start - _MAX_WORD), start) + 1 : start]
    if _FORM_LINE.fullmatch(key) and data[end : end + 1] in {b"", b"\n", b"\r", b" ", b","}:
        return True
    return _FACTS.search(data, max(0, start - _MAX_LENGTH), min(len(data), end + _MAX_LENGTH)) is not None


def _continues_name(words: list[str], word: str) -> bool:
    """Returns whether `word` can continue a name: after a capitalized word, it must be capitalized or a particle."""
    if words and word in _WORDS["particles"]:
        return True
    lower = word.lower()
    if lower in _WORDS["no_names"]:
        return False
    if not words or words[0][0].isupper():
        return not words or word[0].isupper()
    return len(words) < 3 and word[0].islower()


def _name_score(words: list[str], cue: _Cue, after: bytes) -> float | None:
    """Returns the score of a name, or None. A word in lower case has to end a clause."""
    if len("".join(words).replace(".", "")) < 2:
        return None
    if words[0][0].isupper():
        return cue.score
    return cue.score - 0.4 if len(words) > 1 or after == b"" or after[0] in _ENDS else None


RECOGNIZERS = (
    with_examples(__file__, "person.announced", (PERSON,), _PREFILTERS, _find, by_label=True),
    with_examples(
        __file__,
        "person.initial",
        (PERSON,),
        (rf"{_EXPRESSIONS['initial_title']}\.?[ \x{{a0}}]\p{{Lu}}[^\w]",),
        _initials,
    ),
    *pattern_table(__file__, (PERSON,)),
)
