"""Rates the harm that a text could do if it leaked unprotected: 0-100, with reasons.

Four risks are combined like independent probabilities (1 - product of their complements), so every further finding can
only raise the score:

- the findings: the harm of each type, which grows with their number towards 1.6 times that of one;
- their linkage: the bits that narrow down one person, times what the findings reveal about that person;
- their amount;
- their density.

That harmless details identify a person together was shown by L. Sweeney, "Simple Demographics Often Identify People
Uniquely" (Carnegie Mellon University, Data Privacy Working Paper 3, 2000): ZIP code, sex and date of birth were
unique for an estimated 87 % of the people in the United States.
"""

from collections.abc import Iterable, Sequence

from gateway.assessment.evidence import Evidence
from gateway.models import Risk, RiskLevel

_ENOUGH_BITS = 28.0
"""Singles out one person in 270 million, a country, which a reader usually knows."""
_MOST_BY_NUMBER = 0.6
_MOST_BY_LINK = 0.65
_MOST_BY_AMOUNT = 0.3
_MOST_BY_DENSITY = 0.15
_FEW = 4
"""The number of findings in any letter. Amount and density count only further ones."""

_LEVELS = ((75, RiskLevel.CRITICAL), (50, RiskLevel.HIGH), (25, RiskLevel.MEDIUM), (1, RiskLevel.LOW))

_PHRASES = {
    "secret": ("secret", "secrets", "anyone who reads it can use it"),
    "government_id": ("government identifier", "government identifiers", "identifies one person for life"),
    "financial": ("financial identifier", "financial identifiers", "gives access to money"),
    "health": ("health identifier", "health identifiers", "leads to medical data"),
    "custom": ("finding of the policy's own", "findings of the policy's own", "named as private by the policy"),
    "account": ("account identifier", "account identifiers", "leads to a customer's record"),
}


def rate(evidence: Sequence[Evidence], tokens: int) -> Risk:
    """Rates a text of about `tokens` tokens. Further findings in the same text never lower the score."""
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
    """Grows from 0 towards 1, and is 0.5 at `half`."""
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
        yield "The findings are close together."
    unsure = sum(one.unsure for one in evidence if one.weight.harm > 0)
    if unsure and not present:
        yield f"{unsure} possible {'finding' if unsure == 1 else 'findings'} of low confidence."
