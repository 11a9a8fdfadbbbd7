"""Bank details that only their context gives away: account numbers, ABA routing numbers (with check digit),
BICs (ISO 9362).
"""

from gateway.detection.recognizer import EntityType, Example, Pattern, PatternRecognizer

US_BANK_NUMBER = EntityType("US_BANK_NUMBER", "financial", "The number of a bank account.")
ABA_ROUTING_NUMBER = EntityType("ABA_ROUTING_NUMBER", "financial", "The routing number of a United States bank.")
BIC_CODE = EntityType("BIC_CODE", "financial", "The business identifier code (SWIFT code) of a bank.")

_ACCOUNT = r"(?i)\b(?:accounts?|acct|a/c|konto|kontonummer|compte|cuenta|conto|conta|rekening)\b"
_BIC = r"(?i:\b(?:bic|swift)\b)"


RECOGNIZERS = (
    PatternRecognizer(
        "bank.account",
        US_BANK_NUMBER,
        (Pattern(_ACCOUNT + r"[^.\n\d]{0,30}?\b(\d{4}[\d\- ]{2,14}\d)\b", 0.7, group=1, gate=_ACCOUNT),),
        examples=(
            Example("Please credit account number 945456787654.", "945456787654"),
            Example("Kontonummer: 1234567890", "1234567890"),
        ),
        counter_examples=("The account was opened in 2019.", "945456787654"),
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
                gate=_BIC,
            ),
        ),
        examples=(Example("BIC: COBADEFFXXX", "COBADEFFXXX"), Example("SWIFT code DEUTDEFF", "DEUTDEFF")),
        counter_examples=("a SWIFT reply", "BIC: unknown", "the Swift language"),
    ),
)
