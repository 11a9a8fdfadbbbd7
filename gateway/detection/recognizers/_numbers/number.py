"""Defines a row of the tables: one number with its forms, validator and context words."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import product

from gateway.detection.recognizer import EntityType

Check = Callable[[str], bool]

_MIN_DIGITS = 3
"""Minimum digits in forms that allow a letter or digit in the same place, so that they exclude words."""


@dataclass(frozen=True, slots=True)
class NumberCategory:
    """What similar numbers of many countries share: the policy group and the words that announce any of them."""

    group: str
    words: str


PERSON = NumberCategory(
    "government_id",
    """
    national id, national identification, national identity, identity number, identification number, identity card,
    identity document, id card, id number, id no, personal number, personal id, personal identification, citizen id,
    citizen number, citizen card, personalausweis, ausweisnummer, personennummer, carte d'identité, numéro national,
    documento de identidad, número de identidad, cédula, carné de identidad, carta d'identità, documento d'identità,
    bilhete de identidade, documento de identificação, identiteitskaart, persoonsnummer, identiteitsnummer
    """,
)
TAX = NumberCategory(
    "government_id",
    """
    tax id, tax no, tax number, tax code, tax reference, tax identification, tax identifier, tax file, taxpayer, TIN,
    fiscal number, fiscal code, fiscal id, steuernummer, steuer-id, steuer-nr, numéro fiscal, identifiant fiscal,
    número fiscal, identificación tributaria, identificación fiscal, codice fiscale, contribuinte, belastingnummer,
    fiscaal nummer
    """,
)
SOCIAL = NumberCategory(
    "government_id",
    """
    social security, social insurance, ssn, insurance number, sozialversicherung, sozialversicherungsnummer,
    sécurité sociale, numéro de sécu, seguridad social, previdenza sociale, segurança social, sociale zekerheid
    """,
)
HEALTH = NumberCategory(
    "health",
    """
    health number, health card, health insurance, health id, insurance number, insurance card, patient id,
    patient number, medical card, krankenversicherung, krankenkasse, versichertennummer, carte vitale,
    tarjeta sanitaria, tessera sanitaria, cartão de saúde, zorgverzekering
    """,
)
PROFESSION = NumberCategory(
    "health", "provider number, provider id, prescriber, practitioner, physician number, doctor number"
)
COMPANY = NumberCategory(
    "organization",
    """
    company number, company registration, company id, business number, business id, business registration,
    registration number, organisation number, organization number, handelsregister, registre du commerce,
    registro mercantil, registro imprese, kamer van koophandel
    """,
)
VAT = NumberCategory(
    "government_id",
    """
    vat, vat id, vat number, vat reg, ust-id, ust-idnr, ustid, umsatzsteuer, mehrwertsteuer, mwst, n° tva,
    numéro de tva, partita iva, p.iva, btw-nummer, btw nr, momsnummer, moms nr
    """,
)
PASSPORT = NumberCategory(
    "government_id",
    """
    passport, travel document, reisepass, passnummer, pass-nr, passeport, pasaporte, passaporto, passaporte, paspoort,
    pasaport, paszport, pašalas, cestovní pas, útlevél, pașaport, паспорт, διαβατήριο, 护照, 護照,
    パスポート, 旅券, 여권, جواز
    """,
)
LICENCE = NumberCategory(
    "government_id",
    """
    driver license, drivers license, driver's license, driver's licence, driver licence, driving license,
    driving licence, licence number, license number, führerschein, fahrerlaubnis, permis de conduire,
    permiso de conducir, carnet de conducir, licencia de conducir, patente di guida, patente n, carta de condução,
    carteira de motorista, habilitação, rijbewijs, körkort, kørekort, førerkort, ajokortti, prawo jazdy,
    řidičský průkaz, vezetői engedély, permis auto, sürücü belgesi, ehliyet, водительское удостоверение,
    驾驶证, 駕照, 運転免許, 운전면허
    """,
)
PHONE = NumberCategory(
    "contact", "phone, mobile, cell, cellphone, telephone, telefon, tel, call, sms, whatsapp, contact number"
)
BANK = NumberCategory(
    "financial", "bank account, account number, bank details, bankverbindung, compte bancaire, cuenta bancaria"
)
VEHICLE = NumberCategory(
    "device",
    """
    license plate, licence plate, number plate, plate number, plates, registration plate, vehicle registration,
    car registration, kennzeichen, nummernschild, plaque d'immatriculation, immatriculation, matrícula, targa, kenteken,
    vehicle, car, truck, motorcycle, fahrzeug, voiture, coche, veicolo
    """,
)


@dataclass(frozen=True, slots=True)
class Number:
    """One number.

    `forms`: comma-separated. `#` is a digit, `@` a letter, `*` either. `~` is nothing, or one of space, hyphen and full
    stop, the same throughout. Any other character is literal; letters match in any case.
    `check`: a module of python-stdnum ("nl.bsn"), or a function of the value in capitals without spaces, hyphens and
    full stops. None if there is nothing to check.
    `score`: the score without context. `grouped`: the same for a value with separators. Below 0.5, the default policy
    ignores a number without context words.
    `signed`: passes the value to the check with its separators, because they have a meaning.
    `words`: comma-separated context words. Words in capitals match only in capitals.
    `example`: a value that is not in use, or one published by the authority.
    """

    category: NumberCategory
    name: str
    description: str
    forms: str
    check: str | Check | None
    score: float
    words: str
    example: str
    grouped: float = 0.0
    signed: bool = False

    @property
    def type(self) -> EntityType:
        return EntityType(self.name, self.category.group, self.description)

    def is_valid(self) -> Check | None:
        """The validator as a function."""
        if not isinstance(self.check, str):
            return self.check
        return _without_errors(import_module(f"stdnum.{self.check}").is_valid)

    def shapes(self) -> Iterator[tuple[str, tuple[tuple[int, str], ...], float]]:
        """Yields every form as (shape, literals, score).

        A shape has `9` for a digit and `A` for a letter. Literals are the letters and digits that the form requires,
        with their positions.
        """
        for form in (part.strip() for part in self.forms.split(",")):
            for sign in ("", " ", "-", ".") if "~" in form else ("",):
                one = form.replace("~", sign)
                literals = tuple((at, char.upper()) for at, char in enumerate(one) if char.isalnum())
                divided = any(char not in "#@*" and not char.isalnum() for char in one)
                score = max(self.score, self.grouped) if divided else self.score
                for signs in product(*(_shapes(char) for char in one)):
                    shape = "".join(signs)
                    if shape.count("9") >= _MIN_DIGITS:
                        yield shape, literals, score


def _without_errors(is_valid: Check) -> Check:
    """Wraps a validator so that errors mean False: some modules look up parts of a number that may be missing."""

    def check(value: str) -> bool:
        try:
            return is_valid(value)
        except (LookupError, ValueError):
            return False

    return check


def _shapes(char: str) -> str:
    if char == "*":
        return "9A"
    if char == "#" or char.isdigit():
        return "9"
    return "A" if char == "@" or char.isalpha() else char


def phrases_of(text: str) -> tuple[str, ...]:
    """Returns the comma-separated phrases of a text, none if it is empty."""
    return tuple(phrase for part in text.split(",") if (phrase := " ".join(part.split())))
