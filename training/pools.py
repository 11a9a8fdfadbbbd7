"""Names and places to fill templates with: Faker's lists and our own, by culture; a tenth is kept for measuring."""

import hashlib
import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LISTS = Path(__file__).parent / "lists"

# culture -> locales of Faker, and how often the culture is drawn in text that is bound to no language
CULTURES: dict[str, tuple[tuple[str, ...], float]] = {
    "english": (("en_US", "en_GB", "en", "en_NZ", "en_IE"), 9),
    "irish": (("ga_IE", "en_IE"), 0.7),
    "german": (("de_DE", "de_AT", "de_CH", "de_LU"), 3),
    "french": (("fr_FR", "fr_BE", "fr_CH", "fr_CA", "fr_DZ"), 3),
    "spanish": (("es_ES", "es_MX", "es_CL", "es_CO", "es_AR"), 4),
    "italian": (("it_IT",), 3),
    "portuguese": (("pt_PT", "pt_BR"), 3),
    "iberian": ((), 1),
    "dutch": (("nl_NL", "nl_BE"), 3),
    "nordic": (("sv_SE", "da_DK", "no_NO", "fi_FI", "is_IS"), 2),
    "polish": ((), 2.5),
    "turkish": (("tr_TR", "az_AZ"), 2.5),
    "vietnamese": ((), 2.5),
    "chinese": ((), 3),
    "cantonese": ((), 0.7),
    "korean": ((), 1),
    "japanese": ((), 1),
    "indian": (("en_IN",), 3),
    "pakistani": (("en_PK",), 0.8),
    "arabic": ((), 3),
    "african": (("en_KE", "en_NG", "tw_GH", "yo_NG", "zu_ZA", "ig_NG", "ha_NG", "sw"), 1),
    "nigerian": ((), 0.8),
    "slavic": (("cs_CZ", "sk_SK", "hr_HR", "sl_SI", "hu_HU", "ro_RO", "lv_LV", "lt_LT", "et_EE"), 2),
    "indonesian": (("id_ID", "en_TH", "uz_UZ"), 1),
    "cyrillic": (("ru_RU", "uk_UA", "bg_BG"), 0.5),
    "greek": (("el_GR",), 0.2),
}
LANGUAGE_CULTURES = {
    "en": ("english", "irish", "english"),
    "es": ("spanish", "iberian"),
    "de": ("german", "german", "turkish"),
    "fr": ("french", "french", "arabic"),
    "it": ("italian",),
    "pt": ("portuguese", "iberian"),
    "nl": ("dutch", "dutch", "turkish"),
    "pl": ("polish",),
    "tr": ("turkish",),
    "vi": ("vietnamese",),
}


@dataclass(frozen=True, slots=True)
class Pool:
    """Given and family names of a culture."""

    given: tuple[str, ...]
    family: tuple[str, ...]


def kept_back(name: str) -> bool:
    """True for the tenth of all names that only measuring uses."""
    return hashlib.sha256(f"name:{name}".encode()).digest()[0] % 10 == 0


def _provider(kind: str, locale: str) -> type:
    provider: type = importlib.import_module(f"faker.providers.{kind}.{locale}").Provider
    return provider


def _lists(kind: str, locale: str, attributes: Iterable[str]) -> list[str]:
    found: list[str] = []
    provider = _provider(kind, locale)
    for attribute in attributes:
        values = provider.__dict__.get(attribute)
        if values is not None and not isinstance(values, property):
            found.extend(v for v in values if isinstance(v, str))
    return found


def lines(name: str) -> list[str]:
    """The lines of a list file that are no comments."""
    text = (LISTS / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@cache
def table(name: str) -> dict[str, tuple[str, ...]]:
    """A list file of ``key: a|b|c`` lines; an underscore stands for a space."""
    pairs = (line.partition(":") for line in lines(name))
    return {key.strip(): tuple(v.strip().replace("_", " ") for v in values.split("|")) for key, _, values in pairs}


def words(name: str) -> tuple[str, ...]:
    """White-space separated entries; an underscore stands for a space."""
    return tuple(word.replace("_", " ") for line in lines(name) for word in line.split())


def _clean(names: Iterable[str]) -> tuple[str, ...]:
    kept = (n.strip() for n in names)
    return tuple(sorted({n for n in kept if len(n) > 1 and n[:1].isupper() and len(n) < 24}))


@cache
def people() -> dict[str, Pool]:
    """All names by culture, kept-back ones included."""
    given: dict[str, list[str]] = {}
    family: dict[str, list[str]] = {}
    for culture, (locales, _) in CULTURES.items():
        given[culture], family[culture] = [], []
        for locale in locales:
            given[culture] += _lists("person", locale, ("first_names", "first_names_male", "first_names_female"))
            family[culture] += _lists("person", locale, ("last_names", "last_names_male", "last_names_female"))
    for line in lines("people.txt"):
        key, first, last = (part.strip() for part in line.split("|"))
        culture = key.removesuffix("-syllables")
        if key != culture:
            parts = first.split()
            first = " ".join(
                [*(p.title() for p in parts), *(a.title() + b for a in parts for b in parts[::3] if a != b)]
            )
        given[culture] += first.split()
        family[culture] += [name.title() if name.islower() else name for name in last.split()]
    return {c: Pool(_clean(given[c]), _clean(family[c])) for c in CULTURES}


@cache
def side(fresh: bool) -> dict[str, Pool]:
    """Names by culture: the kept-back tenth (``fresh``) or the rest."""
    split: dict[str, Pool] = {}
    for culture, pool in people().items():
        given = tuple(n for n in pool.given if kept_back(n) == fresh)
        family = tuple(n for n in pool.family if kept_back(n) == fresh)
        split[culture] = Pool(given or pool.given, family or pool.family)
    return split


@cache
def towns(language: str) -> tuple[str, ...]:
    """Town names of a language, or well-known ones of the world for ``en``."""
    sources = {
        "de": (("de_DE", "de_AT", "de_CH"), ("cities",)),
        "it": (("it_IT",), ("cities",)),
        "nl": (("nl_NL", "nl_BE"), ("cities",)),
        "pl": (("pl_PL",), ("cities",)),
        "pt": (("pt_PT",), ("cities",)),
        "cs": (("cs_CZ", "sk_SK", "hr_HR", "sl_SI", "ro_RO"), ("cities",)),
        "nordic": (("sv_SE", "da_DK", "fi_FI"), ("cities",)),
        "in": (("en_IN", "id_ID", "fr_DZ", "en_BD"), ("cities",)),
    }
    if language not in sources:
        return words("cities.txt")
    locales, attributes = sources[language]
    found = [name for locale in locales for name in _lists("address", locale, attributes)]
    return _clean(found)


@cache
def streets(language: str) -> tuple[str, ...]:
    """Names of real streets where Faker has them."""
    sources = {
        "pl": (("pl_PL",), ("streets",)),
        "nordic": (("da_DK",), ("street_names",)),
        "cs": (("cs_CZ", "sk_SK", "hr_HR", "sl_SI"), ("streets",)),
        "vi": (("vi_VN",), ("streets",)),
        "id": (("id_ID",), ("streets",)),
    }
    locales, attributes = sources[language]
    return tuple(sorted({n for locale in locales for n in _lists("address", locale, attributes)}))


@cache
def suffixes(locale: str) -> tuple[str, ...]:
    """Faker's street suffixes of a locale."""
    return tuple(dict.fromkeys(_lists("address", locale, ("street_suffixes",))))
