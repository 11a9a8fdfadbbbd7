"""Texts to measure with: ordinary business prose with private values in it.

Sentences are put together word by word, and names and numbers are made up, so that no text has the sentences or the
values of another: what a search keeps from the texts before, such as the states of an automaton, helps as little as it
does with the texts of real programs.
"""

import random

import orjson

_FIRST = """Anna Bruno Clara David Elena Felix Greta Hugo Ines Jonas Karin Luis Marta Nils Olga Pedro Astrid Bernard
Carla Dieter Edith Fabian Gloria Henrik Irene Jakob Klara Lorenz Miriam Norbert Paula Rafael Sabine Tobias Ulrike Victor
Wanda Yvonne Andre Beate Cedric Dora Emil Frieda Gustav Helena Ivan Judith""".split()
_LAST = "Alt Berg Brand Dorn Eich Fels Gern Hal Hirsch Klein Lind Moor Nord Oster Rein Roth Sand Stein Tal Wald".split()
_LAST_ENDS = "au bach baum berg brink burg dorf er feld hagen hauser hof holm mann meier ner rup sen strom vik".split()
NOUNS = """agreement archive assessment balance branch brochure budget building calendar campaign catalogue change
colleague committee component concept conference contract correction customer deadline decision delivery department
design discussion document draft estimate event exhibition factory figure forecast harbour idea inspection interview
invoice kitchen laboratory lecture library list machine manual market material meeting member method minute model
network notice offer office opinion option order outline packaging paper partner plan platform presentation price
problem procedure programme project proposal prototype question quotation receipt recommendation region regulation
repair report request result review room sample schedule season section sentence service shipment solution standard
storage strategy summary supplier survey system target team template timetable topic training trial update version
visit volume warehouse warranty workshop""".split()
_ADJECTIVES = """additional amended annual attached available brief careful central clear complete current detailed
different difficult early electric entire external final first formal full further general helpful important internal
joint large last later local long lower main minor missing monthly necessary new obvious old open ordinary original
other possible practical previous printed public quarterly recent regional regular second separate short similar simple
single small special technical temporary third unusual useful whole wide written""".split()
_DID = """accepted adjusted announced answered approved arranged ordered checked closed collected compared
completed confirmed considered corrected described discussed divided drawn examined explained extended filed finished
forwarded improved inspected kept measured mentioned moved noticed opened packed planned postponed prepared presented
printed promised published questioned received recorded reduced rejected repaired replaced requested returned reviewed
revised selected sent shortened signed sorted stored studied tested translated updated withdrawn""".split()
_WHEN = (
    "afterwards,already,at the end of the quarter,at once,before the holidays,by the end of the week,during the autumn,"
    "early next month,in the afternoon,in the meantime,in two weeks,last week,later this year,on the second day,"
    "once more,since then,soon,this morning,twice,until the summer,within ten days,without delay"
).split(",")
_FORMS = (
    "The {a} {n} was {d} {w}.",
    "Please let us know whether the {a} {n} covers the {n} that was {d}.",
    "We have {d} the {a} {n}, since the {n} is not {a}.",
    "As agreed, the {a} part of the {n} starts once the {n} has been {d} {w}.",
    "There is one {a} question about the {n}, which our {n} will answer {w}.",
    "Thank you for your {n} about the {a} {n} that was {d} {w}.",
    "Neither the {n} nor the {a} {n} could be {d} {w}, so the {n} stays as it is.",
    "Another {a} {n} of the {n} will be {d} {w}, together with the {n}.",
    "If the {n} is {d}, the {a} {n} and its {n} have to be {d} as well.",
    "Our {n} would like to see another {a} {n} before the {n} is {d}.",
)
_SLOTS = {"n": NOUNS, "a": _ADJECTIVES, "d": _DID, "w": _WHEN}


def _sentence(rng: random.Random) -> str:
    return "".join(
        rng.choice(_SLOTS[part[0]]) + part[2:] if number else part
        for number, part in enumerate(rng.choice(_FORMS).split("{"))
    )


def _person(rng: random.Random) -> str:
    first, last = rng.choice(_FIRST), rng.choice(_LAST) + rng.choice(_LAST_ENDS)
    mail = f"{first}.{last}{rng.randrange(10**6)}@mail{rng.randrange(1000)}.example.org".lower()
    phone = f"+49 30 {rng.randrange(10**6, 10**7)}"
    return f"Dear {first} {last}, we reach you at {mail} or {phone}."


def prose(size: int, rng: random.Random) -> str:
    """About `size` characters of business prose; every 2,500 begin with a person's name, address and phone number."""
    parts: list[str] = []
    length = people = 0
    while length < size:
        if length >= people * 2500:
            sentence = _person(rng)
            people += 1
        else:
            sentence = _sentence(rng)
        parts.append(sentence)
        length += len(sentence) + 1
    return " ".join(parts)[:size]


def chats(size: int, count: int, model: str, seed: int = 7) -> list[bytes]:
    """Chat requests of one user message."""
    rng = random.Random(seed)
    return [
        orjson.dumps({"model": model, "messages": [{"role": "user", "content": prose(size, rng)}]})
        for _ in range(count)
    ]


def conversation(turns: int, size: int, model: str, rng: random.Random) -> list[bytes]:
    """The requests of one conversation, turn by turn, each with everything said before."""
    messages = [{"role": "system", "content": prose(size, rng)}]
    requests = []
    for _ in range(turns):
        messages.append({"role": "user", "content": prose(size, rng)})
        requests.append(orjson.dumps({"model": model, "messages": messages}))
        messages.append({"role": "assistant", "content": prose(size, rng)})
    return requests
