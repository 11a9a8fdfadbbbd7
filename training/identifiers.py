"""Composes what stands beside names: dates, ages, handles, record numbers and the things that are not to be found."""

import random
import string
import unicodedata
from datetime import date, timedelta

from training.people import Person
from training.pools import table


def plain(text: str) -> str:
    """Small letters without marks or spaces, as in an address or a login."""
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return "".join(c for c in folded if c.isalnum())


class Identifiers:
    """Draws values that are not names."""

    def __init__(self, chance: random.Random, language: str) -> None:
        self.chance = chance
        self.language = language
        self.months = table("calendar.txt")[f"month.{language}"]
        self.nicks = table("calendar.txt")["handle"]

    def digits(self, count: int) -> str:
        return "".join(self.chance.choices(string.digits, k=count))

    def letters(self, count: int) -> str:
        return "".join(self.chance.choices(string.ascii_uppercase, k=count))

    def _written(self, day: date) -> str:
        chance = self.chance
        month = self.months[day.month - 1]
        d, m, y = day.day, day.month, day.year
        joint = {"es": " de ", "pt": " de "}.get(self.language, " ")
        dot = "." if self.language == "de" else ""
        forms = [
            f"{y}-{m:02d}-{d:02d}",
            f"{d:02d}/{m:02d}/{y}",
            f"{d:02d}.{m:02d}.{y}",
            f"{d}/{m}/{y}",
            f"{d}{dot}{joint}{month}{joint}{y}",
            f"{d:02d}-{m:02d}-{y}",
            f"{d}.{m}.{y}",
        ]
        if self.language == "en":
            forms += [
                f"{month} {d}, {y}",
                f"{month} {d}, {y}",
                f"{d} {month[:3]} {y}",
                f"{month[:3]} {d} {y}",
                f"{m:02d}/{d:02d}/{y}",
                f"{m}/{d}/{y % 100:02d}",
                f"{month} {d}th, {y}",
                f"{d}-{month[:3]}-{y}",
            ]
        return chance.choice(forms)

    def dob(self) -> str:
        return self._written(date(1930, 1, 1) + timedelta(days=self.chance.randint(0, 29000)))

    def date(self) -> str:
        chance = self.chance
        day = date(1990, 1, 1) + timedelta(days=chance.randint(0, 13500))
        month = self.months[day.month - 1]
        short = [
            f"{month} {day.year}",
            f"{day.year}",
            f"{day.day} {month}" if self.language != "en" else f"{month} {day.day}",
        ]
        return chance.choice([self._written(day), self._written(day), *short])

    def user(self, person: Person) -> str:
        chance = self.chance
        first, last = plain(person.first) or "user", plain(person.last) or "name"
        year = chance.choice([self.digits(2), str(chance.randint(1960, 2012)), self.digits(3), self.digits(4), ""])
        one, two = chance.choice(self.nicks), chance.choice(self.nicks)
        return chance.choice(
            [
                f"{first}.{last}",
                f"{first}{last}{year}",
                f"{first[0]}{last}",
                f"{first}_{last}",
                f"{first}{year}",
                f"{one}_{two}{year}",
                f"{one}{two}{self.digits(2)}",
                f"{first}-{last}",
                f"{last}{first[0]}",
                f"{first[:1]}{last[:7]}{self.digits(2)}",
                f"{one}{first}",
                f"{first}_{one}",
                f"x{one}{two}x",
                f"{one.title()}{two.title()}{year}",
                f"{first}{last[:1]}",
            ]
        )

    def handle(self, person: Person) -> str:
        return "@" + self.user(person).replace(".", "_").replace("-", "_")

    def hashtag(self, person: Person) -> str:
        """A person as a hashtag, alone or among what fans add."""
        chance = self.chance
        name = chance.choice([person.first + person.last] * 3 + [person.first, person.last])
        name = "".join(c for c in name if c.isalnum())
        lead = chance.choice(["Team", "RIP", "Vote", "HappyBirthday", "WeLove", "JusticeFor", "Free", "Go"])
        tail = chance.choice(["Fans", "Fan", "ForPresident", "Army", "Quotes", "Wedding", "1", "Probs", "NewVideo"])
        draw = chance.random()
        name = name if draw < 0.55 else lead + name if draw < 0.8 else name + tail
        return "#" + (name.lower() if chance.random() < 0.25 else name)

    def spam(self) -> str:
        """Letters without sense, as robots end their messages."""
        return "".join(self.chance.choices(string.ascii_letters, k=self.chance.randint(4, 7)))

    def email(self, person: Person) -> str:
        domain = self.chance.choice(table("calendar.txt")["mail"])
        return f"{self.user(person)}@{domain}"

    def mrn(self) -> str:
        chance = self.chance
        n = chance.choice([6, 7, 8, 9, 10])
        return chance.choice(
            [
                self.digits(n),
                self.digits(n),
                self.digits(n),
                f"{self.letters(2)}{self.digits(6)}",
                f"{self.digits(3)}-{self.digits(2)}-{self.digits(3)}",
                f"{self.digits(3)}-{self.digits(3)}-{self.digits(3)}",
                f"H{self.digits(7)}",
                f"P-{self.digits(6)}",
                f"MR{self.digits(6)}",
                f"{self.digits(2)}/{self.digits(5)}",
                f"PT-{self.digits(4)}-{self.digits(4)}",
            ]
        )

    def id(self) -> str:
        chance = self.chance
        return chance.choice(
            [
                f"{self.letters(2)}{self.digits(6)}",
                f"{self.letters(1)}{self.digits(7)}",
                self.digits(8),
                self.digits(9),
                self.digits(10),
                self.digits(6),
                f"{self.letters(3)}-{self.digits(5)}",
                f"{self.digits(4)}-{self.digits(4)}",
                f"{self.letters(2)}-{self.digits(4)}-{self.digits(3)}",
                f"E{self.digits(5)}",
                f"{self.digits(2)}.{self.digits(3)}.{self.digits(3)}",
                f"{self.digits(8)}{self.letters(1)}",
                f"C{self.digits(2)}{self.letters(2)}{self.digits(4)}",
                f"{self.digits(3)} {self.digits(3)} {self.digits(3)}",
            ]
        )

    def ticket(self) -> str:
        """A number of a thing, not of a person."""
        chance = self.chance
        return chance.choice(
            [
                f"{self.letters(3)}-{self.digits(4)}",
                f"#{self.digits(4)}",
                f"#{self.digits(5)}",
                f"{self.letters(4)}-{self.digits(3)}",
                f"INC{self.digits(7)}",
                f"v{self.digits(1)}.{self.digits(1)}.{self.digits(1)}",
                self.digits(4),
                f"{self.digits(1)}.{self.digits(2)}",
            ]
        )

    def phone(self) -> str:
        chance = self.chance
        return chance.choice(
            [
                f"+{chance.randint(1, 99)} {self.digits(3)} {self.digits(3)} {self.digits(4)}",
                f"({self.digits(3)}) {self.digits(3)}-{self.digits(4)}",
                f"{self.digits(3)}-{self.digits(3)}-{self.digits(4)}",
                f"0{self.digits(3)} {self.digits(6)}",
                f"+{chance.randint(30, 60)}{self.digits(10)}",
                f"0{self.digits(1)} {self.digits(2)} {self.digits(2)} {self.digits(2)} {self.digits(2)}",
            ]
        )

    def money(self) -> str:
        chance = self.chance
        amount = chance.choice(
            [
                f"{chance.randint(1, 999)}",
                f"{chance.randint(1, 99)},{self.digits(3)}",
                f"{chance.randint(1, 999)}.{self.digits(2)}",
                f"{chance.randint(1, 9)}.{self.digits(3)},{self.digits(2)}",
            ]
        )
        return chance.choice(
            [
                f"${amount}",
                f"€{amount}",
                f"{amount} €",
                f"£{amount}",
                f"{amount} EUR",
                f"{amount} USD",
                f"{amount} euros",
            ]
        )

    def number(self) -> str:
        return self.chance.choice([str(self.chance.randint(2, 60)), str(self.chance.randint(2, 2000))])

    def age(self) -> str:
        return str(self.chance.randint(1, 99))

    def card(self) -> str:
        return " ".join(self.digits(4) for _ in range(4)) if self.chance.random() < 0.6 else self.digits(16)

    def iban(self) -> str:
        code = self.chance.choice("DE GB FR ES IT NL PL PT BE".split()) + self.digits(2)
        return code + self.digits(self.chance.choice([12, 16, 18]))

    def ssn(self) -> str:
        return f"{self.digits(3)}-{self.digits(2)}-{self.digits(4)}"

    def ip(self) -> str:
        return ".".join(str(self.chance.randint(0, 255)) for _ in range(4))

    def time(self) -> str:
        hour, minute = self.chance.randint(0, 23), self.chance.choice([0, 15, 30, 45, self.chance.randint(0, 59)])
        return self.chance.choice(
            [
                f"{hour}:{minute:02d}",
                f"{hour:02d}:{minute:02d}",
                f"{hour % 12 + 1} pm",
                f"{hour % 12 + 1}:{minute:02d} am",
                f"{hour}h{minute:02d}",
            ]
        )

    def hash(self) -> str:
        return "".join(self.chance.choices("0123456789abcdef", k=self.chance.choice([7, 8, 12, 32, 40])))

    def url(self) -> str:
        chance = self.chance
        host = chance.choice(
            "www.example.com docs.example.org shop.example.net t.co bit.ly api.example.io blog.example.de".split()
        )
        return (
            chance.choice(["https://", "http://", ""])
            + host
            + chance.choice(["", "/a/" + self.hash()[:7], "/index.html", "/v1/users/" + self.digits(3), "/docs/guide"])
        )
