"""Long documents made from templates, with their findings and their sentences known."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gateway.models import Action, Entity
from gateway.text.fields import Span

_FIRST = (
    "Maria",
    "Jonas",
    "Aylin",
    "Pierre",
    "Chiara",
    "Sofia",
    "Henrik",
    "Tomás",
    "Ingrid",
    "Luca",
    "Fatima",
    "Owen",
    "Noor",
    "Pavel",
)
_LAST = (
    "Keller",
    "Brandt",
    "Yildiz",
    "Moreau",
    "Ricci",
    "Almeida",
    "Larsen",
    "Vidal",
    "Novak",
    "Bakker",
    "Haddad",
    "Price",
    "Weiss",
    "Kos",
)
_TOWNS = ("Bonn", "Lyon", "Utrecht", "Porto", "Turin", "Graz", "Ghent", "Malmö", "Leeds", "Sevilla")
_FILLER = (
    "The matter was discussed at some length and nobody raised an objection.",
    "A second look at the files gave no new insight.",
    "We ask for patience while the remaining points are settled.",
    "This paragraph only repeats what was said on the phone.",
    "All further steps depend on the answer of the other side.",
)


@dataclass
class Document:
    """`sentences` are stretches of `text` that must never be divided; `whole` are tables and code."""

    name: str
    text: str = ""
    spans: list[Span] = field(default_factory=list)
    kept: list[Entity] = field(default_factory=list)
    sentences: list[tuple[int, int]] = field(default_factory=list)
    whole: list[tuple[int, int]] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    bound: int = 400

    def plain(self, text: str) -> None:
        self.text += text

    def say(self, template: str, *, after: str = " ", **values: tuple[str, str]) -> None:
        """A sentence; `{name}` in it is a (type, value) that is hidden, or kept if the type is LOCATION."""
        start = len(self.text)
        while template:
            before, _, rest = template.partition("{")
            self.text += before
            if rest:
                name, _, template = rest.partition("}")
                kind, value = values[name]
                end = len(self.text) + len(value)
                if kind == "LOCATION":
                    self.kept.append(Entity(kind, len(self.text), end, 0.85, "test"))
                else:
                    self.spans.append(Span(len(self.text), end, kind, Action.PLACEHOLDER, 0.9, "test"))
                self.text += value
            else:
                template = ""
        self.sentences.append((start, len(self.text)))
        self.text += after

    def block(self, text: str) -> None:
        self.whole.append((len(self.text), len(self.text) + len(text)))
        self.text += text + "\n\n"

    def heading(self, text: str) -> None:
        self.headings.append(text)
        self.text += text + "\n\n"

    def in_lines_of(self, newline: str) -> "Document":
        """The same with other line ends."""

        def moved(at: int) -> int:
            return at + self.text.count("\n", 0, at) * (len(newline) - 1)

        return Document(
            self.name + "-crlf",
            self.text.replace("\n", newline),
            [Span(moved(s.start), moved(s.end), s.type, s.action, s.score, s.recognizer) for s in self.spans],
            [Entity(k.type, moved(k.start), moved(k.end), k.score, k.recognizer) for k in self.kept],
            [(moved(start), moved(end)) for start, end in self.sentences],
            [(moved(start), moved(end)) for start, end in self.whole],
            self.headings,
            self.bound,
        )


class _People:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def name(self) -> tuple[str, str]:
        return "PERSON", f"{self.random.choice(_FIRST)} {self.random.choice(_LAST)}"

    def born(self) -> tuple[str, str]:
        return (
            "DATE_OF_BIRTH",
            f"{self.random.randint(1, 28)}.{self.random.randint(1, 12)}.{self.random.randint(1940, 2004)}",
        )

    def mail(self) -> tuple[str, str]:
        return "EMAIL_ADDRESS", f"{self.random.choice(_LAST).lower()}{self.random.randint(1, 99)}@mail.example"

    def phone(self) -> tuple[str, str]:
        return "PHONE_NUMBER", f"+49 228 {self.random.randint(100000, 999999)}"

    def account(self) -> tuple[str, str]:
        return "IBAN_CODE", f"DE{self.random.randint(10, 99)} 3704 0044 0532 {self.random.randint(1000, 9999)} 00"

    def town(self) -> tuple[str, str]:
        return "LOCATION", self.random.choice(_TOWNS)


def _filler(document: Document, people: _People, count: int) -> None:
    for _ in range(count):
        document.say(people.random.choice(_FILLER))


def letter(seed: int) -> Document:
    people, document = _People(seed), Document("letter")
    name = people.name()
    document.say("Dear Dr. {name},", after="\n\n", name=name)
    for _ in range(3 + seed % 4):
        document.say("My client {name} wrote to you on 3. Mai about the claim.", name=name)
        document.say("The date of birth is {born}, as stated before.", born=people.born())
        _filler(document, people, 2)
        document.say("Please pay approx. 3.50 euros to {account} by the end of the month!", account=people.account())
        document.say(
            "You reach us at {mail} or, if it is urgent, at {phone}.", mail=people.mail(), phone=people.phone()
        )
        document.say("The office is in {town}.", after="\n\n", town=people.town())
    document.plain("Yours sincerely\n")
    return document


def contract(seed: int) -> Document:
    people, document = _People(seed), Document("contract")
    document.heading("# Service agreement")
    for number, title in enumerate(("Parties", "Payment", "Notices", "Term"), 1):
        document.heading(f"## {number}. {title}")
        for _ in range(2):
            document.say("This agreement binds {name}, of {town}.", name=people.name(), town=people.town())
            _filler(document, people, 2 + seed % 3)
            document.say("Invoices are paid to {account}.", account=people.account())
            document.say("Notices go to {mail}.", after="\n\n", mail=people.mail())
    return document


def clinical(seed: int) -> Document:
    people, document = _People(seed), Document("clinical")
    document.heading("HISTORY OF PRESENT ILLNESS")
    document.say("Patient: {name}", after="\n", name=people.name())
    document.say("Date of birth: {born}", after="\n", born=people.born())
    document.say("Phone: {phone}", after="\n\n", phone=people.phone())
    for _ in range(2 + seed % 3):
        document.say("Pt. reports pain since Jan. 2 and takes 2.5 mg daily.")
        _filler(document, people, 3)
        document.say("{name} lives in {town} with a sister.", after="\n\n", name=people.name(), town=people.town())
    document.block("| Test | Value |\n|---|---|\n| Hb | 13.1 |\n| CRP | 4 |")
    document.heading("PLAN AND FOLLOW UP")
    _filler(document, people, 5)
    return document


def ticket(seed: int) -> Document:
    people, document = _People(seed), Document("ticket")
    document.say("Our customer {name} cannot log in.", name=people.name())
    document.say("The account is registered to {mail}.", after="\n\n", mail=people.mail())
    document.block("```python\nclient.login(user)\n\nraise ValueError('A. B. No.')\n```")
    for number in range(1, 5 + seed % 4):
        document.say(
            f"{number}. Call {{phone}} and ask for {{name}}.", after="\n", phone=people.phone(), name=people.name()
        )
        document.say("- Write down what was said.", after="\n")
    document.plain("\n")
    document.block("name\tqueue\tdays\na\tbilling\t3\nb\taccess\t12")
    _filler(document, people, 4)
    return document


def chinese(seed: int) -> Document:
    people, document = _People(seed), Document("cjk")
    for number in range(4 + seed % 4):
        document.say(
            "我叫{name}，住在城里。", after="", name=("PERSON", people.random.choice(("王伟", "李娜", "张敏", "刘洋")))
        )
        document.say("我的电话是{phone}。", after="", phone=people.phone())
        document.say(
            "「はい。そうです。」と{name}は言った。",
            after="",
            name=("PERSON", people.random.choice(("田中", "鈴木", "高橋"))),
        )
        document.say("请汇款到{account}！", after="\n" if number % 2 else "", account=people.account())
    return document


def one_long_sentence(seed: int) -> Document:
    people, document = _People(seed), Document("long-sentence")
    clause = " and then it went on for a while, which nobody minded, since the day was long"
    document.say("It began with {name}" + clause * (12 + seed % 5) + ".", name=people.name())
    document.say("The number is {phone}.", phone=people.phone())
    document.say("The rest is told in {town}.", town=people.town())
    document.bound = 500
    return document


def without_punctuation(seed: int) -> Document:
    people, document = _People(seed), Document("no-punctuation")
    for _ in range(6 + seed % 5):
        document.say(
            "met {name} in {town} and talked about the new plans for the coming year at length",
            after="\n\n",
            name=people.name(),
            town=people.town(),
        )
        document.say(
            "phone is {phone} and mail is {mail} as far as anyone can tell from the list",
            after="\n\n",
            phone=people.phone(),
            mail=people.mail(),
        )
    return document


def form(seed: int) -> Document:
    people, document = _People(seed), Document("form")
    document.plain("\n\n   \t ")
    for number in range(5 + seed % 3):
        document.say(
            f"2024-03-{number + 10} 10:15 {{name}} called from {{phone}}",
            after="\n",
            name=people.name(),
            phone=people.phone(),
        )
        document.say("Name: {name}", after="\n", name=people.name())
        document.say("Born: {born}", after="\n", born=people.born())
        document.say("Account: {account}", after="\n", account=people.account())
    document.plain(" \n\n\u3000\n")
    return document


def minutes(seed: int) -> Document:
    people, document = _People(seed), Document("minutes")
    for number in range(40 + 10 * (seed % 4)):
        document.say("{name} said that item " + str(number) + " is done.", name=people.name())
        if number % 3 == 0:
            document.say(
                "{name} was born on {born}; see {mail}.", name=people.name(), born=people.born(), mail=people.mail()
            )
        _filler(document, people, 1)
        if number % 4 == 3:
            document.plain("\n\n")
    document.bound = 1200
    return document


_MAKERS: tuple[Callable[[int], Document], ...] = (
    letter,
    contract,
    clinical,
    ticket,
    chinese,
    one_long_sentence,
    without_punctuation,
    form,
    minutes,
)


def documents() -> Iterator[Document]:
    """Fifty of them, every fifth with Windows line ends."""
    for seed in range(50):
        document = _MAKERS[seed % len(_MAKERS)](seed)
        document.name = f"{seed:02}-{document.name}"
        yield document.in_lines_of("\r\n") if seed % 5 == 4 else document
