"""How much harm a text could do if it leaked as it is: 0-100, with the reasons in words.

Four things are put together like independent chances of harm (1 - product of what is spared), so the score can
only rise with every further finding:

- what was found: each type's own harm, growing with its number towards 1.6 times that of one;
- how identifying it is together: bits that narrow down one person, times what the findings tell about them;
- how much there is;
- how dense it stands.

That harmless details identify together is the finding of L. Sweeney, "Simple Demographics Often Identify People
Uniquely" (Carnegie Mellon University, Data Privacy Working Paper 3, 2000): ZIP code, sex and date of birth were
unique for an estimated 87 % of the people in the United States.
"""

from collections.abc import Iterable, Sequence

from gateway.assessment.evidence import Evidence
from gateway.models import Risk, RiskLevel

_ENOUGH_BITS = 28.0
"""Singles out one in 270 million: a country. That is what a reader usually knows already."""
_MOST_BY_NUMBER = 0.6
_MOST_BY_LINK = 0.65
_MOST_BY_AMOUNT = 0.3
_MOST_BY_DENSITY = 0.15
_FEW = 4
"""So many findings are what any letter has; only what is beyond them counts as much."""

_LEVELS = ((75, RiskLevel.CRITICAL), (50, RiskLevel.HIGH), (25, RiskLevel.MEDIUM), (1, RiskLevel.LOW))

_PHRASES = {
    "secret": ("secret", "secrets", "whoever reads it can use it"),
    "government_id": ("government identifier", "government identifiers", "stands for one person for life"),
    "financial": ("financial identifier", "financial identifiers", "gives access to money"),
    "health": ("health identifier", "health identifiers", "leads to medical data"),
    "custom": ("finding of the policy's own", "findings of the policy's own", "named as private by the policy"),
    "account": ("account identifier", "account identifiers", "leads to a customer's record"),
}


def rate(evidence: Sequence[Evidence], tokens: int) -> Risk:
    """The risk of a text of about `tokens` tokens. Pure; never lower for more findings of the same text."""
    spared = 1.0
    total = bits = bonds = strongest = 0.0
    for one in evidence:
        weight = one.weight
        if weight.bits == 0 and weight.harm == 0:
            continue
        more = max(0.0, one.amount - 1.0)
        harm = weight.harm * (1 + _MOST_BY_NUMBER * _saturating(more, 2))
        spared *= 1 - min(0.97, harm) * one.surest
        bits += weight.bits * one.surest
        bond = weight.bond * one.surest
        bonds += bond
        strongest = max(strongest, bond)
        total += one.amount
    link = _MOST_BY_LINK * min(1.0, bits / _ENOUGH_BITS) * _saturating(bonds - strongest, 1)
    beyond = max(0.0, total - _FEW)
    amount = _MOST_BY_AMOUNT * _saturating(beyond, 16)
    per_hundred = 100 * total / max(1, tokens)
    density = _MOST_BY_DENSITY * _saturating(per_hundred, 12) * _saturating(beyond, 8)
    spared *= (1 - link) * (1 - amount) * (1 - density)
    score = round(100 * (1 - spared))
    if score == 0 and spared < 1:
        score = 1
    return Risk(_level(score), score, tuple(_reasons(evidence, link, amount, density)))


def _saturating(amount: float, half: float) -> float:
    """0 for nothing, a half for `half`, towards 1."""
    return float(1 - 2 ** (-amount / half))


def _level(score: int) -> RiskLevel:
    return next((level for least, level in _LEVELS if score >= least), RiskLevel.NONE)


def _reasons(evidence: Sequence[Evidence], link: float, amount: float, density: float) -> Iterable[str]:
    present = [one for one in evidence if one.present and one.weight.harm > 0]
    for group, (single, plural, why) in _PHRASES.items():
        own = [one for one in present if one.group == group]
        if own:
            number = sum(one.present for one in own)
            names = ", ".join(one.type for one in own)
            yield f"{number} {single if number == 1 else plural} ({names}): {why}."
    personal = [one for one in present if one.group not in _PHRASES]
    if personal:
        yield "Personal details: " + ", ".join(f"{one.type} ({one.present})" for one in personal) + "."
    if link >= 0.12:
        kinds = sorted((one for one in present if one.weight.bits), key=lambda one: -one.weight.bits)
        names = ", ".join(one.type for one in kinds[:5])
        yield f"Together they can single out one person: {names}."
    if amount >= 0.05:
        yield f"There is much of it: {sum(one.present for one in present)} findings."
    if density >= 0.05:
        yield "The findings stand densely."
    unsure = sum(one.unsure for one in evidence if one.weight.harm > 0)
    if unsure and not present:
        yield f"{unsure} possible {'finding' if unsure == 1 else 'findings'} of low confidence."
