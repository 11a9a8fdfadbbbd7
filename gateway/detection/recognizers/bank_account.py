"""Bank details identified by context: account numbers, branch codes, ABA routing numbers (with check digit), BICs (ISO
9362).
"""

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer

US_BANK_NUMBER = EntityType("US_BANK_NUMBER", "financial", "The number of a bank account.")
ABA_ROUTING_NUMBER = EntityType("ABA_ROUTING_NUMBER", "financial", "The routing number of a United States bank.")
BANK_BRANCH_CODE = EntityType(
    "BANK_BRANCH_CODE", "financial", "The code of a bank's branch: sort code, Bankleitzahl, BSB, IFSC."
)
BIC_CODE = EntityType("BIC_CODE", "financial", "The business identifier code (SWIFT code) of a bank.")

_ACCOUNT = r"(?i)\b(?:accounts?|acct|a/c|konto|kontonummer|compte|cuenta|conto|conta|rekening)\b"
_BRANCH = r"(?i:\b(?:(?:bank )?sort[ _-]?code|blz|bankleitzahl|bsb|ifsc)(?:[ _-]?(?:code|number|no\b))?)"
_BIC = r"(?i:\b(?:bic|swift)\b)"


def _no_dates(value: str) -> bool | None:
    return False if value[-8:-6] in {"19", "20"} else None


RECOGNIZERS = (
    PatternRecognizer(
        "bank.account",
        US_BANK_NUMBER,
        (Pattern(_ACCOUNT + r"[^.\n\d]{0,30}?\b(\d{4}[\d\- ]{2,14}\d)\b", 0.7, group=1, prefilter=_ACCOUNT),),
        examples=(
            Example("Please credit account number 945456787654.", "945456787654"),
            Example("Kontonummer: 1234567890", "1234567890"),
        ),
        counter_examples=("The account was opened in 2019.", "945456787654"),
    ),
    PatternRecognizer(
        "bank.british",
        US_BANK_NUMBER,
        (Pattern(r"\b\d{2}-\d{2}-\d{2}[ ,/|]{1,3}\d{8}\b", 0.4, needs_context=True),),
        validator=_no_dates,
        context=("bank", "account", "acc", "acct", "sort code", "barclays", "lloyds", "hsbc", "natwest", "santander"),
        examples=(Example("Bank: Lloyds 30-94-12 66120938", "30-94-12 66120938"),),
        counter_examples=("on 30-09-12 66120938 rows", "30-94-12 6612093", "bank holiday 12-05-25 20250512"),
    ),
    PatternRecognizer(
        "bank.branch",
        BANK_BRANCH_CODE,
        (
            Pattern(
                _BRANCH + r"[\s\"'/:=#.|*]{1,5}(?i:(?:is|ist|lautet)[\s:]{1,3})?"
                r"(\d{3} ?\d{3} ?\d{2}|\d{2}[ \-]?\d{2}[ \-]?\d{2}|\d{3}[ \-]\d{3}|[A-Z]{4}0[A-Z0-9]{6})\b",
                0.7,
                group=1,
                prefilter=_BRANCH,
            ),
        ),
        examples=(
            Example("sort code 20-45-77, account 73849261", "20-45-77"),
            Example('{"sortCode": "204577"}', "204577"),
            Example("BLZ: 370 400 44", "370 400 44"),
            Example("BSB 066-123", "066-123"),
            Example("IFSC code HDFC0001234", "HDFC0001234"),
        ),
        counter_examples=("20-45-77", "a sort code of 6 digits", "the sort code runs in 204577123 steps"),
    ),
    PatternRecognizer(
        "bank.bic",
        BIC_CODE,
        (
            Pattern(
                _BIC + r"[\s/:=]{0,4}(?i:code|number|bic|swift)?[\s:=]{0,3}(?i:is )?"
                r"\b([A-Z]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?)\b",
                0.7,
                group=1,
                prefilter=_BIC,
            ),
        ),
        examples=(Example("BIC: COBADEFFXXX", "COBADEFFXXX"), Example("SWIFT code DEUTDEFF", "DEUTDEFF")),
        counter_examples=("a SWIFT reply", "BIC: unknown", "the Swift language"),
    ),
)
