"""Bank details identified by context: account numbers, branch codes, ABA routing numbers (with check digit), BICs (ISO
9362).
"""

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._pattern_table import pattern_table

US_BANK_NUMBER = EntityType("US_BANK_NUMBER", "financial", "The number of a bank account.")
ABA_ROUTING_NUMBER = EntityType("ABA_ROUTING_NUMBER", "financial", "The routing number of a United States bank.")
BANK_BRANCH_CODE = EntityType(
    "BANK_BRANCH_CODE", "financial", "The code of a bank's branch: sort code, Bankleitzahl, BSB, IFSC."
)
BIC_CODE = EntityType("BIC_CODE", "financial", "The business identifier code (SWIFT code) of a bank.")


def _no_dates(value: str) -> bool | None:
    return False if value[-8:-6] in {"19", "20"} else None


RECOGNIZERS = pattern_table(__file__, (US_BANK_NUMBER, BANK_BRANCH_CODE, BIC_CODE), {"no_dates": _no_dates})
