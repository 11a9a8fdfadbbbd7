"""Reports that settlement by x402, the payment-required protocol, is disabled, and what is missing to release it."""

from typing import Any

_MISSING_EVIDENCE = (
    ("no_payment_verification", "The gateway has no code that verifies or settles payments."),
    ("no_facilitator_agreement", "No facilitator has been chosen, configured or tested."),
    ("no_pricing", "There is no price list, and no meter has been approved for charging."),
    ("no_refund_procedure", "The handling of paid requests that fail has not been decided."),
    ("no_security_review", "No external review of payment handling has been done."),
    ("no_legal_review", "Obligations under payment, tax and sanctions law have not been reviewed."),
    ("no_live_test", "No end-to-end payment has been made on a test network or a live one."),
)


def settlement_state() -> dict[str, Any]:
    """Returns the body of `GET /v1/payments/x402`. Settlement is not implemented, so nothing can enable it."""
    evidence = [{"code": code, "description": description} for code, description in _MISSING_EVIDENCE]
    return {"enabled": False, "status": "disabled", "protocol": "x402", "missing_evidence": evidence}
