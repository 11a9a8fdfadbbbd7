"""Names in the layouts of lists, tables, records and talks, beside words of the same language that are not names.

A sentence tells a name from a word; here only the word itself and its place do.
"""

import random

from training.corpora import Document
from training.fill import Filler
from training.interfaces import HERE, lines
from training.noise import join

# Headings of a column with whole names, first names and last names.
HEADINGS = {
    "en": ("Name|Full name|Customer|Patient|Contact|Student", "First name|Given name|first_name", "Surname|last_name"),
    "de": ("Name|Kunde|Patient|Mitarbeiter|Ansprechpartner|Schüler", "Vorname|vorname", "Nachname|Familienname"),
    "fr": ("Nom|Client|Patient|Salarié|Contact|Élève", "Prénom|prenom", "Nom|Nom de famille|nom"),
    "es": ("Nombre|Cliente|Paciente|Empleado|Contacto|Alumno", "Nombre|nombre", "Apellidos|Apellido|apellidos"),
    "it": ("Nominativo|Cliente|Paziente|Dipendente|Referente|Alunno", "Nome|nome", "Cognome|cognome"),
    "pt": ("Nome|Cliente|Doente|Paciente|Funcionário|Aluno", "Nome|nome", "Apelido|Sobrenome|sobrenome"),
    "nl": ("Naam|Klant|Patiënt|Medewerker|Contactpersoon|Leerling", "Voornaam|voornaam", "Achternaam|achternaam"),
    "pl": ("Imię i nazwisko|Klient|Pacjent|Pracownik|Uczeń", "Imię|imie", "Nazwisko|nazwisko"),
    "tr": ("Ad Soyad|Müşteri|Hasta|Çalışan|Öğrenci", "Ad|Adı|ad", "Soyad|Soyadı|soyad"),
    "vi": ("Họ và tên|Khách hàng|Bệnh nhân|Nhân viên|Học sinh", "Tên|ten", "Họ|ho"),
}
_PARTS = ("person", "first", "last")


class Layouts:
    """Draws layouts of one document; its persons are the filler's."""

    def __init__(self, chance: random.Random, language: str, filler: Filler) -> None:
        self._chance = chance
        self._language = language
        self._filler = filler

    def draw(self) -> Document:
        """One of them."""
        kinds = (self._table, self._table, self._record, self._roster, self._bullets, self._talk, self._asides)
        return self._chance.choice(kinds)()

    def _words(self, longest: int = 28) -> Document:
        source = lines(self._language)
        short = (self._chance.choice(source) for _ in range(60))
        text = next((line for line in short if len(line) <= longest and HERE not in line), "7")
        return Document(text.rstrip(".:!?"), ())

    def _name(self, part: str | None = None) -> Document:
        part = part or self._chance.choice(("person", "person", "first", "last", "short"))
        return self._filler.fill(f"{{{part}}}")

    def _cell(self, kind: str) -> Document:
        if kind in _PARTS:
            return self._name(kind)
        return self._words() if kind == "words" else self._filler.fill(f"{{{kind}}}")

    def _kinds(self) -> list[str]:
        names = self._chance.choice((["person"], ["person"], ["first", "last"], ["last", "first"], ["first"], ["last"]))
        rest = self._chance.choices(
            ("words", "words", "words", "number", "date", "email"), k=self._chance.randint(1, 3)
        )
        kinds = [*names, *rest]
        if self._chance.random() < 0.4:
            kinds = [rest[0], *names, *rest[1:]]
        return kinds

    def _heading(self, kind: str) -> Document:
        if kind not in _PARTS:
            return self._words(16)
        return Document(self._chance.choice(HEADINGS[self._language][_PARTS.index(kind)].split("|")), ())

    def _table(self) -> Document:
        kinds, glue = self._kinds(), self._chance.choice([",", ";", "\t", " | ", " | ", ", ", "  "])
        rows = [join([self._cell(kind) for kind in kinds], glue) for _ in range(self._chance.randint(2, 6))]
        head = [join([self._heading(kind) for kind in kinds], glue)] if self._chance.random() < 0.7 else []
        return join([*head, *rows], "\n")

    def _record(self) -> Document:
        """JSON, YAML or a form."""
        kinds = self._kinds()
        mark, colon, glue, before, after = self._chance.choice(
            [
                ('"', ": ", ", ", "{", "}"),
                ('"', ":", ",", "{", "}"),
                ("", ": ", "\n", "", ""),
                ("", " = ", "\n", "", ""),
            ]
        )
        pairs = [
            join(
                [Document(mark + self._heading(kind).text + mark + colon + mark, ()), self._cell(kind), _plain(mark)],
                "",
            )
            for kind in kinds
        ]
        return join([_plain(before), join(pairs, glue), _plain(after)], "")

    def _roster(self) -> Document:
        part = self._chance.choice(("person", "first", "last"))
        glue = self._chance.choice([", ", ", ", " / ", " + ", " & ", "; "])
        shifts = []
        for _ in range(self._chance.randint(1, 4)):
            names = join([self._name(part) for _ in range(self._chance.randint(1, 4))], glue)
            shifts.append(join([self._words(), names], self._chance.choice([": ", ": ", " - ", "\t"])))
        return join(shifts, "\n")

    def _bullets(self) -> Document:
        sign = self._chance.choice(["- ", "* ", "• ", "", "[ ] ", "1. "])
        glue = self._chance.choice([": ", " - ", " – ", " (", ", ", " -> "])
        items = []
        for _ in range(self._chance.randint(3, 8)):
            parts = [self._words()]
            if self._chance.random() < 0.5:
                parts.insert(self._chance.randint(0, 1), self._name())
            elif self._chance.random() < 0.15:
                parts = [self._name()]
            items.append(
                join([_plain(sign), join(parts, glue), _plain(")" if len(parts) > 1 and "(" in glue else "")], "")
            )
        return join(items, "\n")

    def _talk(self) -> Document:
        """Who says what, some of it to somebody by name."""
        cast = [self._name(self._chance.choice(("first", "first", "person", "last"))) for _ in range(2)]
        said = []
        for turn in range(self._chance.randint(2, 5)):
            words = self._words(160)
            if self._chance.random() < 0.3:
                words = self._addressed(words, cast[1 - turn % 2])
            said.append(join([cast[turn % 2], words], ": "))
        return join(said, "\n")

    def _asides(self) -> Document:
        """Sentences, some of them with a name at either end."""
        parts = [
            self._addressed(self._words(160), self._name()) if self._chance.random() < 0.5 else self._words(160)
            for _ in range(self._chance.randint(1, 4))
        ]
        return join(parts, self._chance.choice([". ", "\n", ".\n"]))

    def _addressed(self, words: Document, name: Document) -> Document:
        first = Document(words.text[:1].lower() + words.text[1:], ())
        glue = self._chance.choice([", ", ", ", " - ", " (", ": "])
        if glue == " (":
            return join([join([words, name], glue), _plain(")")], "")
        return join([name, first], glue) if self._chance.random() < 0.5 else join([words, name], glue)


def _plain(text: str) -> Document:
    return Document(text, ())
