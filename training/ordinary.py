"""Words that are not names, and given names that are nothing else: ``python -m training.ordinary`` writes the lists
beside the weights.

The words are of other languages, from our templates, our word lists and what programs say (interfaces.py), and of
English what is written with a capital; without all that is somebody's name in any culture that we know. What the model
takes for a person and consists of nothing else is none. The given names are those of our pools that no program says and
no list has as a word, a place or a firm: where the model is in doubt about one of them, it is somebody. A third list,
which the student does not know, has the countries of the world and the cities that time zones are named after, in
CLDR's languages, and words of other scripts.
"""

import argparse
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from babel import Locale

from training.generate import LANGUAGES, templates
from training.interfaces import OTHERS, catalog_lines, lines, raw_texts
from training.pools import lines as pool_lines
from training.pools import people, towns, words

FOLDER = Path(__file__).parent.parent / "gateway" / "detection" / "ner" / "model"
# English has no need of it, and in Vietnamese every name is a word.
SPOKEN = tuple(language for language in LANGUAGES if language not in {"en", "vi"})
NAMELESS = ("ordinary.en.txt", "technical.en.txt", "ordinary.nordic.txt", "things.txt")
"""Words with a capital in English or everywhere, of which the model knows enough others; words of
manuals (documentation.py); and words of languages whose catalogs we do not read."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_SLOT = re.compile(r"\{[\w.]+\}|\\[nt]")
# A word seen once or twice may be a slip, or a name.
_OFTEN = 3
_TWICE = 2
_COUNTRY = 2
_GIVEN = re.compile(r"[^\W\d_]{3,}")
_SPELLED_LIKE_WORDS = frozenset({"chinese", "cantonese", "vietnamese", "korean", "cyrillic", "greek"})
_OTHER = (
    *("not_given.txt", "things.txt", "common_names.txt", "cities.txt", "countries.txt", "regions.txt", "calendar.txt"),
    *("company_words.txt", "organisations.txt", "institutions.txt"),
)


_LOCALES = (
    "cs_CZ da_DK es_CA et_EE fi_FI ga_IE hr_HR hu_HU id_ID is_IS lt_LT lv_LV no_NO ro_RO sk_SK sl_SI sv_SE".split()
)

_SCRIPTS = "ru uk be bg sr mk el he ar fa ur hi bn mr ta th zh zh_Hant ja ko ka hy".split()
_LOCALES_OF_SCRIPTS = (
    "ru_RU uk_UA bg_BG mk_MK el_GR he_IL ar_AA ar_SA ar_PS ar_DZ fa_IR hi_IN mr_IN bn_BD ta_IN th_TH zh_CN zh_TW ja_JP "
    "ko_KR ka_GE hy_AM"
).split()
_PLACE = re.compile(r"[^\W\d_]{2,}")


def plain(word: str) -> str:
    """As words are compared: small letters without marks."""
    folded = unicodedata.normalize("NFKD", word.lower().replace("ß", "ss").replace("ı", "i"))
    return "".join(char for char in folded if not unicodedata.combining(char))


def named() -> frozenset[str]:
    """Every part of a name that we know."""
    pools = [name for pool in people().values() for name in (*pool.given, *pool.family)]
    return frozenset(
        plain(part)
        for name in (*pools, *_faker_names(_LOCALES), *words("common_names.txt"), *words("word_names.txt"))
        for part in _WORD.findall(name)
    )


def _faker_names(locales: Sequence[str]) -> Iterator[str]:
    """Names of persons in some languages, from Faker."""
    for locale in locales:
        provider = import_module(f"faker.providers.person.{locale}").Provider
        for name, values in vars(provider).items():
            if "name" in name and "format" not in name and isinstance(values, tuple | list | dict):
                yield from map(str, values)


def ordinary() -> list[str]:
    """The words, in small letters, sorted."""
    found: set[str] = set()
    for language in SPOKEN:
        said = Counter(word.lower() for line in lines(language) for word in set(_WORD.findall(line)))
        found.update(word for word, times in said.items() if times >= _OFTEN)
        found.update(_written(language))
    for language in OTHERS:
        said = Counter(word.lower() for line in lines(language) for word in set(_WORD.findall(line)))
        found.update(word for word, times in said.items() if times >= _OFTEN)
    for file in NAMELESS:
        found.update(word.lower() for line in pool_lines(file) for word in _WORD.findall(line))
    names = named()
    return sorted(word for word in found if plain(word) not in names)


def _written(language: str) -> Iterator[str]:
    """Returns the words of our lists and templates; a key of the lists is English."""
    texts = [line.partition(":")[2] for line in pool_lines(f"words.{language}.txt")]
    texts += pool_lines(f"ordinary.{language}.txt")
    for kind in (language, f"{language}.negative"):
        texts += [_SLOT.sub(" ", template) for template in templates(kind)]
    for text in texts:
        yield from (word.lower() for word in _WORD.findall(text))


def given() -> list[str]:
    """The given names, in small letters, sorted."""
    names = {
        name.lower() for culture, pool in people().items() if culture not in _SPELLED_LIKE_WORDS for name in pool.given
    }
    taken = _taken()
    return sorted(name for name in names if _GIVEN.fullmatch(name) and plain(name) not in taken)


def _taken() -> frozenset[str]:
    """Returns the names that are words, places or firms as well."""
    said = Counter(
        plain(word)
        for language, text in raw_texts()
        if language not in OTHERS
        for word in _WORD.findall(text)
        if language == "de" or word.islower()
    )
    found = {word for word, times in said.items() if times >= _TWICE}
    lists = [line for file in _OTHER for line in pool_lines(file)]
    lists += [line for language in (*SPOKEN, "en") for line in pool_lines(f"ordinary.{language}.txt")]
    lists += [
        line.partition(":")[2] for language in (*SPOKEN, "en", "vi") for line in pool_lines(f"words.{language}.txt")
    ]
    lists += [town for language in ("de", "it", "nl", "pl", "pt", "cs", "nordic") for town in towns(language)]
    return frozenset(found | {plain(word) for line in lists for word in re.findall(r"[^\W\d_]+", line)})


def nobody() -> list[str]:
    """Words of the names of places, and words of other scripts, in small letters, sorted."""
    found: set[str] = set()
    for language in (*SPOKEN, "en", "vi", *OTHERS, *_SCRIPTS):
        locale = Locale.parse(language)
        places = [name for code, name in locale.territories.items() if len(code) == _COUNTRY]
        places += [zone["city"] for zone in locale.time_zones.values() if "city" in zone]
        found.update(word.lower() for name in places for word in _PLACE.findall(name))
    for language in _SCRIPTS:
        said = Counter(word.lower() for line in catalog_lines(language) for word in set(_WORD.findall(line)))
        found.update(word for word, times in said.items() if times >= _OFTEN and not word.isascii())
    somebody = named() | {plain(part) for name in _faker_names(_LOCALES_OF_SCRIPTS) for part in _PLACE.findall(name)}
    return sorted(word for word in found if plain(word) not in somebody)


def main() -> None:
    """Writes the files."""
    parser = argparse.ArgumentParser(prog="python -m training.ordinary", description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER)
    folder = parser.parse_args().out
    for name, found in (("ordinary.txt", ordinary()), ("given.txt", given()), ("nobody.txt", nobody())):
        (folder / name).write_text("\n".join(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
