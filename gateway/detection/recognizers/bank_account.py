"""Bank details identified by context: account numbers, branch codes, ABA routing numbers (with check digit), BICs (ISO
9362).
"""

from gateway.detection.recognizer import EntityType
from gateway.detection.recognizers._pattern_table import pattern_table

US_BANK_NUMBER = EntityType("US_BANK_NUMBER", "financial", "The number of a bank account.")
BANK_ACCOUNT = EntityType("BANK_ACCOUNT", "financial", "The number of a British, Polish or Czech bank account.")
ABA_ROUTING_NUMBER = EntityType("ABA_ROUTING_NUMBER", "financial", "The routing number of a United States bank.")
BANK_BRANCH_CODE = EntityType(
    "BANK_BRANCH_CODE", "financial", "The code of a bank's branch: sort code, Bankleitzahl, BSB, IFSC."
)
BIC_CODE = EntityType("BIC_CODE", "financial", "The business identifier code (SWIFT code) of a bank.")


def _no_dates(value: str) -> bool | None:
    """Returns False for two dates: a sort code and an account number may begin with 20, too."""
    return False if value[-8:-6] in {"19", "20"} and "00" < min(value[:2], value[3:5]) < "13" else None


def _polish(value: str) -> bool:
    """Validates the check digits of ISO 13616, in which the country counts as 2521."""
    digits = value.replace(" ", "")
    return int(f"{digits[2:]}2521{digits[:2]}") % 97 == 1


RECOGNIZERS = pattern_table(
    __file__, (US_BANK_NUMBER, BANK_ACCOUNT, BANK_BRANCH_CODE, BIC_CODE), {"no_dates": _no_dates, "polish": _polish}
)
